// softgpu's NVML, opened as programs open it.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "softgpu/nvml/interface.hpp"

namespace nvml_test {

using namespace softgpu::nvml;

// The function of that name; the test fails when there is none.
void* symbol(const char* name);

template <typename... Arguments>
Return call(const char* name, Arguments... arguments) {
  void* const function = symbol(name);
  if (function == nullptr) return Return::unknown;
  return reinterpret_cast<Return (*)(Arguments...)>(function)(arguments...);
}

// Initialised, with two devices of 256 MiB, and a folder of their own for the processes of this test.
struct NvmlTest : testing::Test {
  void SetUp() override { ASSERT_EQ(call("nvmlInit_v2"), Return::success); }
  void TearDown() override { EXPECT_EQ(call("nvmlShutdown"), Return::success); }

  DeviceHandle* device(unsigned index = 0) {
    DeviceHandle* found = nullptr;
    EXPECT_EQ(call("nvmlDeviceGetHandleByIndex_v2", index, &found), Return::success);
    return found;
  }
};

template <typename Struct>
Struct versioned(unsigned number) {
  Struct made{};
  made.version = version_of<Struct>(number);
  return made;
}

}  // namespace nvml_test

namespace softgpu::nvml {
inline void PrintTo(Return code, std::ostream* out) { *out << "code " << static_cast<int>(code); }
}  // namespace softgpu::nvml
