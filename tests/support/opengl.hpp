// An OpenGL context without a window, for tests: by EGL, which is opened at run time, so that tests can be skipped
// where there is none.
#pragma once

#ifndef GL_GLEXT_PROTOTYPES
  #define GL_GLEXT_PROTOTYPES
#endif
#ifndef EGL_NO_X11
  #define EGL_NO_X11
#endif
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <GL/glext.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace support {

enum class Profile { core, compatibility, es };

class OpenGL {
 public:
  // A context that becomes current in the calling thread. On NVIDIA's driver one on the GPU that is device 0 of CUDA;
  // else Mesa's, which draws with the CPU. Null, with a reason in `why`, where there is none.
  static std::unique_ptr<OpenGL> make(bool on_nvidia, Profile profile, std::string& why);
  ~OpenGL();
  OpenGL(const OpenGL&) = delete;
  OpenGL& operator=(const OpenGL&) = delete;

  void make_current() const;
  void leave() const;  // none is current then
  // Another context, which shares the objects of this one; current in the thread that calls make_current().
  std::unique_ptr<OpenGL> sharing() const;

  // SUPPORT_GL(opengl, glGenBuffers)(1, &name) calls it by its type.
  void* function(const char* name) const;

 private:
  OpenGL() = default;
  bool create(Profile profile, EGLContext share);

  void* library_ = nullptr;
  EGLDisplay display_ = EGL_NO_DISPLAY;
  EGLContext context_ = EGL_NO_CONTEXT;
  Profile profile_ = Profile::core;
};

#define SUPPORT_GL(opengl, name) (reinterpret_cast<decltype(&::name)>((opengl).function(#name)))

}  // namespace support
