#include "softgpu/opengl/context.hpp"

#include <dlfcn.h>

#include <string>
#include <string_view>

namespace softgpu::opengl {
namespace {

// What makes contexts, by the functions that it has for asking for the current one and for entry points.
struct Maker {
  const char* library;
  const char* get_current;
  const char* get_function;
};
constexpr Maker kMakers[] = {
    {"libEGL.so.1", "eglGetCurrentContext", "eglGetProcAddress"},
    {"libGLX.so.0", "glXGetCurrentContext", "glXGetProcAddressARB"},
    {"libGL.so.1", "glXGetCurrentContext", "glXGetProcAddressARB"},  // an OpenGL that is one library
};

// A library that the process has loaded: one that it has not has no current context either.
void* loaded(const char* library) { return dlopen(library, RTLD_LAZY | RTLD_NOLOAD); }

using Function = void (*)();
using GetFunction = Function (*)(const char* name);
using GetCurrent = void* (*)();

// Old versions of EGL tell of extensions only: the rest is in the libraries.
Function find_function(GetFunction get, const char* name) {
  if (const Function found = get(name)) return found;
  for (const char* library : {"libOpenGL.so.0", "libGL.so.1", "libGLESv2.so.2"})
    if (void* handle = loaded(library))
      if (void* found = dlsym(handle, name)) return reinterpret_cast<Function>(found);
  return nullptr;
}

struct FoundFunctions {
  Functions functions;
  const char* missing = nullptr;  // one that there must be
};

FoundFunctions find_functions(GetFunction get) {
  FoundFunctions found;
#define SOFTGPU_GL_OPTIONAL(name) \
  found.functions.name = reinterpret_cast<decltype(&::gl##name)>(find_function(get, "gl" #name));
#define SOFTGPU_GL(name)    \
  SOFTGPU_GL_OPTIONAL(name) \
  if (found.functions.name == nullptr) found.missing = "gl" #name;
#include "softgpu/opengl/functions.def"
  return found;
}

// The functions are the same for all contexts of one maker, so they are looked for once.
template <std::size_t Index>
const FoundFunctions* functions_of_current() {
  const Maker& maker = kMakers[Index];
  void* library = loaded(maker.library);
  if (library == nullptr) return nullptr;
  const auto get_current = reinterpret_cast<GetCurrent>(dlsym(library, maker.get_current));
  const auto get_function = reinterpret_cast<GetFunction>(dlsym(library, maker.get_function));
  if (get_current == nullptr || get_function == nullptr || get_current() == nullptr) return nullptr;
  static const FoundFunctions found = find_functions(get_function);
  return &found;
}

const FoundFunctions& current_functions() {
  if (const FoundFunctions* found = functions_of_current<0>()) return *found;
  if (const FoundFunctions* found = functions_of_current<1>()) return *found;
  if (const FoundFunctions* found = functions_of_current<2>()) return *found;
  throw Error(Problem::no_context,
              "no OpenGL context is current in the calling thread: make the one current that the object belongs to");
}

}  // namespace

CurrentContext CurrentContext::get() {
  const FoundFunctions& found = current_functions();
  if (found.missing != nullptr)
    throw Error(Problem::unsupported, std::string("this OpenGL does not have ") + found.missing);
  const auto* version = reinterpret_cast<const char*>(found.functions.GetString(GL_VERSION));
  demand(version != nullptr, Problem::failed, "OpenGL does not tell its version");
  const bool is_es = std::string_view(version).starts_with("OpenGL ES");
  const CurrentContext context(found.functions, is_es);
  context.forget_errors();
  const int number = 10 * context.integer(GL_MAJOR_VERSION) + context.integer(GL_MINOR_VERSION);
  demand(number >= (is_es ? 30 : 32), Problem::unsupported, "OpenGL 3.2 or OpenGL ES 3.0 is needed");
  return context;
}

GLint CurrentContext::integer(GLenum name) const {
  GLint value = 0;
  functions_.GetIntegerv(name, &value);
  return value;
}

// A context that was lost may answer with errors for ever.
void CurrentContext::forget_errors() const {
  for (int i = 0; i < 100 && functions_.GetError() != GL_NO_ERROR; ++i) {
  }
}

bool CurrentContext::has_failed() const {
  const bool failed = functions_.GetError() != GL_NO_ERROR;
  forget_errors();
  return failed;
}

void CurrentContext::check(const char* doing) const {
  const GLenum error = functions_.GetError();
  if (error == GL_NO_ERROR) return;
  forget_errors();
  throw Error(Problem::failed, std::string("OpenGL's error ") + std::to_string(error) + " when " + doing);
}

}  // namespace softgpu::opengl
