// What the modifiers of floating-point instructions ask for.
#pragma once

#include "softgpu/lower/floating_point/elementwise.hpp"
#include "softgpu/lower/values/float_formats.hpp"

namespace softgpu::lower {

inline Rounding rounding_of(const ptx::Instruction& i) {
  using ptx::Modifier;
  if (i.has(Modifier::rz)) return Rounding::zero;
  if (i.has(Modifier::rm)) return Rounding::down;
  if (i.has(Modifier::rp)) return Rounding::up;
  return Rounding::nearest;
}

// The floats of one operand, flushed where .ftz asks for it.
Elements read_sources(FunctionLowering&, const ptx::Operand&, const ptx::Instruction&);
// Applies .ftz, .sat and .relu to results and writes them.
void write_results(FunctionLowering&, const ptx::Instruction&, Elements results);

// d = operation(a), element by element. For operations whose result for a subnormal operand is 1, or the operand
// itself, nothing needs to be flushed before.
template <typename Operation>
void for_each_unflushed_float(FunctionLowering& f, const ptx::Instruction& i, Operation operation) {
  Elements results;
  for (llvm::Value* a : read_floats(f, i.operands[1], i.types[0])) results.push_back(operation(a));
  write_results(f, i, std::move(results));
}

// d = operation(a), element by element.
template <typename Operation>
void for_each_float(FunctionLowering& f, const ptx::Instruction& i, Operation operation) {
  Elements results;
  for (llvm::Value* a : read_sources(f, i.operands[1], i)) results.push_back(operation(a));
  write_results(f, i, std::move(results));
}

// d = operation(a, b), element by element.
template <typename Operation>
void for_each_float_pair(FunctionLowering& f, const ptx::Instruction& i, Operation operation) {
  const Elements a = read_sources(f, i.operands[1], i);
  const Elements b = read_sources(f, i.operands[2], i);
  Elements results;
  for (std::size_t k = 0; k < a.size(); ++k) results.push_back(operation(a[k], b[k]));
  write_results(f, i, std::move(results));
}

}  // namespace softgpu::lower
