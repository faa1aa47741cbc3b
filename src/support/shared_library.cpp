#include "support/shared_library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <filesystem>

namespace cuprum::support {
namespace {

std::filesystem::path resolved(const char* path) {
  std::error_code error;
  std::filesystem::path real = std::filesystem::canonical(path, error);
  return error ? std::filesystem::path(path) : real;
}

}  // namespace

SharedLibrary SharedLibrary::open(const std::string& name) {
  SharedLibrary library;
  library.handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library.handle_) library.error_ = dlerror();
  return library;
}

SharedLibrary SharedLibrary::loaded(const std::string& name) {
  SharedLibrary library;
  library.handle_ = dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (!library.handle_) library.error_ = name + " is not loaded";
  return library;
}

void* SharedLibrary::symbol(const char* name) const { return dlsym(handle_, name); }

std::string SharedLibrary::path() const {
  link_map* map = nullptr;
  if (!handle_ || dlinfo(handle_, RTLD_DI_LINKMAP, &map) != 0) return {};
  return resolved(map->l_name).string();
}

std::string folder_of_code(const void* address) {
  Dl_info info{};
  if (!dladdr(address, &info) || !info.dli_fname) return {};
  return resolved(info.dli_fname).parent_path().string();
}

}  // namespace cuprum::support
