#pragma once

#include <cuprum/driver.hpp>
#include <cuprum/linker.hpp>
#include <string>
#include <vector>

namespace cuprum::core {

/// An option of the driver's linker.
struct JitSetting {
  CUjit_option option;
  const char* name;
  int value;
};

/// The options as the driver's linker takes them. Throws InvalidArgument for what it doesn't have.
std::vector<JitSetting> jit_settings(const LinkerOptions& options);

/// The target that stands for an architecture: "sm_90a" is CU_TARGET_COMPUTE_90A. Throws InvalidArgument for what is
/// none.
int jit_target(const std::string& arch);

}  // namespace cuprum::core
