// Which names a { } block of a PTX module declares.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "softgpu/ptx/ast.hpp"

namespace softgpu::ptx {

struct Binding {
  enum class Kind : std::uint8_t {
    register_,  // `width` registers from `index` on; width > 1 for a .v2 or .v4 register
    module_variable,
    function_variable,
    parameter,
    function,
    branch_targets,
    prototype,
  } kind{};
  std::uint8_t width = 1;
  std::uint32_t index = 0;
  Location where;
};

// .reg .b32 %r<100>: %r0 to %r99. They become registers of the function when they are first used.
struct RegisterRange {
  std::string_view prefix;
  std::uint64_t count = 0;
  Type type{};
  Location where;
};

// A use of a label, to be resolved at the end of the block: labels may be used before they are declared.
struct LabelUse {
  std::string_view name;
  Location where;
  bool in_targets = false;  // in branch_targets[first].labels[second], else in body[first].operands[second]
  std::uint32_t first = 0, second = 0;
};

// Keys are pieces of the module's text, which outlives the parser.
struct Scope {
  std::unordered_map<std::string_view, Binding> names;
  std::unordered_map<std::string_view, RegisterRange> ranges;  // by prefix
  std::unordered_map<std::string_view, std::uint32_t> labels;  // into Function::labels
  std::vector<LabelUse> label_uses;

  const Binding* find(std::string_view name) const {
    const auto found = names.find(name);
    return found == names.end() ? nullptr : &found->second;
  }
  // The range that holds the name, if one does.
  const RegisterRange* find_range(std::string_view name) const;
};

}  // namespace softgpu::ptx
