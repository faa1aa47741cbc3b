// Instructions that take bits or bytes out of words, or put them in.
#include <array>

#include "softgpu/lower/arithmetic/arithmetic.hpp"

namespace softgpu::lower {
namespace {

using llvm::Value;
using ptx::Instruction;
using ptx::Modifier;
using ptx::Type;

// Shifts of which the amount, of any integer type, may be as large as it likes.
Value* shift_left(Builder& ir, Value* value, Value* amount) {
  const unsigned width = value->getType()->getIntegerBitWidth();
  Value* in_range = ir.CreateICmpULT(amount, llvm::ConstantInt::get(amount->getType(), width));
  return ir.CreateSelect(in_range, ir.CreateShl(value, resize(ir, amount, width, false)), ir.getIntN(width, 0));
}

Value* shift_right(Builder& ir, Value* value, Value* amount) {
  const unsigned width = value->getType()->getIntegerBitWidth();
  Value* in_range = ir.CreateICmpULT(amount, llvm::ConstantInt::get(amount->getType(), width));
  return ir.CreateSelect(in_range, ir.CreateLShr(value, resize(ir, amount, width, false)), ir.getIntN(width, 0));
}

// `length` ones from bit 0.
Value* low_mask(Builder& ir, Value* length, unsigned width) {
  return ir.CreateNot(shift_left(ir, ir.getInt(llvm::APInt::getAllOnes(width)), length));
}

Value* low_byte_of(FunctionLowering& f, const ptx::Operand& operand) {
  return f.ir.CreateAnd(f.read(operand, Type::u32), f.ir.getInt32(0xff));
}

// The low `length` bits of a word as a signed number; length is at least 1.
Value* sign_extend_field(Builder& ir, Value* word, Value* length) {
  const unsigned width = word->getType()->getIntegerBitWidth();
  Value* full = ir.getInt32(width);
  Value* in_range = ir.CreateICmpULT(length, full);
  Value* spare = resize(ir, ir.CreateSelect(in_range, ir.CreateSub(full, length), ir.getInt32(0)), width, false);
  return ir.CreateAShr(ir.CreateShl(word, spare), spare);
}

// The position of the n-th set bit, counted from 0 upwards; 32 or more when there are fewer. Halves the range by
// population counts.
Value* nth_set_bit(FunctionLowering& f, Value* word, Value* n) {
  Builder& ir = f.ir;
  Value* position = ir.getInt32(0);
  for (unsigned half : {16u, 8u, 4u, 2u, 1u}) {
    Value* low = ir.CreateAnd(ir.CreateLShr(word, position), ir.getInt32((1u << half) - 1));
    Value* ones = f.intrinsic(llvm::Intrinsic::ctpop, {low});
    Value* above = ir.CreateICmpUGE(n, ones);
    n = ir.CreateSelect(above, ir.CreateSub(n, ones), n);
    position = ir.CreateSelect(above, ir.CreateAdd(position, ir.getInt32(half)), position);
  }
  Value* hit =
      ir.CreateAnd(ir.CreateICmpEQ(n, ir.getInt32(0)), ir.CreateTrunc(ir.CreateLShr(word, position), ir.getInt1Ty()));
  return ir.CreateSelect(hit, position, ir.getInt32(0xffffffff));
}

// One byte of the eight in {b, a}, chosen by 3 bits; with the fourth bit set, its sign in all places.
Value* permuted_byte(Builder& ir, Value* bytes, Value* selector) {
  Value* distance = ir.CreateShl(ir.CreateAnd(selector, ir.getInt32(7)), 3);
  Value* byte = ir.CreateTrunc(ir.CreateLShr(bytes, ir.CreateZExt(distance, ir.getInt64Ty())), ir.getInt8Ty());
  Value* replicate = ir.CreateICmpNE(ir.CreateAnd(selector, ir.getInt32(8)), ir.getInt32(0));
  return ir.CreateSelect(replicate, ir.CreateAShr(byte, 7), byte);
}

struct PermuteMode {
  Modifier modifier;
  std::array<std::uint16_t, 4> selectors;  // by the low two bits of c, as a selector of the plain mode
};

constexpr PermuteMode kPermuteModes[] = {
    {Modifier::f4e, {0x3210, 0x4321, 0x5432, 0x6543}}, {Modifier::b4e, {0x5670, 0x6701, 0x7012, 0x0123}},
    {Modifier::rc8, {0x0000, 0x1111, 0x2222, 0x3333}}, {Modifier::ecl, {0x3210, 0x3211, 0x3222, 0x3333}},
    {Modifier::ecr, {0x0000, 0x1110, 0x2210, 0x3210}}, {Modifier::rc16, {0x1010, 0x3232, 0x1010, 0x3232}},
};

Value* permute_selector(FunctionLowering& f, const Instruction& i) {
  Builder& ir = f.ir;
  Value* c = f.read(i.operands[3], Type::b32);
  for (const PermuteMode& mode : kPermuteModes) {
    if (!i.has(mode.modifier)) continue;
    Value* low = ir.CreateAnd(c, ir.getInt32(3));
    Value* selector = ir.getInt32(mode.selectors[3]);
    for (unsigned k = 0; k < 3; ++k)
      selector = ir.CreateSelect(ir.CreateICmpEQ(low, ir.getInt32(k)), ir.getInt32(mode.selectors[k]), selector);
    return selector;
  }
  return c;
}

}  // namespace

void lower_bfe(FunctionLowering& f, const Instruction& i) {
  Builder& ir = f.ir;
  const unsigned width = ptx::bits(i.types[0]);
  Value* a = f.read(i.operands[1], i.types[0]);
  Value* position = low_byte_of(f, i.operands[2]);
  Value* length = low_byte_of(f, i.operands[3]);
  Value* field = nullptr;
  if (ptx::is_signed(i.types[0])) {
    // Bits past the top are copies of the sign, as an arithmetic shift brings them in.
    Value* most = f.intrinsic(llvm::Intrinsic::umin, {position, ir.getInt32(width - 1)});
    Value* extended = sign_extend_field(ir, ir.CreateAShr(a, resize(ir, most, width, false)), length);
    field = ir.CreateSelect(ir.CreateICmpEQ(length, ir.getInt32(0)), ir.getIntN(width, 0), extended);
  } else {
    field = ir.CreateAnd(shift_right(ir, a, position), low_mask(ir, length, width));
  }
  f.write(i.operands[0], field, i.types[0]);
}

void lower_bfi(FunctionLowering& f, const Instruction& i) {
  Builder& ir = f.ir;
  const unsigned width = ptx::bits(i.types[0]);
  Value* a = f.read(i.operands[1], i.types[0]);
  Value* b = f.read(i.operands[2], i.types[0]);
  Value* position = low_byte_of(f, i.operands[3]);
  Value* mask = shift_left(ir, low_mask(ir, low_byte_of(f, i.operands[4]), width), position);
  Value* inserted = ir.CreateAnd(shift_left(ir, a, position), mask);
  f.write(i.operands[0], ir.CreateOr(ir.CreateAnd(b, ir.CreateNot(mask)), inserted), i.types[0]);
}

void lower_bmsk(FunctionLowering& f, const Instruction& i) {
  Builder& ir = f.ir;
  Value* start = f.read(i.operands[1], Type::u32);
  Value* length = f.read(i.operands[2], Type::u32);
  if (i.has(Modifier::wrap)) {
    start = ir.CreateAnd(start, ir.getInt32(31));
    length = ir.CreateAnd(length, ir.getInt32(31));
  }
  f.write(i.operands[0], shift_left(ir, low_mask(ir, length, 32), start), Type::b32);
}

// The low b bits of a, as a signed or unsigned number; 0 for b = 0.
void lower_szext(FunctionLowering& f, const Instruction& i) {
  Builder& ir = f.ir;
  Value* a = f.read(i.operands[1], i.types[0]);
  Value* length = f.read(i.operands[2], Type::u32);
  if (i.has(Modifier::wrap)) length = ir.CreateAnd(length, ir.getInt32(31));
  Value* field = nullptr;
  if (ptx::is_signed(i.types[0])) {
    Value* none = ir.CreateICmpEQ(length, ir.getInt32(0));
    field = ir.CreateSelect(none, ir.getInt32(0), sign_extend_field(ir, a, length));
  } else {
    field = ir.CreateAnd(a, low_mask(ir, length, 32));
  }
  f.write(i.operands[0], field, i.types[0]);
}

// Find n-th set: from bit `base`, upwards for a positive offset (the first set bit found is number 1), downwards
// for a negative one, that bit alone for 0.
void lower_fns(FunctionLowering& f, const Instruction& i) {
  Builder& ir = f.ir;
  Value* mask = f.read(i.operands[1], Type::b32);
  Value* base = f.read(i.operands[2], Type::b32);
  Value* offset = f.read(i.operands[3], Type::s32);
  Value* downwards = ir.CreateICmpSLT(offset, ir.getInt32(0));
  Value* only_base = ir.CreateICmpEQ(offset, ir.getInt32(0));

  Value* word = ir.CreateSelect(downwards, f.intrinsic(llvm::Intrinsic::bitreverse, {mask}), mask);
  Value* start = ir.CreateSelect(downwards, ir.CreateSub(ir.getInt32(31), base), base);
  word = ir.CreateAnd(word, shift_left(ir, ir.getInt32(0xffffffff), start));
  word = ir.CreateSelect(only_base, ir.CreateAnd(word, shift_left(ir, ir.getInt32(1), start)), word);

  Value* distance = ir.CreateSelect(downwards, ir.CreateNeg(offset), offset);
  Value* n = ir.CreateSelect(only_base, ir.getInt32(0), ir.CreateSub(distance, ir.getInt32(1)));
  Value* position = nth_set_bit(f, word, n);
  Value* mirrored = ir.CreateSub(ir.getInt32(31), position);
  Value* missing = ir.CreateICmpEQ(position, ir.getInt32(0xffffffff));
  f.write(i.operands[0], ir.CreateSelect(missing, position, ir.CreateSelect(downwards, mirrored, position)), Type::b32);
}

void lower_prmt(FunctionLowering& f, const Instruction& i) {
  Builder& ir = f.ir;
  Value* low = ir.CreateZExt(f.read(i.operands[1], Type::b32), ir.getInt64Ty());
  Value* high = ir.CreateZExt(f.read(i.operands[2], Type::b32), ir.getInt64Ty());
  Value* bytes = ir.CreateOr(low, ir.CreateShl(high, 32));
  Value* selector = permute_selector(f, i);
  Value* result = ir.getInt32(0);
  for (unsigned k = 0; k < 4; ++k) {
    Value* byte = permuted_byte(ir, bytes, ir.CreateLShr(selector, 4 * k));
    result = ir.CreateOr(result, ir.CreateShl(ir.CreateZExt(byte, ir.getInt32Ty()), 8 * k));
  }
  f.write(i.operands[0], result, Type::b32);
}

}  // namespace softgpu::lower
