// dlopen, dlmopen and dlsym in front of glibc's. A call that does not concern us ends in a jump to glibc's function, as
// if we weren't there: that one looks at its caller's address, for RTLD_NEXT and for the caller's own search path. That
// a call in the end becomes a jump takes optimisation, which this file is always compiled with; tests/cli/exec_test.py
// would see if it didn't. (clang's musttail can't be used: it doesn't go with noexcept, and glibc declares them so.)
#include "softgpu/forward/interpose.hpp"

#include <dlfcn.h>

#include <climits>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

namespace softgpu::forward {

std::array<std::atomic<void*>, kMostLibraries> opened_libraries;

namespace {

const Row* row_of(const char* name) {
  if (!name) return nullptr;
  const Row* row = nvrtc_row(name);
  return row ? row : nvjitlink_row(name);
}

// The slot that stands for a handle; kMostLibraries when all are taken. Never freed: the copies may be called for ever.
std::size_t slot_of(void* handle) {
  static std::mutex& mutex = *new std::mutex;
  std::lock_guard lock(mutex);
  for (std::size_t slot = 0; slot < kMostLibraries; ++slot) {
    void* known = opened_libraries[slot].load();
    if (!known) opened_libraries[slot].store(handle);
    if (!known || known == handle) return slot;
  }
  return kMostLibraries;
}

bool is_ours(const void* function) {
  Dl_info theirs, ours;
  return dladdr(function, &theirs) && dladdr(&opened_libraries, &ours) && theirs.dli_fbase == ours.dli_fbase;
}

void* look_up(const Row& row, void* handle, const char* name) {
  // Ours would be found even where the program has no such library.
  if (handle == RTLD_DEFAULT && !Library(RTLD_NEXT).symbol(name)) return nullptr;
  void* function = real_dlsym()(handle, name);
  if (!function || is_ours(function)) return function;
  const std::size_t slot = slot_of(handle);
  return slot < kMostLibraries ? row.copy(slot) : function;
}

bool is_driver(const char* file) {
  if (!file) return false;
  const char* slash = std::strrchr(file, '/');
  const char* name = slash ? slash + 1 : file;
  return std::strcmp(name, "libcuda.so.1") == 0 || std::strcmp(name, "libcuda.so") == 0;
}

// softgpu lies beside this library.
const char* softgpu_file() {
  static const std::string& file = *new std::string([] {
    Dl_info info;
    if (!dladdr(&opened_libraries, &info)) return std::string("libcuda.so.1");
    const std::string self = info.dli_fname;
    return self.substr(0, self.rfind('/') + 1) + "libcuda.so.1";
  }());
  return file.c_str();
}

}  // namespace
}  // namespace softgpu::forward

using namespace softgpu::forward;

SOFTGPU_EXPORT void* dlopen(const char* file, int mode) noexcept {
  if (is_driver(file)) return real_dlopen()(softgpu_file(), mode);
  return real_dlopen()(file, mode);
}

SOFTGPU_EXPORT void* dlmopen(Lmid_t name_space, const char* file, int mode) noexcept {
  if (is_driver(file)) return real_dlmopen()(name_space, softgpu_file(), mode);
  return real_dlmopen()(name_space, file, mode);
}

SOFTGPU_EXPORT void* dlsym(void* __restrict handle, const char* __restrict name) noexcept {
  if (handle != RTLD_NEXT) {
    if (const Row* row = row_of(name)) return look_up(*row, handle, name);
  }
  return real_dlsym()(handle, name);
}
