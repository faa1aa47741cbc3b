// PTX text to Module.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "softgpu/ptx/ast.hpp"
#include "softgpu/ptx/diagnostic.hpp"

namespace softgpu::ptx {

struct ParseResult {
  std::optional<Module> module;  // absent when there was an error
  std::vector<Diagnostic> diagnostics;
};

// Parses, resolves and checks: a Module that comes back holds only instructions that lowering supports,
// with operands of the right number, kind and type. Reports up to 20 errors. Never throws on bad input.
ParseResult parse(std::string_view text);

}  // namespace softgpu::ptx
