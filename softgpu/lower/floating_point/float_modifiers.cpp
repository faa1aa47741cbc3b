#include "softgpu/lower/floating_point/float_modifiers.hpp"

#include "softgpu/lower/values/flush.hpp"

namespace softgpu::lower {

using llvm::Value;
using ptx::Instruction;
using ptx::Modifier;
using ptx::Type;

Elements read_sources(FunctionLowering& f, const ptx::Operand& operand, const Instruction& i) {
  Elements values = read_floats(f, operand, i.types[0]);
  if (i.has(Modifier::ftz))
    for (Value*& value : values) value = flush(f.ir, value, element_of(i.types[0]));
  return values;
}

void write_results(FunctionLowering& f, const Instruction& i, Elements results) {
  const Type element = element_of(i.types[0]);
  for (Value*& value : results) {
    // A float is rounded by now. A short format is not: GPUs decide in front of the rounding what is subnormal there.
    if (i.has(Modifier::ftz)) value = flush(f.ir, value, element);
    if (i.has(Modifier::sat)) value = saturate(f.ir, value);
    if (i.has(Modifier::relu)) value = relu(f.ir, value);
  }
  write_floats(f, i.operands[0], results, i.types[0]);
}

}  // namespace softgpu::lower
