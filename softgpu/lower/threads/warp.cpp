// Exchange between the lanes of a warp.
#include "softgpu/lower/threads/threads.hpp"

namespace softgpu::lower {
namespace {

using abi::Mark;
using llvm::Value;
using ptx::Instruction;
using ptx::Modifier;
using ptx::Type;

// The member mask is the last operand of the .sync forms; without .sync all active lanes take part.
Value* members(FunctionLowering& f, const Instruction& i) {
  if (i.has(Modifier::sync)) return f.read(i.operands.back(), Type::u32);
  return f.call(Mark::activemask);
}

struct Shuffle {
  Modifier modifier;
  Mark value, predicate;
};

constexpr Shuffle kShuffles[] = {
    {Modifier::up, Mark::shfl_up, Mark::shfl_up_p},
    {Modifier::down, Mark::shfl_down, Mark::shfl_down_p},
    {Modifier::bfly, Mark::shfl_bfly, Mark::shfl_bfly_p},
    {Modifier::idx, Mark::shfl_idx, Mark::shfl_idx_p},
};

struct Reduction {
  Modifier modifier;
  Mark as_unsigned, as_signed;
};

constexpr Reduction kReductions[] = {
    {Modifier::add, Mark::redux_add, Mark::redux_add},     {Modifier::min, Mark::redux_min_u, Mark::redux_min_s},
    {Modifier::max, Mark::redux_max_u, Mark::redux_max_s}, {Modifier::and_, Mark::redux_and, Mark::redux_and},
    {Modifier::or_, Mark::redux_or, Mark::redux_or},       {Modifier::xor_, Mark::redux_xor, Mark::redux_xor},
};

// d|p, d or _: writes what is wanted.
void write_pair(FunctionLowering& f, const ptx::Operand& destination, Value* d, Value* p) {
  if (const auto* pair = std::get_if<ptx::PredicatePair>(&destination.value)) {
    f.write_register(pair->first, d);
    f.write_register(pair->second, p);
  } else {
    f.write(destination, d, Type::b32);
  }
}

bool wants_predicate(const ptx::Operand& destination) {
  const auto* pair = std::get_if<ptx::PredicatePair>(&destination.value);
  return pair && pair->second != ptx::kNoRegister;
}

}  // namespace

void lower_shfl(FunctionLowering& f, const Instruction& i) {
  Value* a = f.read(i.operands[1], Type::b32);
  Value* b = f.read(i.operands[2], Type::u32);
  Value* c = f.read(i.operands[3], Type::u32);
  Value* mask = members(f, i);
  for (const Shuffle& shuffle : kShuffles) {
    if (!i.has(shuffle.modifier)) continue;
    Value* d = f.call(shuffle.value, {a, b, c, mask});
    Value* p = wants_predicate(i.operands[0]) ? f.call(shuffle.predicate, {a, b, c, mask}) : nullptr;
    return write_pair(f, i.operands[0], d, p);
  }
}

void lower_vote(FunctionLowering& f, const Instruction& i) {
  const Mark mark = i.has(Modifier::all)   ? Mark::vote_all
                    : i.has(Modifier::any) ? Mark::vote_any
                    : i.has(Modifier::uni) ? Mark::vote_uni
                                           : Mark::vote_ballot;
  Value* predicate = f.read_predicate(i.operands[1]);
  f.write(i.operands[0], f.call(mark, {predicate, members(f, i)}), i.types[0]);
}

void lower_match(FunctionLowering& f, const Instruction& i) {
  const bool wide = ptx::bits(i.types[0]) == 64;
  Value* value = f.read(i.operands[1], i.types[0]);
  if (i.has(Modifier::any)) {
    const Mark mark = wide ? Mark::match_any_64 : Mark::match_any_32;
    return f.write(i.operands[0], f.call(mark, {value, members(f, i)}), Type::b32);
  }
  Value* same = f.call(wide ? Mark::match_all_64 : Mark::match_all_32, {value, members(f, i)});
  write_pair(f, i.operands[0], same, f.ir.CreateIsNotNull(same));
}

void lower_activemask(FunctionLowering& f, const Instruction& i) {
  f.write(i.operands[0], f.call(Mark::activemask), Type::b32);
}

void lower_redux(FunctionLowering& f, const Instruction& i) {
  for (const Reduction& reduction : kReductions) {
    if (!i.has(reduction.modifier)) continue;
    const Mark mark = ptx::is_signed(i.types[0]) ? reduction.as_signed : reduction.as_unsigned;
    return f.write(i.operands[0], f.call(mark, {f.read(i.operands[1], i.types[0]), members(f, i)}), i.types[0]);
  }
}

// The lowest member is the leader.
void lower_elect(FunctionLowering& f, const Instruction& i) {
  Value* mask = members(f, i);
  f.call(Mark::warp_sync, {mask});
  Value* leader = f.intrinsic(llvm::Intrinsic::cttz, {mask, f.ir.getFalse()});
  write_pair(f, i.operands[0], leader, f.ir.CreateICmpEQ(leader, f.call(Mark::laneid)));
}

}  // namespace softgpu::lower
