// The libraries that a program opened or was linked to, and the loader's own functions behind those that stand before
// them here.
#pragma once

namespace softgpu::forward {

/// Where to look functions of NVRTC or nvJitLink up: cheap to copy, owns nothing.
class Library {
 public:
  /// By a handle of dlopen.
  explicit Library(void* handle) : handle_(handle) {}

  /// What the code at this address was linked to: a program may have several NVRTCs, each used by another part of it.
  static Library linked_to(const void* code);

  /// Null when the library doesn't have it.
  void* symbol(const char* name) const;

 private:
  void* handle_;
};

// glibc's own dlopen and its like, which ours hide. All are noexcept, so that calls of them can be jumps.
using Dlopen = void* (*)(const char* file, int mode) noexcept;
using Dlmopen = void* (*)(long name_space, const char* file, int mode) noexcept;
using Dlsym = void* (*)(void* handle, const char* name) noexcept;
Dlopen real_dlopen() noexcept;
Dlmopen real_dlmopen() noexcept;
Dlsym real_dlsym() noexcept;

}  // namespace softgpu::forward
