#include "softgpu/ptx/diagnostic.hpp"

namespace softgpu::ptx {

std::string to_string(const Diagnostic& diagnostic) {
  const bool error = diagnostic.severity == Diagnostic::Severity::error;
  return "line " + std::to_string(diagnostic.where.line) + ", column " + std::to_string(diagnostic.where.column) +
         (error ? ": error: " : ": warning: ") + diagnostic.message;
}

}  // namespace softgpu::ptx
