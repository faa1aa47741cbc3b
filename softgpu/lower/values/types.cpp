#include "softgpu/lower/values/types.hpp"

namespace softgpu::lower {

using ptx::Type;

llvm::Type* llvm_type(llvm::LLVMContext& context, Type type) {
  switch (type) {
    case Type::f16: return llvm::Type::getHalfTy(context);
    case Type::f32: return llvm::Type::getFloatTy(context);
    case Type::f64: return llvm::Type::getDoubleTy(context);
    default: return llvm::Type::getIntNTy(context, ptx::bits(type));
  }
}

llvm::Value* to_bits(Builder& ir, llvm::Value* value) {
  if (!value->getType()->isFloatingPointTy()) return value;
  return ir.CreateBitCast(value, ir.getIntNTy(value->getType()->getScalarSizeInBits()));
}

llvm::Value* from_bits(Builder& ir, llvm::Value* bits, llvm::Type* type) {
  return bits->getType() == type ? bits : ir.CreateBitCast(bits, type);
}

llvm::Value* resize(Builder& ir, llvm::Value* value, unsigned bits, bool sign_extend) {
  llvm::Type* wanted = ir.getIntNTy(bits);
  llvm::Value* integer = to_bits(ir, value);
  return sign_extend ? ir.CreateSExtOrTrunc(integer, wanted) : ir.CreateZExtOrTrunc(integer, wanted);
}

bool is_packed(Type type) { return element_of(type) != type; }

Type element_of(Type type) {
  switch (type) {
    case Type::f16x2: return Type::f16;
    case Type::bf16x2: return Type::bf16;
    case Type::f32x2: return Type::f32;
    case Type::u16x2: return Type::u16;
    case Type::s16x2: return Type::s16;
    default: return type;
  }
}

Type integer_of_width(unsigned width) {
  switch (width) {
    case 1: return Type::pred;
    case 8: return Type::b8;
    case 16: return Type::b16;
    case 32: return Type::b32;
    case 64: return Type::b64;
    default: return Type::b128;
  }
}

Type doubled(Type type) {
  switch (type) {
    case Type::u8: return Type::u16;
    case Type::u16: return Type::u32;
    case Type::u32: return Type::u64;
    case Type::s8: return Type::s16;
    case Type::s16: return Type::s32;
    case Type::s32: return Type::s64;
    default: return integer_of_width(2 * ptx::bits(type));
  }
}

}  // namespace softgpu::lower
