// Reading and writing the operands of instructions.
#include <bit>

#include "softgpu/lower/function/cluster.hpp"
#include "softgpu/lower/function/function_lowering.hpp"
#include "softgpu/lower/function/special_registers.hpp"

namespace softgpu::lower {

using ptx::Space;
using ptx::Symbol;
using ptx::Type;

namespace {

std::uint64_t bits_of(const ptx::Immediate& immediate, Type type) {
  using Kind = ptx::Immediate::Kind;
  if (immediate.kind == Kind::float_bits && ptx::bits(type) == 64)
    return std::bit_cast<std::uint64_t>(
        static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(immediate.bits))));
  if (immediate.kind == Kind::double_bits && type == Type::f32)
    return std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(immediate.bits)));
  return immediate.bits;
}

}  // namespace

llvm::Value* FunctionLowering::constant(const ptx::Immediate& immediate, Type type) {
  const llvm::APInt wide(64, bits_of(immediate, type));
  const unsigned width = ptx::bits(type);
  llvm::Value* bits = ir.getInt(width > 64 ? wide.sext(width) : wide.trunc(width));
  return from_bits(ir, bits, llvm_type(module.context(), type));
}

llvm::Value* FunctionLowering::read(const ptx::Operand& operand, Type type) {
  if (const auto* immediate = std::get_if<ptx::Immediate>(&operand.value)) return constant(*immediate, type);
  llvm::Value* value = nullptr;
  if (const auto* reg = std::get_if<ptx::Register>(&operand.value)) {
    llvm::AllocaInst* slot = storage(reg->index);
    value = ir.CreateLoad(slot->getAllocatedType(), slot);
  } else if (const auto* special = std::get_if<ptx::SpecialRegister>(&operand.value)) {
    value = special_register(*this, *special);
  } else if (const auto* address = std::get_if<ptx::Address>(&operand.value)) {
    value = address_value(*address);
  } else {
    refuse(source.body[current_], "has an operand that is not a value");
  }
  llvm::Type* wanted = llvm_type(module.context(), type);
  if (operand.negated) value = ir.CreateNot(value);
  return value->getType() == wanted ? value : from_bits(ir, resize(ir, value, ptx::bits(type), false), wanted);
}

llvm::Value* FunctionLowering::read_predicate(const ptx::Operand& operand) { return read(operand, Type::pred); }

void FunctionLowering::write(const ptx::Operand& destination, llvm::Value* value, Type type) {
  if (std::holds_alternative<ptx::Sink>(destination.value)) return;
  const auto* reg = std::get_if<ptx::Register>(&destination.value);
  if (!reg) refuse(source.body[current_], "has a destination that is not a register");
  write_register(reg->index, value, ptx::is_signed(type));
}

void FunctionLowering::write_register(std::uint32_t index, llvm::Value* value, bool sign_extend) {
  if (index == ptx::kNoRegister) return;
  llvm::AllocaInst* slot = storage(index);
  llvm::Type* type = slot->getAllocatedType();
  if (value->getType() != type)
    value = from_bits(ir, resize(ir, value, type->getScalarSizeInBits(), sign_extend), type);
  if (selecting_guard_) value = ir.CreateSelect(selecting_guard_, value, ir.CreateLoad(type, slot));
  ir.CreateStore(value, slot);
}

const ptx::Variable* FunctionLowering::variable_of(const Symbol& symbol) const {
  if (symbol.kind == Symbol::Kind::module_variable) return &module.source().variables[symbol.index];
  if (symbol.kind == Symbol::Kind::function_variable) return &source.variables[symbol.index];
  return nullptr;
}

bool FunctionLowering::is_shared(const Symbol& symbol) const {
  const ptx::Variable* variable = variable_of(symbol);
  return variable && variable->space == Space::shared;
}

llvm::Value* FunctionLowering::shared_base() { return call(abi::Mark::shared); }

llvm::Value* FunctionLowering::displaced(llvm::Value* base, std::uint64_t bytes) {
  return bytes ? ir.CreateGEP(ir.getInt8Ty(), base, ir.getInt64(bytes)) : base;
}

llvm::Value* FunctionLowering::symbol_pointer(const Symbol& symbol) {
  if (is_shared(symbol)) return displaced(shared_base(), module.shared_offset(*variable_of(symbol)));
  if (symbol.kind == Symbol::Kind::module_variable) return module.variable(symbol.index);
  return memory_of(symbol);
}

// An address as a register holds it: an offset for shared variables, a number for functions, else a pointer.
llvm::Value* FunctionLowering::address_value(const ptx::Address& address) {
  llvm::Value* value = nullptr;
  if (const auto* reg = std::get_if<ptx::Register>(&address.base))
    value = read({.value = *reg, .negated = false, .where = {}}, Type::u64);
  else if (const auto* symbol = std::get_if<Symbol>(&address.base)) {
    if (is_shared(*symbol))
      value = ir.getInt64(module.shared_offset(*variable_of(*symbol)));
    else if (symbol->kind == Symbol::Kind::function)
      value = ir.getInt64(function_address(symbol->index));
    else
      value = ir.CreatePtrToInt(symbol_pointer(*symbol), ir.getInt64Ty());
  } else {
    value = ir.getInt64(0);
  }
  return ir.CreateAdd(value, ir.getInt64(static_cast<std::uint64_t>(address.offset)));
}

llvm::Value* FunctionLowering::pointer(const ptx::Operand& operand, std::optional<Space> space) {
  const auto* address = std::get_if<ptx::Address>(&operand.value);
  if (!address) refuse(source.body[current_], "has no address where one is needed");
  const auto offset = static_cast<std::uint64_t>(address->offset);
  if (const auto* symbol = std::get_if<Symbol>(&address->base)) return displaced(symbol_pointer(*symbol), offset);

  const bool in_shared = space == Space::shared;
  const bool in_cluster = space == Space::shared_cluster;
  const auto* reg = std::get_if<ptx::Register>(&address->base);
  if (!reg) {
    llvm::Value* absolute = ir.getInt64(offset);
    if (in_cluster) return cluster_pointer(*this, absolute);
    return in_shared ? displaced(shared_base(), offset) : ir.CreateIntToPtr(absolute, ir.getPtrTy());
  }
  // Offsets into shared memory may be kept in 32-bit registers; sign-extended, a negative one and a positive
  // displacement still meet.
  llvm::AllocaInst* slot = storage(reg->index);
  llvm::Value* base = resize(ir, ir.CreateLoad(slot->getAllocatedType(), slot), 64, in_shared || in_cluster);
  if (in_cluster) return cluster_pointer(*this, ir.CreateAdd(base, ir.getInt64(offset)));
  llvm::Value* start =
      in_shared ? ir.CreateGEP(ir.getInt8Ty(), shared_base(), base) : ir.CreateIntToPtr(base, ir.getPtrTy());
  return displaced(start, offset);
}

}  // namespace softgpu::lower
