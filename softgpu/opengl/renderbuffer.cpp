// Renderbuffers, whose pixels the host can't get at: they go through a texture, by copies that leave them as they are.
#include "softgpu/opengl/image.hpp"
#include "softgpu/opengl/saved_state.hpp"

namespace softgpu::opengl {
namespace {

// A texture like the renderbuffer.
class StagingTexture {
 public:
  StagingTexture(const CurrentContext& gl, const ImageDescription& like)
      : gl_(gl), saved_(gl, GL_TEXTURE_2D), description_(like) {
    description_.target = GL_TEXTURE_2D;
    const PlainPixels plain(gl, Direction::to_gl);
    const ImageFormat& format = *like.format;
    gl_->GenTextures(1, &name_);
    gl_->BindTexture(GL_TEXTURE_2D, name_);
    gl_->TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);  // else it counts as unfinished
    gl_->TexImage2D(GL_TEXTURE_2D, 0, static_cast<GLint>(format.internal_format), static_cast<GLsizei>(like.width),
                    static_cast<GLsizei>(like.height), 0, format.transfer_format, format.transfer_type, nullptr);
    gl_.check("making a texture to copy through");
  }
  ~StagingTexture() { gl_->DeleteTextures(1, &name_); }
  StagingTexture(const StagingTexture&) = delete;
  StagingTexture& operator=(const StagingTexture&) = delete;

  GLuint name() const { return name_; }
  const ImageDescription& description() const { return description_; }

 private:
  const CurrentContext& gl_;
  SavedTexture saved_;
  ImageDescription description_;
  GLuint name_ = 0;
};

struct Place {
  GLuint name;
  GLenum target;
};

void copy_pixels(const CurrentContext& gl, Place from, Place to, const ImageDescription& description) {
  gl->CopyImageSubData(from.name, from.target, 0, 0, 0, 0, to.name, to.target, 0, 0, 0, 0,
                       static_cast<GLsizei>(description.width), static_cast<GLsizei>(description.height), 1);
  gl.check("copying a renderbuffer");
}

}  // namespace

ImageDescription describe_renderbuffer(const CurrentContext& gl, GLuint renderbuffer) {
  demand(gl->IsRenderbuffer(renderbuffer) == GL_TRUE, Problem::no_object,
         "there is no such renderbuffer in the current OpenGL context");
  demand(!gl.is_es() && gl->GetTexImage != nullptr && gl->CopyImageSubData != nullptr, Problem::unsupported,
         "softgpu has renderbuffers of OpenGL 4.3 or newer, which can copy them");
  const SavedRenderbuffer saved(gl);
  gl->BindRenderbuffer(GL_RENDERBUFFER, renderbuffer);
  const auto parameter = [&](GLenum name) {
    GLint value = 0;
    gl->GetRenderbufferParameteriv(GL_RENDERBUFFER, name, &value);
    return static_cast<unsigned>(value);
  };
  const ImageDescription description{.target = GL_RENDERBUFFER,
                                     .format = find_image_format(parameter(GL_RENDERBUFFER_INTERNAL_FORMAT)),
                                     .width = parameter(GL_RENDERBUFFER_WIDTH),
                                     .height = parameter(GL_RENDERBUFFER_HEIGHT),
                                     .levels = 1};
  const bool is_multisampled = parameter(GL_RENDERBUFFER_SAMPLES) != 0;
  gl.check("asking for the properties of a renderbuffer");
  demand(description.width != 0 && description.height != 0, Problem::unfit,
         "the renderbuffer has no memory: call glRenderbufferStorage first");
  demand(!is_multisampled, Problem::unfit, "CUDA does not take multisampled renderbuffers");
  demand(description.format != nullptr, Problem::unfit,
         "CUDA does not take renderbuffers of this format: 1, 2 or 4 channels of 8, 16 or 32 bits, no depth, no sRGB");
  return description;
}

void read_renderbuffer(const CurrentContext& gl, GLuint renderbuffer, const ImageDescription& description,
                       std::byte* pixels) {
  const StagingTexture staging(gl, description);
  copy_pixels(gl, {renderbuffer, GL_RENDERBUFFER}, {staging.name(), GL_TEXTURE_2D}, description);
  read_image(gl, staging.name(), staging.description(), 0, pixels);
}

void write_renderbuffer(const CurrentContext& gl, GLuint renderbuffer, const ImageDescription& description,
                        const std::byte* pixels) {
  const StagingTexture staging(gl, description);
  write_image(gl, staging.name(), staging.description(), 0, pixels);
  copy_pixels(gl, {staging.name(), GL_TEXTURE_2D}, {renderbuffer, GL_RENDERBUFFER}, description);
}

}  // namespace softgpu::opengl
