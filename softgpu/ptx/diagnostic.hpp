// What is wrong with a PTX module, in the form a user of ptxas expects:
//   ptxas-style line:  "line 12, column 5: error: unknown instruction 'addd.f32'; did you mean 'add.f32'?"
#pragma once

#include <string>
#include <vector>

#include "softgpu/ptx/ast.hpp"

namespace softgpu::ptx {

struct Diagnostic {
  enum class Severity : std::uint8_t { warning, error } severity = Severity::error;
  enum class Cause : std::uint8_t {
    invalid,      // not PTX: CUDA_ERROR_INVALID_PTX
    unsupported,  // valid PTX that softgpu does not run: CUDA_ERROR_NOT_SUPPORTED
    version,      // .version or .target newer than we know: CUDA_ERROR_UNSUPPORTED_PTX_VERSION
  } cause = Cause::invalid;
  Location where;
  std::string message;
};

std::string to_string(const Diagnostic&);

}  // namespace softgpu::ptx
