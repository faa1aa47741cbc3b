// Constant expressions: C's operators over 64-bit integers, and floating-point literals.
#pragma once

#include "softgpu/ptx/reader.hpp"

namespace softgpu::ptx {

struct Constant {
  Immediate value;
  bool is_unsigned = false;
  Location where;

  bool is_integer() const { return value.kind == Immediate::Kind::integer; }
};

bool starts_constant(const Token&);
Constant read_constant(Reader&);
// An integer that is not negative: a size, a count. `what` names it in messages.
std::uint64_t read_count(Reader&, std::string_view what, std::uint64_t most);

// The constant in the form that a value of this type has: a float for .f32, a double for .f64, bits otherwise.
// Nothing when the constant has no such form (1.5 as an integer).
std::optional<Immediate> convert(const Immediate&, Type);

}  // namespace softgpu::ptx
