// Textures and renderbuffers of OpenGL: what one is like, and what is in it.
#pragma once

#include <cstddef>

#include "softgpu/opengl/context.hpp"
#include "softgpu/opengl/image_format.hpp"

namespace softgpu::opengl {

struct ImageDescription {
  GLenum target = 0;
  const ImageFormat* format = nullptr;
  unsigned width = 0, height = 0;
  unsigned depth = 0;  // slices, layers or faces; 0: none
  unsigned levels = 0;

  bool operator==(const ImageDescription&) const = default;
};

// Throws Problem::no_object, or Problem::unfit where the object's target is another one or CUDA does not take such.
ImageDescription describe_image(const CurrentContext& gl, GLuint image, GLenum target);

// Whether the image is as it was described; levels may have come to it. Throws as describe_image() does.
bool still_has(const CurrentContext& gl, GLuint image, const ImageDescription& description);

// A level, rows without gaps, slices, layers or faces one after the other; after, and before, all other work with the
// image that the context is given.
void read_image(const CurrentContext& gl, GLuint image, const ImageDescription& description, unsigned level,
                std::byte* pixels);
void write_image(const CurrentContext& gl, GLuint image, const ImageDescription& description, unsigned level,
                 const std::byte* pixels);

// For renderbuffers, which describe_image() and the others call.
ImageDescription describe_renderbuffer(const CurrentContext& gl, GLuint renderbuffer);
void read_renderbuffer(const CurrentContext& gl, GLuint renderbuffer, const ImageDescription& description,
                       std::byte* pixels);
void write_renderbuffer(const CurrentContext& gl, GLuint renderbuffer, const ImageDescription& description,
                        const std::byte* pixels);

}  // namespace softgpu::opengl
