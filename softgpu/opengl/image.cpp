#include "softgpu/opengl/image.hpp"

#include <algorithm>
#include <string>

#include "softgpu/opengl/saved_state.hpp"

namespace softgpu::opengl {
namespace {

constexpr unsigned kFaces = 6;

bool is_texture_target(GLenum target) {
  return target == GL_TEXTURE_2D || target == GL_TEXTURE_RECTANGLE || target == GL_TEXTURE_CUBE_MAP ||
         target == GL_TEXTURE_3D || target == GL_TEXTURE_2D_ARRAY;
}

bool has_slices(GLenum target) { return target == GL_TEXTURE_3D || target == GL_TEXTURE_2D_ARRAY; }

// The faces of a cube are images of their own.
GLenum first_image(GLenum target) {
  return target == GL_TEXTURE_CUBE_MAP ? static_cast<GLenum>(GL_TEXTURE_CUBE_MAP_POSITIVE_X) : target;
}
unsigned count_images(GLenum target) { return target == GL_TEXTURE_CUBE_MAP ? kFaces : 1; }

class BoundTexture {
 public:
  // Throws Problem::unfit when the texture is of another target.
  BoundTexture(const CurrentContext& gl, GLuint texture, GLenum target) : gl_(gl), target_(target), saved_(gl, target) {
    gl_->BindTexture(target, texture);
    if (gl_.has_failed())
      throw Error(Problem::unfit, "the texture was made for another target than " + std::to_string(target));
  }

  unsigned parameter(unsigned level, GLenum name, unsigned image = 0) const {
    GLint value = 0;
    gl_->GetTexLevelParameteriv(first_image(target_) + image, static_cast<GLint>(level), name, &value);
    return static_cast<unsigned>(value);
  }

 private:
  const CurrentContext& gl_;
  GLenum target_;
  SavedTexture saved_;
};

unsigned halved(unsigned extent, unsigned level) { return std::max(extent >> level, 1u); }

// An unsized format of more bits would have pixels that are more than what is moved.
bool has_eight_bits(const BoundTexture& texture) {
  for (const GLenum size :
       {GL_TEXTURE_RED_SIZE, GL_TEXTURE_ALPHA_SIZE, GL_TEXTURE_LUMINANCE_SIZE, GL_TEXTURE_INTENSITY_SIZE})
    if (texture.parameter(0, size) > 8) return false;
  return true;
}

bool is_unsized(const ImageFormat& format) {
  return format.internal_format == format.transfer_format || format.internal_format == GL_LUMINANCE ||
         format.internal_format == GL_INTENSITY;
}

const ImageFormat& format_of(const CurrentContext& gl, const BoundTexture& texture) {
  const unsigned internal_format = texture.parameter(0, GL_TEXTURE_INTERNAL_FORMAT);
  const ImageFormat* format = find_image_format(internal_format);
  if (format == nullptr)
    throw Error(Problem::unfit, "CUDA does not take images of OpenGL's format " + std::to_string(internal_format) +
                                    ": 1, 2 or 4 channels of 8, 16 or 32 bits, not compressed, no depth, no sRGB");
  demand(!is_unsized(*format) || has_eight_bits(texture), Problem::unfit,
         "the image has a format without a size, of more than 8 bits: name one with a size, such as GL_RGBA16");
  gl.forget_errors();  // of sizes that this version of OpenGL does not know
  return *format;
}

unsigned depth_of_level(const ImageDescription& first, unsigned level) {
  return first.target == GL_TEXTURE_3D ? halved(first.depth, level) : first.depth;
}

// Whether all of a level is there, as large as it must be: OpenGL lets each level and each face have a size of its own.
// What is not there has no width.
bool has_level(const BoundTexture& texture, const ImageDescription& first, unsigned level) {
  for (unsigned image = 0; image < count_images(first.target); ++image) {
    const auto is = [&](GLenum name, unsigned value) { return texture.parameter(level, name, image) == value; };
    if (!is(GL_TEXTURE_WIDTH, halved(first.width, level)) || !is(GL_TEXTURE_HEIGHT, halved(first.height, level)) ||
        !is(GL_TEXTURE_INTERNAL_FORMAT, first.format->internal_format))
      return false;
    if (has_slices(first.target) && !is(GL_TEXTURE_DEPTH, depth_of_level(first, level))) return false;
  }
  return true;
}

// Down from the first, as long as there is one of half the size. GL_TEXTURE_MAX_LEVEL, which is of how OpenGL samples
// the texture, does not count.
unsigned count_levels(const BoundTexture& texture, const ImageDescription& first) {
  if (first.target == GL_TEXTURE_RECTANGLE) return 1;
  const bool volume = first.target == GL_TEXTURE_3D;
  const unsigned largest = std::max({first.width, first.height, volume ? first.depth : 0u});
  unsigned level = 1;
  while (largest >> level != 0 && has_level(texture, first, level)) ++level;
  return level;
}

void require_desktop(const CurrentContext& gl) {
  demand(!gl.is_es() && gl->GetTexImage != nullptr && gl->GetTexLevelParameteriv != nullptr, Problem::unsupported,
         "softgpu has images of OpenGL, not of OpenGL ES, which can't be read as they are: share a buffer instead");
}

}  // namespace

ImageDescription describe_image(const CurrentContext& gl, GLuint image, GLenum target) {
  if (target == GL_RENDERBUFFER) return describe_renderbuffer(gl, image);
  if (!is_texture_target(target))
    throw Error(Problem::unfit, "the target " + std::to_string(target) +
                                    " is none of GL_TEXTURE_2D, GL_TEXTURE_RECTANGLE, GL_TEXTURE_CUBE_MAP, "
                                    "GL_TEXTURE_3D, GL_TEXTURE_2D_ARRAY and GL_RENDERBUFFER");
  require_desktop(gl);
  demand(gl->IsTexture(image) == GL_TRUE, Problem::no_object, "there is no such texture in the current OpenGL context");
  const BoundTexture texture(gl, image, target);
  ImageDescription description{.target = target,
                               .width = texture.parameter(0, GL_TEXTURE_WIDTH),
                               .height = texture.parameter(0, GL_TEXTURE_HEIGHT)};
  demand(description.width != 0 && description.height != 0, Problem::unfit,
         "the texture has no memory: call glTexImage or glTexStorage first");
  demand(texture.parameter(0, GL_TEXTURE_BORDER) == 0, Problem::unfit, "CUDA does not take textures with borders");
  gl.forget_errors();  // there are versions without borders
  description.format = &format_of(gl, texture);
  if (has_slices(target)) description.depth = texture.parameter(0, GL_TEXTURE_DEPTH);
  if (target == GL_TEXTURE_CUBE_MAP) description.depth = kFaces;
  demand(has_level(texture, description, 0), Problem::unfit,
         "the faces of the cube map have different sizes or formats, or some have no memory");
  description.levels = count_levels(texture, description);
  gl.check("asking for the properties of a texture");
  return description;
}

bool still_has(const CurrentContext& gl, GLuint image, const ImageDescription& description) {
  ImageDescription now = describe_image(gl, image, description.target);
  now.levels = std::min(now.levels, description.levels);
  return now == description;
}

void read_image(const CurrentContext& gl, GLuint image, const ImageDescription& description, unsigned level,
                std::byte* pixels) {
  if (description.target == GL_RENDERBUFFER) return read_renderbuffer(gl, image, description, pixels);
  const BoundTexture texture(gl, image, description.target);
  const PlainPixels plain(gl, Direction::from_gl);
  const ImageFormat& format = *description.format;
  const std::size_t bytes =
      std::size_t{halved(description.width, level)} * halved(description.height, level) * format.bytes();
  for (unsigned i = 0; i < count_images(description.target); ++i)
    gl->GetTexImage(first_image(description.target) + i, static_cast<GLint>(level), format.transfer_format,
                    format.transfer_type, pixels + i * bytes);
  gl.check("reading a texture");
}

void write_image(const CurrentContext& gl, GLuint image, const ImageDescription& description, unsigned level,
                 const std::byte* pixels) {
  if (description.target == GL_RENDERBUFFER) return write_renderbuffer(gl, image, description, pixels);
  const BoundTexture texture(gl, image, description.target);
  const PlainPixels plain(gl, Direction::to_gl);
  const ImageFormat& format = *description.format;
  const auto at = static_cast<GLint>(level);
  const auto width = static_cast<GLsizei>(halved(description.width, level)),
             height = static_cast<GLsizei>(halved(description.height, level));
  if (has_slices(description.target)) {
    const auto depth = static_cast<GLsizei>(depth_of_level(description, level));
    gl->TexSubImage3D(description.target, at, 0, 0, 0, width, height, depth, format.transfer_format,
                      format.transfer_type, pixels);
  } else {
    const std::size_t bytes = std::size_t(width) * std::size_t(height) * format.bytes();
    for (unsigned i = 0; i < count_images(description.target); ++i)
      gl->TexSubImage2D(first_image(description.target) + i, at, 0, 0, width, height, format.transfer_format,
                        format.transfer_type, pixels + i * bytes);
  }
  gl.check("writing a texture");
}

}  // namespace softgpu::opengl
