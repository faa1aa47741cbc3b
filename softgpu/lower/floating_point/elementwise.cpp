#include "softgpu/lower/floating_point/elementwise.hpp"

#include "softgpu/lower/values/float_formats.hpp"

namespace softgpu::lower {

using llvm::Value;
using ptx::Type;

Elements split(FunctionLowering& f, Value* value, Type type) {
  if (!is_packed(type)) return {value};
  const Type element = element_of(type);
  const unsigned width = ptx::bits(element);
  llvm::Type* wanted = llvm_type(f.module.context(), element);
  Value* low = f.ir.CreateTrunc(value, f.ir.getIntNTy(width));
  Value* high = f.ir.CreateTrunc(f.ir.CreateLShr(value, width), f.ir.getIntNTy(width));
  return {from_bits(f.ir, low, wanted), from_bits(f.ir, high, wanted)};
}

Value* join(FunctionLowering& f, const Elements& elements) {
  if (elements.size() == 1) return elements[0];
  Value* low = to_bits(f.ir, elements[0]);
  const unsigned width = low->getType()->getIntegerBitWidth();
  Value* high = f.ir.CreateShl(resize(f.ir, elements[1], 2 * width, false), width);
  return f.ir.CreateOr(high, resize(f.ir, low, 2 * width, false));
}

Elements read_floats(FunctionLowering& f, const ptx::Operand& operand, Type type) {
  Elements result;
  for (Value* element : split(f, f.read(operand, type), type)) result.push_back(widen(f.ir, element, element_of(type)));
  return result;
}

void write_floats(FunctionLowering& f, const ptx::Operand& destination, const Elements& values, Type type) {
  Elements rounded;
  for (Value* value : values) rounded.push_back(narrow(f.ir, value, element_of(type)));
  f.write(destination, join(f, rounded), type);
}

}  // namespace softgpu::lower
