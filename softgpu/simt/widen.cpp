#include "softgpu/simt/widen.hpp"

#include <stdexcept>

#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "softgpu/simt/code_length.hpp"

namespace softgpu::simt {

using namespace llvm;

Widener::Widener(Function& thread, Function& gang, const Divergence& divergence, const Layout& layout,
                 const Options& options)
    : thread_(thread),
      gang_(gang),
      divergence_(divergence),
      layout_(layout),
      options_(options),
      context_(thread.getContext()),
      emission_(gang, divergence, options.width),
      builder_(emission_.builder),
      values_(emission_.values),
      mask_(emission_.mask),
      plain_(emission_),
      memory_(emission_, plain_),
      warp_(emission_),
      entry_builder_(context_),
      arguments_(GangArguments::of(gang)),
      thread_values_(entry_builder_, arguments_, options.shape, options.width),
      entry_mask_(Mask::all(context_, options.width)) {}

void Widener::run() {
  make_entry();
  make_slots();
  if (is_long(thread_)) find_fresh_blocks();
  for (const BlockPlan& plan : layout_.blocks())
    starts_[plan.block] = BasicBlock::Create(context_, plan.block->getName(), &gang_);
  for (const BlockPlan& plan : layout_.blocks()) emit_block(plan);
  entry_builder_.CreateBr(starts_[&thread_.getEntryBlock()]);
}

void Widener::make_entry() {
  entry_builder_.SetInsertPoint(BasicBlock::Create(context_, "gang", &gang_));
  if (!options_.full) entry_mask_ = Mask::first(entry_builder_, arguments_.lanes, options_.width);
}

void Widener::make_slots() {
  for (const BasicBlock* block : layout_.ways_out()) {
    gone_[block] = new_slot(gang_, wide(Type::getInt1Ty(context_)), block->getName() + ".gone");
    entry_builder_.CreateStore(Constant::getNullValue(gone_[block]->getAllocatedType()), gone_[block]);
  }
  for (const BlockPlan& plan : layout_.blocks()) {
    if (plan.owns_mask) {
      Type* mask = wide(Type::getInt1Ty(context_));
      arriving_[plan.block] = new_slot(gang_, mask, plan.block->getName() + ".arriving");
      running_[plan.block] = new_slot(gang_, mask, plan.block->getName() + ".running");
      entry_builder_.CreateStore(Constant::getNullValue(mask), arriving_[plan.block]);
    }
    values_.make_slots(gang_, *plan.block);
  }
}

// Whoever comes to a block has run its dominator before, in the same iteration of all loops around both: when the
// dominator starts, nobody waits at the block. Saying so there changes nothing but how far promote_slots() has to look
// back.
void Widener::find_fresh_blocks() {
  const DominatorTree dominators(thread_);
  const LoopInfo& loops = divergence_.loops();
  for (const BlockPlan& plan : layout_.blocks()) {
    const auto is_outside = [&](const Loop* loop) { return loop && !loop->contains(plan.block); };
    const DomTreeNode* above = dominators.getNode(plan.block)->getIDom();
    while (above && is_outside(loops.getLoopFor(above->getBlock()))) above = above->getIDom();
    if (above) fresh_[above->getBlock()].push_back(plan.block);
  }
}

void Widener::forget_arrivals(const BasicBlock* block) {
  if (AllocaInst* arriving = arriving_.lookup(block))
    builder_.CreateStore(Mask::none(context_, options_.width).vector(), arriving);
  if (!divergence_.is_join(block)) return;
  for (const PHINode& phi : block->phis()) values_.forget(phi);
}

// ---- Blocks ------------------------------------------------------------------------------------

void Widener::emit_block(const BlockPlan& plan) {
  values_.start_block();
  source_ = plan.block;
  builder_.SetInsertPoint(starts_[plan.block]);
  for (const BasicBlock* fresh : fresh_.lookup(plan.block)) forget_arrivals(fresh);
  if (plan.owns_mask) {
    const Mask arriving = read_mask(arriving_[plan.block]);
    builder_.CreateStore(Mask::none(context_, options_.width).vector(), arriving_[plan.block]);
    builder_.CreateStore(arriving.vector(), running_[plan.block]);
    if (plan.when_empty) {
      BasicBlock* body = BasicBlock::Create(context_, plan.block->getName() + ".on", &gang_);
      builder_.CreateCondBr(arriving.has_any(builder_), body, starts_[plan.when_empty]);
      builder_.SetInsertPoint(body);
    }
  }
  mask_ = mask_of(layout_.mask_owner(plan.block));
  for (Instruction& instruction : *plan.block)
    if (!isa<PHINode>(instruction) && !instruction.isTerminator()) emit_instruction(instruction);
  emit_terminator(plan);
}

Mask Widener::read_mask(AllocaInst* slot) { return Mask(builder_.CreateLoad(slot->getAllocatedType(), slot, "mask")); }

Mask Widener::mask_of(const BasicBlock* owner) {
  return owner == &thread_.getEntryBlock() ? entry_mask_ : read_mask(running_[owner]);
}

void Widener::jump(BasicBlock* target) {
  if (target) {
    builder_.CreateBr(starts_[target]);
  } else {
    builder_.CreateUnreachable();
  }
}

void Widener::emit_terminator(const BlockPlan& plan) {
  Instruction* terminator = plan.block->getTerminator();
  if (isa<ReturnInst>(terminator)) {
    builder_.CreateRetVoid();
    return;
  }
  auto* conditional = dyn_cast<BranchInst>(terminator);
  if (!conditional) throw std::logic_error("a gang's code may end blocks in branches and returns only");
  if (conditional->isConditional()) {
    if (divergence_.is_divergent(plan.block))
      emit_divergent_branch(plan, *conditional);
    else
      emit_uniform_branch(plan, *conditional);
    return;
  }
  take(edge_to(conditional->getSuccessor(0), mask_));
  jump(plan.next[0]);
}

void Widener::emit_uniform_branch(const BlockPlan& plan, BranchInst& conditional) {
  Value* condition = values_.base(conditional.getCondition());
  const Edge edges[] = {edge_to(conditional.getSuccessor(0), mask_), edge_to(conditional.getSuccessor(1), mask_)};
  BasicBlock* sides[2];
  for (BasicBlock*& side : sides) side = BasicBlock::Create(context_, plan.block->getName() + ".side", &gang_);
  builder_.CreateCondBr(condition, sides[0], sides[1]);
  for (unsigned i = 0; i < 2; ++i) {
    builder_.SetInsertPoint(sides[i]);
    take(edges[i]);
    jump(plan.next[i]);
  }
}

void Widener::emit_divergent_branch(const BlockPlan& plan, BranchInst& conditional) {
  Value* condition = values_.vector(conditional.getCondition());
  const Mask masks[] = {mask_.where(builder_, condition), mask_.where(builder_, builder_.CreateNot(condition))};
  const Edge edges[] = {edge_to(conditional.getSuccessor(0), masks[0]), edge_to(conditional.getSuccessor(1), masks[1])};
  for (const Edge& edge : edges) take(edge);
  for (unsigned i = 0; i < 2; ++i)
    if (Layout::is_back_edge(divergence_, plan.block, conditional.getSuccessor(i))) {
      BasicBlock* leave = BasicBlock::Create(context_, plan.block->getName() + ".leave", &gang_);
      builder_.CreateCondBr(masks[i].has_any(builder_), starts_[conditional.getSuccessor(i)], leave);
      builder_.SetInsertPoint(leave);
    }
  jump(plan.next[0]);
}

// What an edge does, with all values read before anything is written: phis of one block may feed each other.
Widener::Edge Widener::edge_to(BasicBlock* target, const Mask& mask) {
  Edge edge{target, mask, {}};
  for (PHINode& phi : target->phis())
    edge.phis.push_back({&phi, values_.incoming(phi, phi.getIncomingValueForBlock(source_))});
  return edge;
}

void Widener::take(const Edge& edge) {
  const BlockPlan& plan = layout_.of(edge.target);
  if (plan.owns_mask) {
    Value* arrivals = edge.mask.vector();
    const Loop* loop = divergence_.loops().getLoopFor(edge.target);
    const bool starts_iteration = loop && loop->getHeader() == edge.target;
    // Lanes add up over several edges, and over the iterations of a loop that they leave.
    const bool only_way = edge.target->getSinglePredecessor() && divergence_.loops().getLoopFor(source_) == loop;
    if (!starts_iteration && !only_way)
      arrivals = builder_.CreateOr(builder_.CreateLoad(arrivals->getType(), arriving_[edge.target]), arrivals);
    builder_.CreateStore(arrivals, arriving_[edge.target]);
    if (AllocaInst* gone = gone_.lookup(edge.target))
      builder_.CreateStore(builder_.CreateOr(builder_.CreateLoad(arrivals->getType(), gone), arrivals), gone);
  }
  for (const auto& [phi, value] : edge.phis) values_.assign(*phi, value, edge.mask, divergence_.is_join(edge.target));
}

// ---- Instructions ------------------------------------------------------------------------------

void Widener::emit_instruction(Instruction& original) {
  builder_.SetCurrentDebugLocation(original.getDebugLoc());
  switch (original.getOpcode()) {
    case Instruction::Alloca: return memory_.emit_alloca(cast<AllocaInst>(original));
    case Instruction::Load: return memory_.emit_load(cast<LoadInst>(original));
    case Instruction::Store: return memory_.emit_store(cast<StoreInst>(original));
    case Instruction::AtomicRMW:
    case Instruction::AtomicCmpXchg: return memory_.emit_atomic(original);
    case Instruction::Call: return emit_call(cast<CallInst>(original));
    case Instruction::Fence: builder_.Insert(original.clone()); return;
    case Instruction::ExtractValue: {
      auto& extract = cast<ExtractValueInst>(original);
      values_.define(original,
                     GangValue::of_vector(values_.element(extract.getAggregateOperand(), extract.getIndices()[0])));
      return;
    }
    default: break;
  }
  plain_.emit(original);
}

}  // namespace softgpu::simt
