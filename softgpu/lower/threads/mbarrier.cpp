// Barriers in shared memory (mbarrier) and asynchronous copies. A copy is done where it is started, which is one of the
// times at which it may happen; nothing is left to wait for.
#include "softgpu/abi/mbarrier.hpp"

#include "softgpu/lower/memory/memory_order.hpp"
#include "softgpu/lower/threads/threads.hpp"

namespace softgpu::lower {
namespace {

using abi::Mbarrier;
using llvm::Value;
using ptx::Instruction;
using ptx::Modifier;
using ptx::Space;
using ptx::Type;

Value* update(FunctionLowering& f, Value* object, Value* arrivals, Value* bytes, Value* dropped) {
  return f.call(RuntimeCall::mbarrier_update, {object, arrivals, bytes, dropped});
}

Value* phase_of(FunctionLowering& f, Value* object) { return f.ir.CreateLShr(object, Mbarrier::kPhaseShift); }

// [a], count
void initialise(FunctionLowering& f, const Instruction& i) {
  Value* count = f.ir.CreateAnd(f.read(i.operands[1], Type::u64), Mbarrier::kCountMask);
  Value* object = f.ir.CreateOr(count, f.ir.CreateShl(count, Mbarrier::kExpectedShift));
  f.ir.CreateAlignedStore(object, f.pointer(i.operands[0], i.space), llvm::Align(8));
}

// [a], bytes
void change_bytes(FunctionLowering& f, const Instruction& i) {
  Value* bytes = f.read(i.operands[1], Type::u32);
  Value* none = f.ir.getInt32(0);
  update(f, f.pointer(i.operands[0], i.space), none, i.has(Modifier::complete_tx) ? f.ir.CreateNeg(bytes) : bytes,
         none);
}

// d, [a]{, count or bytes}
void arrive(FunctionLowering& f, const Instruction& i) {
  Value* none = f.ir.getInt32(0);
  Value* given = i.operands.size() > 2 ? f.read(i.operands[2], Type::u32) : f.ir.getInt32(1);
  const bool expects = i.has(Modifier::expect_tx);
  Value* arrivals = expects ? f.ir.getInt32(1) : given;
  Value* state = update(f, f.pointer(i.operands[1], i.space), arrivals, expects ? given : none,
                        i.has(Modifier::arrive_drop) ? arrivals : none);
  f.write(i.operands[0], state, Type::b64);
}

// p, [a], state or parity
void test(FunctionLowering& f, const Instruction& i) {
  llvm::LoadInst* object = f.ir.CreateAlignedLoad(f.ir.getInt64Ty(), f.pointer(i.operands[1], i.space), llvm::Align(8));
  object->setAtomic(ordering_of(i, llvm::AtomicOrdering::Acquire), llvm::SyncScope::SingleThread);
  Value* phase = i.has(Modifier::parity) ? f.ir.CreateAnd(f.read(i.operands[2], Type::u64), 1)
                                         : phase_of(f, f.read(i.operands[2], Type::b64));
  f.write(i.operands[0], f.ir.CreateICmpNE(phase_of(f, object), phase), Type::pred);
}

bool is_predicate(const FunctionLowering& f, const ptx::Operand& operand) {
  const auto* reg = std::get_if<ptx::Register>(&operand.value);
  return reg && f.source.registers[reg->index].type == Type::pred;
}

// [d], [a], size{, bytes of the source, or whether to ignore it}{, policy}
void copy_few(FunctionLowering& f, const Instruction& i) {
  const std::uint64_t size = std::get<ptx::Immediate>(i.operands[2].value).bits;
  Value* destination = f.pointer(i.operands[0], i.space);
  Value* source = f.pointer(i.operands[1], Space::global);
  const std::size_t policies = i.has(Modifier::l2_cache_hint) ? 1 : 0;
  if (i.operands.size() == 3 + policies) {
    llvm::SmallVector<Value*, 4> words;
    for (std::uint64_t at = 0; at < size; at += 4)
      words.push_back(f.ir.CreateAlignedLoad(f.ir.getInt32Ty(), f.displaced(source, at), llvm::Align(4)));
    for (std::size_t k = 0; k < words.size(); ++k)
      f.ir.CreateAlignedStore(words[k], f.displaced(destination, 4 * k), llvm::Align(4));
    return;
  }
  Value* all = f.ir.getInt32(static_cast<std::uint32_t>(size));
  Value* from_source = is_predicate(f, i.operands[3])
                           ? f.ir.CreateSelect(f.read_predicate(i.operands[3]), f.ir.getInt32(0), all)
                           : f.read(i.operands[3], Type::u32);
  f.call(RuntimeCall::copy_and_fill, {destination, source, from_source, all});
}

// [d], [a], size{, [m]}{, policy}
void copy_many(FunctionLowering& f, const Instruction& i) {
  Value* size = f.read(i.operands[2], Type::u32);
  const Space from = i.has(Modifier::from_global) ? Space::global : Space::shared;
  f.call(RuntimeCall::copy, {f.pointer(i.operands[0], i.space), f.pointer(i.operands[1], from), size});
  if (!i.has(Modifier::completes_mbarrier)) return;
  Value* none = f.ir.getInt32(0);
  update(f, f.pointer(i.operands[3], i.space), none, f.ir.CreateNeg(size), none);
}

}  // namespace

void lower_mbarrier(FunctionLowering& f, const Instruction& i) {
  if (i.has(Modifier::init)) return initialise(f, i);
  if (i.has(Modifier::inval)) return;
  if (i.has(Modifier::test_wait) || i.has(Modifier::try_wait)) return test(f, i);
  if (i.has(Modifier::arrive) || i.has(Modifier::arrive_drop)) return arrive(f, i);
  if (!i.has(Modifier::pending_count)) return change_bytes(f, i);
  Value* pending = f.ir.CreateAnd(f.read(i.operands[1], Type::b64), Mbarrier::kCountMask);
  f.write(i.operands[0], f.ir.CreateTrunc(pending, f.ir.getInt32Ty()), Type::u32);
}

void lower_cp(FunctionLowering& f, const Instruction& i) {
  if (i.has(Modifier::mbarrier)) {
    // Without .noinc the arrival is one more than the barrier was made for, and so changes nothing.
    if (!i.has(Modifier::noinc)) return;
    Value* none = f.ir.getInt32(0);
    update(f, f.pointer(i.operands[0], i.space), f.ir.getInt32(1), none, none);
  } else if (i.operands.size() < 3) {
    return;  // commits and waits: there is nothing under way
  } else if (i.has(Modifier::bulk)) {
    copy_many(f, i);
  } else {
    copy_few(f, i);
  }
}

}  // namespace softgpu::lower
