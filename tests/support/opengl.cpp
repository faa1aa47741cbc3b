#include "support/opengl.hpp"

#include <dlfcn.h>

#include <string_view>

namespace support {
namespace {

template <typename Function>
Function find(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}
#define EGL(name) (find<decltype(&::name)>(library, #name))
#define EGL_EXTENSION(type, name) (reinterpret_cast<type>(EGL(eglGetProcAddress)(#name)))

EGLDisplay surfaceless_display(void* library) {
  const auto get = EGL_EXTENSION(PFNEGLGETPLATFORMDISPLAYEXTPROC, eglGetPlatformDisplayEXT);
  return get == nullptr ? EGL_NO_DISPLAY : get(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr);
}

EGLDisplay display_of_cuda_device(void* library) {
  const auto get = EGL_EXTENSION(PFNEGLGETPLATFORMDISPLAYEXTPROC, eglGetPlatformDisplayEXT);
  const auto list = EGL_EXTENSION(PFNEGLQUERYDEVICESEXTPROC, eglQueryDevicesEXT);
  const auto query = EGL_EXTENSION(PFNEGLQUERYDEVICEATTRIBEXTPROC, eglQueryDeviceAttribEXT);
  EGLDeviceEXT devices[32];
  EGLint count = 0;
  if (get == nullptr || list == nullptr || query == nullptr || !list(32, devices, &count)) return EGL_NO_DISPLAY;
  for (EGLint i = 0; i < count; ++i) {
    EGLAttrib number = -1;
    if (query(devices[i], EGL_CUDA_DEVICE_NV, &number) && number == 0)
      return get(EGL_PLATFORM_DEVICE_EXT, devices[i], nullptr);
  }
  return EGL_NO_DISPLAY;
}

}  // namespace

std::unique_ptr<OpenGL> OpenGL::make(bool on_nvidia, Profile profile, std::string& why) {
  void* library = dlopen("libEGL.so.1", RTLD_NOW);
  if (library == nullptr) {
    why = "there is no EGL here";
    return nullptr;
  }
  std::unique_ptr<OpenGL> made(new OpenGL);
  made->library_ = library;
  made->display_ = on_nvidia ? display_of_cuda_device(library) : surfaceless_display(library);
  if (made->display_ == EGL_NO_DISPLAY || !EGL(eglInitialize)(made->display_, nullptr, nullptr) ||
      !made->create(profile, EGL_NO_CONTEXT)) {
    why = on_nvidia ? "EGL has no OpenGL on the GPU" : "EGL has no OpenGL without a display";
    return nullptr;
  }
  made->make_current();
  return made;
}

bool OpenGL::create(Profile profile, EGLContext share) {
  void* const library = library_;
  profile_ = profile;
  EGL(eglBindAPI)(profile == Profile::es ? EGL_OPENGL_ES_API : EGL_OPENGL_API);
  const EGLint of_es[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_NONE};
  const EGLint of_desktop[] = {
      EGL_CONTEXT_MAJOR_VERSION,
      4,
      EGL_CONTEXT_MINOR_VERSION,
      5,
      EGL_CONTEXT_OPENGL_PROFILE_MASK,
      profile == Profile::core ? EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT : EGL_CONTEXT_OPENGL_COMPATIBILITY_PROFILE_BIT,
      EGL_NONE};
  context_ = EGL(eglCreateContext)(display_, EGL_NO_CONFIG_KHR, share, profile == Profile::es ? of_es : of_desktop);
  return context_ != EGL_NO_CONTEXT;
}

std::unique_ptr<OpenGL> OpenGL::sharing() const {
  std::unique_ptr<OpenGL> made(new OpenGL);
  made->library_ = library_;
  made->display_ = display_;
  return made->create(profile_, context_) ? std::move(made) : nullptr;
}

OpenGL::~OpenGL() {
  void* const library = library_;
  if (context_ == EGL_NO_CONTEXT) return;
  if (EGL(eglGetCurrentContext)() == context_) leave();
  EGL(eglDestroyContext)(display_, context_);
}

void OpenGL::make_current() const {
  void* const library = library_;
  EGL(eglBindAPI)(profile_ == Profile::es ? EGL_OPENGL_ES_API : EGL_OPENGL_API);
  EGL(eglMakeCurrent)(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, context_);
}

void OpenGL::leave() const {
  void* const library = library_;
  EGL(eglMakeCurrent)(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
}

void* OpenGL::function(const char* name) const {
  void* const library = library_;
  return reinterpret_cast<void*>(EGL(eglGetProcAddress)(name));
}

}  // namespace support
