#include "nvml/library.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>

#include "support/temporary_folder.hpp"

namespace nvml_test {
namespace {

// Before anything reads the settings; a child has its parent's.
struct Settings {
  Settings() {
    setenv("CUPRUM_DRIVER", "softgpu", 1);
    setenv("SOFTGPU_DEVICES", "2", 1);
    setenv("SOFTGPU_MEMORY", "256M", 1);
    setenv("SOFTGPU_WORKERS", "2", 1);
    if (getenv("SOFTGPU_RUNTIME_DIR") == nullptr) {
      static const TemporaryFolder folder;
      setenv("SOFTGPU_RUNTIME_DIR", (folder / "softgpu").c_str(), 1);
    }
  }
} const settings;

}  // namespace

void* symbol(const char* name) {
  static void* const library = dlopen(SOFTGPU_NVML_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  void* const found = library != nullptr ? dlsym(library, name) : nullptr;
  EXPECT_NE(found, nullptr) << (library != nullptr ? name : dlerror());
  return found;
}

}  // namespace nvml_test
