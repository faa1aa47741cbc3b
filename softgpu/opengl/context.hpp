// The OpenGL context that is current in the calling thread, whoever made it: EGL or GLX.
#pragma once

#include "softgpu/opengl/error.hpp"
#include "softgpu/opengl/headers.hpp"

namespace softgpu::opengl {

// Found at run time, in the libraries that the program has loaded. What is optional may be null.
struct Functions {
#define SOFTGPU_GL(name) decltype(&::gl##name) name = nullptr;
#include "softgpu/opengl/functions.def"
};

// For the duration of a call: only this thread may use it, and only while the context is current.
class CurrentContext {
 public:
  // Throws Problem::no_context, and Problem::unsupported for one before OpenGL 3.2 or OpenGL ES 3.0.
  static CurrentContext get();

  const Functions* operator->() const { return &functions_; }
  bool is_es() const { return is_es_; }
  GLint integer(GLenum name) const;

  // OpenGL's errors are flags that stay until they are asked for, those of the program's own calls too. Forgets them,
  // so that check() tells of what comes after.
  void forget_errors() const;
  // Throws Problem::failed when a call since has failed.
  void check(const char* doing) const;
  // Whether a call since has failed; forgets that.
  bool has_failed() const;

 private:
  CurrentContext(const Functions& functions, bool is_es) : functions_(functions), is_es_(is_es) {}

  const Functions& functions_;
  bool is_es_;
};

}  // namespace softgpu::opengl
