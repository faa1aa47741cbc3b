// OpenGL's own headers: types, constants, and the prototypes that function pointers get their types from. Nothing is
// linked with OpenGL.
#pragma once

#define GL_GLEXT_PROTOTYPES
#include <GL/gl.h>
#include <GL/glext.h>
