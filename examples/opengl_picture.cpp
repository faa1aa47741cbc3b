// A kernel paints a picture, and OpenGL draws it: CUDA and OpenGL share the memory that the picture is in.
//
// OpenGL makes a texture. CUDA maps it, a kernel writes each pixel through a surface, and unmapping hands it back to
// OpenGL, which draws it with a frame around it. There is no window: what was drawn is read back, and written to the
// file that the command line names, as a PNG.
#define EGL_NO_X11
#define GL_GLEXT_PROTOTYPES
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <GL/glext.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cuprum/cuprum.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "check.hpp"
#include "png.hpp"

using namespace cuprum;

constexpr int size = 160;

// Mandelbrot's set in fixed-point numbers, so that every device paints the same pixels.
constexpr const char* source = R"(
extern "C" __global__ void paint(cudaSurfaceObject_t pixels, int size) {
  int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y;
  if (x >= size || y >= size) return;
  const long long one = 1 << 20;
  long long cr = one * 5 * x / (2 * size) - one * 7 / 4, ci = one * 5 * y / (2 * size) - one * 5 / 4, r = 0, i = 0;
  int steps = 0;
  while (steps < 64 && r * r + i * i < 4 * one * one) {
    long long next = (r * r - i * i) / one + cr;
    i = 2 * r * i / one + ci;
    r = next;
    ++steps;
  }
  uchar4 inside = make_uchar4(12, 12, 28, 255);
  uchar4 outside = make_uchar4(min(255, 6 * steps), min(255, steps * steps / 3), min(255, 70 + 9 * steps), 255);
  surf2Dwrite(steps == 64 ? inside : outside, pixels, x * 4, y);
}
)";

constexpr const char* vertices = R"(#version 330 core
void main() { gl_Position = vec4(gl_VertexID % 2 * 4 - 1, gl_VertexID / 2 * 4 - 1, 0, 1); })";
constexpr const char* fragments = R"(#version 330 core
uniform sampler2D picture;
out vec4 color;
void main() {
  ivec2 at = ivec2(gl_FragCoord.xy), size = textureSize(picture, 0);
  bool is_frame = any(lessThan(at, ivec2(4))) || any(greaterThanEqual(at, size - 4));
  color = is_frame ? vec4(0.2, 0.2, 0.2, 1) : texelFetch(picture, at, 0);
})";

/// An OpenGL context without a window, current on this thread.
class DrawingContext {
 public:
  DrawingContext() {
    const auto get_display =
        reinterpret_cast<PFNEGLGETPLATFORMDISPLAYEXTPROC>(eglGetProcAddress("eglGetPlatformDisplayEXT"));
    if (get_display) display_ = get_display(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr);
    if (!eglInitialize(display_, nullptr, nullptr) || !eglBindAPI(EGL_OPENGL_API))
      throw std::runtime_error("EGL has no OpenGL without a display");
    const EGLint attributes[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 3, EGL_NONE};
    context_ = eglCreateContext(display_, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, attributes);
    if (!eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, context_))
      throw std::runtime_error("EGL makes no OpenGL 3.3 context");
  }
  ~DrawingContext() {
    eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    eglDestroyContext(display_, context_);
  }
  DrawingContext(const DrawingContext&) = delete;
  DrawingContext& operator=(const DrawingContext&) = delete;

 private:
  EGLDisplay display_ = EGL_NO_DISPLAY;
  EGLContext context_ = EGL_NO_CONTEXT;
};

GLuint make_program() {
  const GLuint program = glCreateProgram();
  for (const auto& [kind, text] : {std::pair(GL_VERTEX_SHADER, vertices), std::pair(GL_FRAGMENT_SHADER, fragments)}) {
    const GLuint shader = glCreateShader(static_cast<GLenum>(kind));
    glShaderSource(shader, 1, &text, nullptr);
    glCompileShader(shader);
    glAttachShader(program, shader);
  }
  glLinkProgram(program);
  return program;
}

GLuint make_texture() {
  GLuint texture = 0;
  glGenTextures(1, &texture);
  glBindTexture(GL_TEXTURE_2D, texture);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, size, size, 0, GL_RGBA, GL_UNSIGNED_BYTE, nullptr);
  return texture;
}

/// Draws the texture into another one, and reads that.
Pixels draw(GLuint picture) {
  GLuint framebuffer = 0, shape = 0;
  const GLuint canvas = make_texture();
  glGenFramebuffers(1, &framebuffer);
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
  glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, canvas, 0);
  glViewport(0, 0, size, size);
  glGenVertexArrays(1, &shape);
  glBindVertexArray(shape);
  glUseProgram(make_program());
  glBindTexture(GL_TEXTURE_2D, picture);
  glDrawArrays(GL_TRIANGLES, 0, 3);
  Pixels pixels(size * size);
  glReadPixels(0, 0, size, size, GL_RGBA, GL_UNSIGNED_BYTE, pixels.data());
  return pixels;
}

int main(int argc, char** argv) {
  return run([&] {
    const DrawingContext context;
    const GLuint picture = make_texture();

    Device device;
    device.set_current();
    Stream stream = device.create_stream();
    Kernel paint = Program(source).compile(Target::cubin).get_kernel("paint");

    GraphicsResource shared = GraphicsResource::from_gl_image(picture, GL_TEXTURE_2D, {.surface_load_store = true});
    texture::OpaqueArray array = shared.map_image(stream).opaque_array();
    check(shared.is_mapped() && array.size_bytes() == size * size * 4, "the texture of OpenGL is CUDA's now");
    texture::SurfaceObject pixels = device.create_surface_object(texture::ResourceDescriptor::from_opaque_array(array));
    launch(stream, {.grid = {size / 16, size / 16}, .block = {16, 16}}, paint, pixels, size);
    shared.unmap();
    check(!shared.is_mapped(), "and OpenGL's again");

    const Pixels drawn = draw(picture);
    const auto at = [&](int x, int y) { return drawn[static_cast<std::size_t>(y * size + x)]; };
    check(at(0, 0) == Pixel{51, 51, 51, 255}, "OpenGL drew the frame");
    check(at(size / 2, size / 2) == Pixel{12, 12, 28, 255}, "and inside of it what the kernel painted");
    check(glGetError() == GL_NO_ERROR, "OpenGL reports no error");
    if (argc > 1) write_png(argv[1], drawn, size, size);
  });
}
