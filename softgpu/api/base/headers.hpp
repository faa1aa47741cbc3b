// <cuda.h> as its implementer sees it. With __CUDA_API_VERSION_INTERNAL (which the build defines for this folder) every
// function is declared under the name that the library exports, and no macro renames one form to another.
#pragma once

#include <cuda.h>
#include <cudaProfiler.h>
#include <cudaProfilerTypedefs.h>
#include <cudaTypedefs.h>
