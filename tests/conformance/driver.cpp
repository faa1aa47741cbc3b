#include "conformance/driver.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "support/own_process.hpp"

namespace conformance {
namespace {

std::string setting(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

void* open_driver() {
  const std::string path = is_softgpu() ? setting("CUPRUM_SOFTGPU_PATH", CONFORMANCE_SOFTGPU) : "libcuda.so.1";
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "can't open the driver: %s\n", dlerror());
    std::exit(1);
  }
  return library;
}

}  // namespace

bool is_softgpu() {
  const std::string driver = setting("CUPRUM_DRIVER", "softgpu");
  if (driver == "softgpu") return true;
  if (driver == "nvidia") return false;
  std::fprintf(stderr, "CUPRUM_DRIVER is '%s'; it can be softgpu or nvidia\n", driver.c_str());
  std::exit(1);
}

void* symbol(const char* name) {
  static void* const library = open_driver();
  void* found = dlsym(library, name);
  if (found == nullptr) {
    std::fprintf(stderr, "the driver does not export %s\n", name);
    std::exit(1);
  }
  return found;
}

std::string name_of(CUresult result) {
  const char* name = nullptr;
  if (CU(cuGetErrorName)(result, &name) != CUDA_SUCCESS || name == nullptr) return std::to_string(result);
  return name;
}

testing::AssertionResult succeeded(CUresult result) {
  if (result == CUDA_SUCCESS) return testing::AssertionSuccess();
  return testing::AssertionFailure() << name_of(result);
}

void DriverTest::SetUp() {
  ASSERT_SUCCESS(CU(cuInit)(0));
  ASSERT_SUCCESS(CU(cuDeviceGet)(&device_, 0));
  ASSERT_SUCCESS(CU(cuDevicePrimaryCtxRetain)(&context_, device_));
  ASSERT_SUCCESS(CU(cuCtxSetCurrent)(context_));
}

void DriverTest::TearDown() {
  EXPECT_SUCCESS(CU(cuCtxSynchronize)());
  EXPECT_SUCCESS(CU(cuCtxSetCurrent)(nullptr));
  EXPECT_SUCCESS(CU(cuDevicePrimaryCtxRelease)(device_));
}

int run_in_child(const std::string& test, const std::vector<std::string>& settings) {
  return own_process::run(test, settings);
}

}  // namespace conformance
