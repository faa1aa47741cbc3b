#include "softgpu/forward/library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstdio>
#include <cstdlib>
#include <initializer_list>

namespace softgpu::forward {
namespace {

// dlsym can't be asked for itself here, and dlvsym wants a version: that of glibc 2.34, where libdl became part of
// libc, or the oldest of the architecture.
void* behind_us(const char* name) {
  for (const char* version : {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5", "GLIBC_2.3.4"}) {
    if (void* function = dlvsym(RTLD_NEXT, name, version)) return function;
  }
  std::fprintf(stderr, "cuprum exec: the C library has no %s\n", name);
  std::abort();
}

template <typename Function>
Function found(const char* name) {
  return reinterpret_cast<Function>(behind_us(name));
}

}  // namespace

Dlopen real_dlopen() noexcept {
  static const auto function = found<Dlopen>("dlopen");
  return function;
}

Dlmopen real_dlmopen() noexcept {
  static const auto function = found<Dlmopen>("dlmopen");
  return function;
}

Dlsym real_dlsym() noexcept {
  static const auto function = found<Dlsym>("dlsym");
  return function;
}

Library Library::linked_to(const void* code) {
  Dl_info info;
  link_map* map = nullptr;
  const bool known = dladdr1(code, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) != 0;
  // The program itself has an empty name. What it was linked to comes behind us. A link map is what glibc's handles
  // are.
  return known && map && *map->l_name ? Library(map) : Library(RTLD_NEXT);
}

void* Library::symbol(const char* name) const {
  void* function = real_dlsym()(handle_, name);
  // A plugin may use what the program that opened it brought along.
  return function || handle_ == RTLD_NEXT ? function : real_dlsym()(RTLD_NEXT, name);
}

}  // namespace softgpu::forward
