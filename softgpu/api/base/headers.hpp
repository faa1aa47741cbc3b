// <cuda.h> as its implementer sees it. With __CUDA_API_VERSION_INTERNAL (which the build defines for this folder) every
// function is declared under the name that the library exports, and no macro renames one form to another.
#pragma once

// OpenGL's and EGL's own headers give the next ones their types; nothing of X11 is needed.
#ifndef EGL_NO_X11
  #define EGL_NO_X11
#endif
#include <cuda.h>
#include <cudaEGL.h>
#include <cudaEGLTypedefs.h>
#include <cudaGL.h>
#include <cudaGLTypedefs.h>
#include <cudaProfiler.h>
#include <cudaProfilerTypedefs.h>
#include <cudaTypedefs.h>

// What is defined here as cuX gets a name of its own, so that generated code can stand between it and the program. Not
// where the names that programs see are meant (SOFTGPU_EXPORTED_NAMES).
#ifndef SOFTGPU_EXPORTED_NAMES
  #include "softgpu/api/base/implementations.inc"
#endif
