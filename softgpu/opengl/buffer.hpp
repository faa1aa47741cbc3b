// Buffer objects of OpenGL: how large one is, and what is in it.
#pragma once

#include <cstddef>
#include <span>

#include "softgpu/opengl/context.hpp"

namespace softgpu::opengl {

// Throws Problem::no_object, Problem::mapped, or Problem::unfit for one without memory.
std::size_t size_of_buffer(const CurrentContext& gl, GLuint buffer);

// After, and before, all other work with the buffer that the context is given.
void read_buffer(const CurrentContext& gl, GLuint buffer, std::span<std::byte> target);
void write_buffer(const CurrentContext& gl, GLuint buffer, std::span<const std::byte> source);

}  // namespace softgpu::opengl
