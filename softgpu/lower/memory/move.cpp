// mov, and addresses between state spaces.
#include "softgpu/lower/function/cluster.hpp"
#include "softgpu/lower/memory/memory.hpp"

namespace softgpu::lower {
namespace {

using llvm::Value;
using ptx::Instruction;
using ptx::Modifier;
using ptx::Space;
using ptx::Type;

// {a, b, …} as one value: the first element has the lowest bits.
Value* packed(FunctionLowering& f, const ptx::VectorOperand& vector, unsigned width) {
  const auto count = static_cast<unsigned>(vector.elements.size());
  const unsigned part = width / count;
  Value* result = f.ir.getIntN(width, 0);
  for (unsigned k = 0; k < count; ++k) {
    Value* element = resize(f.ir, f.read(vector.elements[k], integer_of_width(part)), width, false);
    result = f.ir.CreateOr(result, f.ir.CreateShl(element, k * part));
  }
  return result;
}

void unpack(FunctionLowering& f, const ptx::VectorOperand& vector, Value* value) {
  const unsigned part = value->getType()->getIntegerBitWidth() / static_cast<unsigned>(vector.elements.size());
  for (unsigned k = 0; k < vector.elements.size(); ++k)
    f.write(vector.elements[k], resize(f.ir, f.ir.CreateLShr(value, k * part), part, false), integer_of_width(part));
}

Value* in_range(FunctionLowering& f, Value* address, Value* start, Value* size) {
  Value* distance = f.ir.CreateSub(address, f.ir.CreatePtrToInt(start, f.ir.getInt64Ty()));
  return f.ir.CreateICmpULT(distance, size);
}

Value* is_in_shared(FunctionLowering& f, Value* address) {
  Value* size = f.ir.CreateZExt(f.call(abi::Mark::total_smem_size), f.ir.getInt64Ty());
  return in_range(f, address, f.shared_base(), size);
}

Value* is_in_const(FunctionLowering& f, Value* address) {
  Value* result = f.ir.getFalse();
  const auto& variables = f.module.source().variables;
  for (std::uint32_t k = 0; k < variables.size(); ++k)
    if (variables[k].space == Space::const_)
      result = f.ir.CreateOr(result, in_range(f, address, f.module.variable(k), f.ir.getInt64(variables[k].size)));
  return result;
}

// Local memory is the thread's stack: known are the variables of this function.
Value* is_in_local(FunctionLowering& f, Value* address) {
  Value* result = f.ir.getFalse();
  for (std::uint32_t k = 0; k < f.source.variables.size(); ++k) {
    if (f.source.variables[k].space != Space::local) continue;
    Value* start = f.memory_of({.kind = ptx::Symbol::Kind::function_variable, .index = k, .name = {}});
    result = f.ir.CreateOr(result, in_range(f, address, start, f.ir.getInt64(f.source.variables[k].size)));
  }
  return result;
}

Value* is_in_parameters(FunctionLowering& f, Value* address) {
  if (!f.source.is_kernel) return f.ir.getFalse();
  return in_range(f, address, f.call(abi::Mark::params), f.ir.getInt64(f.source.parameter_bytes));
}

}  // namespace

void lower_mov(FunctionLowering& f, const Instruction& i) {
  const Type type = i.types[0];
  const auto* parts = std::get_if<ptx::VectorOperand>(&i.operands[1].value);
  Value* value = parts ? packed(f, *parts, ptx::bits(type)) : f.read(i.operands[1], type);
  if (const auto* destination = std::get_if<ptx::VectorOperand>(&i.operands[0].value))
    return unpack(f, *destination, to_bits(f.ir, value));
  f.write(i.operands[0], value, type);
}

// Generic addresses are host addresses. So are those of all spaces but shared, whose addresses are offsets.
void lower_cvta(FunctionLowering& f, const Instruction& i) {
  Value* address = f.read(i.operands[1], i.types[0]);
  Value* wide = resize(f.ir, address, 64, false);
  if (i.space == Space::shared) {
    Value* base = f.ir.CreatePtrToInt(f.shared_base(), f.ir.getInt64Ty());
    address = i.has(Modifier::to) ? f.ir.CreateSub(wide, base) : f.ir.CreateAdd(wide, base);
  } else if (i.space == Space::shared_cluster) {
    address = i.has(Modifier::to) ? cluster_address(f, wide)
                                  : f.ir.CreatePtrToInt(cluster_pointer(f, wide), f.ir.getInt64Ty());
  }
  f.write(i.operands[0], resize(f.ir, address, ptx::bits(i.types[0]), false), i.types[0]);
}

void lower_isspacep(FunctionLowering& f, const Instruction& i) {
  Value* address = f.read(i.operands[1], Type::u64);
  Value* result = nullptr;
  switch (i.space.value_or(Space::global)) {
    case Space::shared: result = is_in_shared(f, address); break;
    case Space::shared_cluster: result = is_in_cluster(f, address); break;
    case Space::const_: result = is_in_const(f, address); break;
    case Space::local: result = is_in_local(f, address); break;
    case Space::param: result = is_in_parameters(f, address); break;
    default: {
      Value* elsewhere = f.ir.CreateOr(is_in_cluster(f, address), is_in_local(f, address));
      result = f.ir.CreateNot(f.ir.CreateOr(elsewhere, is_in_const(f, address)));
    }
  }
  f.write(i.operands[0], result, Type::pred);
}

void lower_mapa(FunctionLowering& f, const Instruction& i) {
  Value* address = f.read(i.operands[1], Type::u64);
  Value* mapped = mapped_to_rank(f, address, f.read(i.operands[2], Type::u32), !i.space);
  f.write(i.operands[0], resize(f.ir, mapped, ptx::bits(i.types[0]), false), i.types[0]);
}

void lower_getctarank(FunctionLowering& f, const Instruction& i) {
  Value* address = f.read(i.operands[1], Type::u64);
  f.write(i.operands[0], rank_of_address(f, i.space ? address : cluster_address(f, address)), Type::u32);
}

}  // namespace softgpu::lower
