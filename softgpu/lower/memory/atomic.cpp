// Read-modify-write.
#include "softgpu/lower/floating_point/elementwise.hpp"
#include "softgpu/lower/function/cluster.hpp"
#include "softgpu/lower/memory/memory.hpp"
#include "softgpu/lower/memory/memory_order.hpp"
#include "softgpu/lower/values/float_formats.hpp"

namespace softgpu::lower {
namespace {

using llvm::AtomicRMWInst;
using llvm::Value;
using ptx::Instruction;
using ptx::Modifier;
using ptx::Type;

struct Operation {
  Modifier modifier;
  AtomicRMWInst::BinOp as_unsigned, as_signed, as_float;
};

constexpr Operation kOperations[] = {
    {Modifier::and_, AtomicRMWInst::And, AtomicRMWInst::And, AtomicRMWInst::BAD_BINOP},
    {Modifier::or_, AtomicRMWInst::Or, AtomicRMWInst::Or, AtomicRMWInst::BAD_BINOP},
    {Modifier::xor_, AtomicRMWInst::Xor, AtomicRMWInst::Xor, AtomicRMWInst::BAD_BINOP},
    {Modifier::exch, AtomicRMWInst::Xchg, AtomicRMWInst::Xchg, AtomicRMWInst::Xchg},
    {Modifier::add, AtomicRMWInst::Add, AtomicRMWInst::Add, AtomicRMWInst::FAdd},
    {Modifier::inc, AtomicRMWInst::UIncWrap, AtomicRMWInst::UIncWrap, AtomicRMWInst::BAD_BINOP},
    {Modifier::dec, AtomicRMWInst::UDecWrap, AtomicRMWInst::UDecWrap, AtomicRMWInst::BAD_BINOP},
    {Modifier::min, AtomicRMWInst::UMin, AtomicRMWInst::Min, AtomicRMWInst::BAD_BINOP},
    {Modifier::max, AtomicRMWInst::UMax, AtomicRMWInst::Max, AtomicRMWInst::BAD_BINOP},
};

AtomicRMWInst::BinOp operation_of(FunctionLowering& f, const Instruction& i) {
  for (const Operation& operation : kOperations) {
    if (!i.has(operation.modifier)) continue;
    if (ptx::is_float(element_of(i.types[0]))) return operation.as_float;
    return ptx::is_signed(i.types[0]) ? operation.as_signed : operation.as_unsigned;
  }
  f.refuse(i, "has no operation");
}

// The threads of a cluster run on one thread of the host, so nobody else sees its shared memory. The operation stays
// one instruction all the same, for widening to take apart lane by lane; jit/ makes plain code of what is left.
llvm::SyncScope::ID observers_of(const Instruction& i) {
  const bool in_cluster = i.space == ptx::Space::shared || i.space == ptx::Space::shared_cluster;
  return in_cluster ? llvm::SyncScope::SingleThread : llvm::SyncScope::System;
}

llvm::Align natural_alignment(Value* value) { return llvm::Align(value->getType()->getScalarSizeInBits() / 8); }

AtomicRMWInst* read_modify_write(FunctionLowering& f, const Instruction& i, Value* pointer, Value* operand) {
  const AtomicRMWInst::BinOp operation = operation_of(f, i);
  const llvm::Align alignment = natural_alignment(operand);
  const llvm::AtomicOrdering order = ordering_of(i, llvm::AtomicOrdering::Monotonic);
  return f.ir.CreateAtomicRMW(operation, pointer, operand, alignment, order, observers_of(i));
}

AtomicRMWInst* add_flushed(FunctionLowering& f, const Instruction& i, Value* pointer, Value* operand) {
  AtomicRMWInst* update = read_modify_write(f, i, pointer, operand);
  update->setSyncScopeID(f.module.context().getOrInsertSyncScopeID(abi::kFlushes));
  return update;
}

// Subnormal numbers count in shared memory, and not in global memory. A generic address may be of either.
Value* add_float(FunctionLowering& f, const Instruction& i, Value* pointer, Value* operand) {
  if (observers_of(i) == llvm::SyncScope::SingleThread) return read_modify_write(f, i, pointer, operand);
  if (i.space) return add_flushed(f, i, pointer, operand);
  Builder& ir = f.ir;
  llvm::BasicBlock* shared = f.new_block("add.shared");
  llvm::BasicBlock* global = f.new_block("add.global");
  llvm::BasicBlock* done = f.new_block("added.float");
  ir.CreateCondBr(is_in_cluster(f, ir.CreatePtrToInt(pointer, ir.getInt64Ty())), shared, global);
  ir.SetInsertPoint(shared);
  Value* from_shared = read_modify_write(f, i, pointer, operand);
  ir.CreateBr(done);
  ir.SetInsertPoint(global);
  Value* from_global = add_flushed(f, i, pointer, operand);
  ir.CreateBr(done);
  ir.SetInsertPoint(done);
  llvm::PHINode* old = ir.CreatePHI(operand->getType(), 2);
  old->addIncoming(from_shared, shared);
  old->addIncoming(from_global, global);
  return old;
}

Value* bfloat_sum(Builder& ir, Value* a, Value* b) {
  return narrow(ir, ir.CreateFAdd(widen(ir, a, Type::bf16), widen(ir, b, Type::bf16)), Type::bf16);
}

struct Exchanged {
  Value *old, *success;
};

Exchanged compare_exchange(FunctionLowering& f, const Instruction& i, Value* pointer, Value* expected, Value* wanted) {
  const llvm::AtomicOrdering order = ordering_of(i, llvm::AtomicOrdering::Monotonic);
  const llvm::AtomicOrdering on_failure = llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(order);
  llvm::AtomicCmpXchgInst* result = f.ir.CreateAtomicCmpXchg(pointer, expected, wanted, natural_alignment(expected),
                                                             order, on_failure, observers_of(i));
  return {f.ir.CreateExtractValue(result, 0), f.ir.CreateExtractValue(result, 1)};
}

// LLVM would call a library function to round to bfloat, so the loop of compare and exchange is made here.
Value* add_bfloat(FunctionLowering& f, const Instruction& i, Value* pointer, Value* operand) {
  Builder& ir = f.ir;
  const llvm::Align alignment = natural_alignment(operand);
  llvm::LoadInst* first = ir.CreateAlignedLoad(operand->getType(), pointer, alignment);
  first->setAtomic(llvm::AtomicOrdering::Monotonic);
  llvm::BasicBlock* before = ir.GetInsertBlock();
  llvm::BasicBlock* loop = f.new_block("add.bfloat");
  llvm::BasicBlock* done = f.new_block("added.bfloat");
  ir.CreateBr(loop);
  ir.SetInsertPoint(loop);
  llvm::PHINode* expected = ir.CreatePHI(operand->getType(), 2);
  const Exchanged exchanged = compare_exchange(f, i, pointer, expected, bfloat_sum(ir, expected, operand));
  expected->addIncoming(first, before);
  expected->addIncoming(exchanged.old, ir.GetInsertBlock());
  ir.CreateCondBr(exchanged.success, done, loop);
  ir.SetInsertPoint(done);
  return exchanged.old;
}

Value* compare_and_swap(FunctionLowering& f, const Instruction& i, Value* pointer, const ptx::Operand* operands) {
  Value* expected = f.read(operands[0], i.types[0]);
  Value* wanted = f.read(operands[1], i.types[0]);
  return compare_exchange(f, i, pointer, expected, wanted).old;
}

// Packed halves are atomic one by one, as PTX says.
Value* update(FunctionLowering& f, const Instruction& i, const ptx::Operand& address, const ptx::Operand* operands) {
  Value* pointer = f.pointer(address, i.space);
  if (i.has(Modifier::cas)) return compare_and_swap(f, i, pointer, operands);
  const Type type = i.types[0];
  const Type element = element_of(type);
  const Elements values = split(f, f.read(operands[0], type), type);
  Elements old;
  for (std::size_t k = 0; k < values.size(); ++k) {
    Value* place = f.displaced(pointer, k * ptx::bits(element) / 8);
    const bool adds_floats = element == Type::f32 && i.has(Modifier::add);
    old.push_back(element == Type::bf16 ? add_bfloat(f, i, place, values[k])
                  : adds_floats         ? add_float(f, i, place, values[k])
                                        : read_modify_write(f, i, place, values[k]));
  }
  return join(f, old);
}

}  // namespace

void lower_atom(FunctionLowering& f, const Instruction& i) {
  f.write(i.operands[0], update(f, i, i.operands[1], &i.operands[2]), i.types[0]);
}

void lower_red(FunctionLowering& f, const Instruction& i) { update(f, i, i.operands[0], &i.operands[1]); }

}  // namespace softgpu::lower
