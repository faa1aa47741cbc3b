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

Value* with_canonical_nan(Builder& ir, Value* value, Value* rounded) {
  constexpr std::uint16_t kNaN = 0x7fff;
  Value* bits = to_bits(ir, rounded);
  return from_bits(ir, ir.CreateSelect(ir.CreateFCmpUNO(value, value), ir.getInt16(kNaN), bits), rounded->getType());
}

void write_floats(FunctionLowering& f, const ptx::Operand& destination, const Elements& values, Type type) {
  const Type element = element_of(type);
  Elements rounded;
  for (Value* value : values) {
    Value* result = narrow(f.ir, value, element);
    rounded.push_back(ptx::bits(element) == 16 ? with_canonical_nan(f.ir, value, result) : result);
  }
  f.write(destination, join(f, rounded), type);
}

}  // namespace softgpu::lower
