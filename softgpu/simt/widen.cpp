#include "softgpu/simt/widen.hpp"

#include <stdexcept>

#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/MDBuilder.h"
#include "softgpu/simt/marks.hpp"

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
      builder_(context_),
      entry_builder_(context_),
      arguments_(GangArguments::of(gang)),
      thread_values_(entry_builder_, arguments_, options.shape, options.width) {}

void Widener::run() {
  make_entry();
  make_slots();
  for (const BlockPlan& plan : layout_.blocks())
    starts_[plan.block] = BasicBlock::Create(context_, plan.block->getName(), &gang_);
  for (const BlockPlan& plan : layout_.blocks()) emit_block(plan);
  entry_builder_.CreateBr(starts_[&thread_.getEntryBlock()]);
}

void Widener::make_entry() {
  entry_ = BasicBlock::Create(context_, "gang", &gang_);
  entry_builder_.SetInsertPoint(entry_);
  if (options_.full) return;
  Value* lanes = entry_builder_.CreateVectorSplat(options_.width, arguments_.lanes);
  SmallVector<Constant*, 32> numbers;
  for (unsigned i = 0; i < options_.width; ++i) numbers.push_back(entry_builder_.getInt32(i));
  entry_mask_ = entry_builder_.CreateICmpULT(ConstantVector::get(numbers), lanes, "threads_on");
}

AllocaInst* Widener::new_slot(Type* type, const Twine& name) {
  IRBuilder<> at_start(entry_, entry_->begin());
  return at_start.CreateAlloca(type, nullptr, name);
}

void Widener::make_slots() {
  for (const BasicBlock* block : layout_.ways_out()) {
    gone_[block] = new_slot(wide(Type::getInt1Ty(context_)), block->getName() + ".gone");
    entry_builder_.CreateStore(Constant::getNullValue(gone_[block]->getAllocatedType()), gone_[block]);
  }
  for (const BlockPlan& plan : layout_.blocks()) {
    if (plan.owns_mask) {
      Type* mask = wide(Type::getInt1Ty(context_));
      arriving_[plan.block] = new_slot(mask, plan.block->getName() + ".arriving");
      running_[plan.block] = new_slot(mask, plan.block->getName() + ".running");
      entry_builder_.CreateStore(Constant::getNullValue(mask), arriving_[plan.block]);
    }
    for (Instruction& instruction : *plan.block) {
      if (instruction.getType()->isVoidTy() || instruction.getType()->isStructTy()) continue;
      if (!isa<PHINode>(instruction) && !instruction.isUsedOutsideOfBlock(plan.block)) continue;
      const Shape s = shape(&instruction);
      Slots& slots = slots_[&instruction];
      if (s.has_base()) slots.base = new_slot(instruction.getType(), instruction.getName());
      if (!s.has_base()) slots.vector = new_slot(wide(instruction.getType()), instruction.getName());
      if (!s.guarded) continue;
      slots.guard = new_slot(Type::getInt1Ty(context_), instruction.getName() + ".guard");
      slots.deviation = new_slot(wide(offset_type(instruction.getType())), instruction.getName() + ".deviation");
    }
  }
}

// ---- Blocks ------------------------------------------------------------------------------------

void Widener::emit_block(const BlockPlan& plan) {
  local_.clear();
  source_ = plan.block;
  builder_.SetInsertPoint(starts_[plan.block]);
  if (plan.owns_mask) {
    Value* arriving = builder_.CreateLoad(wide(builder_.getInt1Ty()), arriving_[plan.block]);
    builder_.CreateStore(Constant::getNullValue(arriving->getType()), arriving_[plan.block]);
    builder_.CreateStore(arriving, running_[plan.block]);
    if (plan.when_empty) {
      BasicBlock* body = BasicBlock::Create(context_, plan.block->getName() + ".on", &gang_);
      builder_.CreateCondBr(any(arriving), body, starts_[plan.when_empty]);
      builder_.SetInsertPoint(body);
    }
  }
  mask_ = mask_of(layout_.mask_owner(plan.block));
  for (Instruction& instruction : *plan.block)
    if (!isa<PHINode>(instruction) && !instruction.isTerminator()) emit_instruction(instruction);
  emit_terminator(plan);
}

Value* Widener::mask_of(const BasicBlock* owner) {
  if (owner == &thread_.getEntryBlock()) return entry_mask_;
  return builder_.CreateLoad(wide(builder_.getInt1Ty()), running_[owner], "mask");
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
  Value* condition = base_of(conditional.getCondition());
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
  Value* condition = vector_of(conditional.getCondition());
  Value* masks[] = {both(mask_, condition), both(mask_, builder_.CreateNot(condition))};
  const Edge edges[] = {edge_to(conditional.getSuccessor(0), masks[0]), edge_to(conditional.getSuccessor(1), masks[1])};
  for (const Edge& edge : edges) take(edge);
  for (unsigned i = 0; i < 2; ++i)
    if (Layout::is_back_edge(divergence_, plan.block, conditional.getSuccessor(i))) {
      BasicBlock* leave = BasicBlock::Create(context_, plan.block->getName() + ".leave", &gang_);
      builder_.CreateCondBr(any(masks[i]), starts_[conditional.getSuccessor(i)], leave);
      builder_.SetInsertPoint(leave);
    }
  jump(plan.next[0]);
}

// What an edge does, with all values read before anything is written: phis of one block may feed each other.
Widener::Edge Widener::edge_to(BasicBlock* target, Value* mask) {
  Edge edge{target, mask, {}};
  for (PHINode& phi : target->phis()) {
    Value* incoming = phi.getIncomingValueForBlock(source_);
    const Shape s = shape(&phi);
    Wide value;
    if (s.has_base()) value.base = base_of(incoming);
    if (s.guarded) {
      value.guard = shape(incoming).guarded ? guard_of(incoming) : builder_.getTrue();
      value.deviation = deviation_of(incoming);
    }
    if (!s.has_base()) value.vector = vector_of(incoming);
    edge.phis.push_back({&phi, value});
  }
  return edge;
}

void Widener::take(const Edge& edge) {
  const BlockPlan& plan = layout_.of(edge.target);
  if (plan.owns_mask) {
    Value* arrivals = edge.mask ? edge.mask : Constant::getAllOnesValue(wide(builder_.getInt1Ty()));
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
  for (const auto& [phi, value] : edge.phis) {
    const Slots& slots = slots_[phi];
    if (slots.base) builder_.CreateStore(value.base, slots.base);
    if (slots.guard) builder_.CreateStore(value.guard, slots.guard);
    if (slots.deviation) builder_.CreateStore(value.deviation, slots.deviation);
    if (!slots.vector) continue;
    Value* vector = value.vector;
    if (edge.mask && divergence_.is_join(edge.target))
      vector = builder_.CreateSelect(edge.mask, vector, builder_.CreateLoad(vector->getType(), slots.vector));
    builder_.CreateStore(vector, slots.vector);
  }
}

// ---- Values ------------------------------------------------------------------------------------

Value* Widener::base_of(Value* original) {
  if (isa<Constant>(original)) return original;
  Wide& value = local_[original];
  if (!value.base) {
    AllocaInst* slot = slots_[original].base;
    if (!slot) throw std::logic_error("a value without a base is used as one");
    value.base = builder_.CreateLoad(slot->getAllocatedType(), slot, original->getName());
  }
  return value.base;
}

Value* Widener::guard_of(Value* original) {
  if (isa<Constant>(original) || !shape(original).guarded) return nullptr;
  Wide& value = local_[original];
  if (!value.guard) value.guard = builder_.CreateLoad(builder_.getInt1Ty(), slots_[original].guard);
  return value.guard;
}

Value* Widener::deviation_of(Value* original) {
  if (isa<Constant>(original) || !shape(original).guarded)
    return Constant::getNullValue(wide(offset_type(original->getType())));
  Wide& value = local_[original];
  if (!value.deviation) {
    AllocaInst* slot = slots_[original].deviation;
    value.deviation = builder_.CreateLoad(slot->getAllocatedType(), slot);
  }
  return value.deviation;
}

Value* Widener::lanes_from_base(Value* original) {
  const Shape s = shape(original);
  Value* lanes = add_lane_offsets(base_of(original), s.stride);
  if (!s.guarded) return lanes;
  Value* deviation = deviation_of(original);
  if (original->getType()->isPointerTy()) return builder_.CreateGEP(builder_.getInt8Ty(), lanes, deviation);
  return builder_.CreateAdd(lanes, deviation);
}

Value* Widener::vector_of(Value* original) {
  if (auto* constant = dyn_cast<Constant>(original))
    return ConstantVector::getSplat(ElementCount::getFixed(options_.width), constant);
  if (Value* known = local_[original].vector) return known;
  Value* vector = nullptr;
  if (shape(original).has_base()) {
    vector = lanes_from_base(original);
  } else {
    AllocaInst* slot = slots_[original].vector;
    if (!slot) throw std::logic_error("a value is used before it is defined");
    vector = builder_.CreateLoad(slot->getAllocatedType(), slot, original->getName());
  }
  return local_[original].vector = vector;
}

Value* Widener::add_lane_offsets(Value* base, std::int64_t stride) {
  Value* splat = builder_.CreateVectorSplat(options_.width, base);
  if (stride == 0) return splat;
  Type* element = offset_type(base->getType());
  SmallVector<Constant*, 32> offsets;
  for (unsigned lane = 0; lane < options_.width; ++lane)
    offsets.push_back(ConstantInt::get(element, static_cast<std::uint64_t>(stride) * lane, true));
  if (base->getType()->isPointerTy())
    return builder_.CreateGEP(builder_.getInt8Ty(), splat, ConstantVector::get(offsets));
  return builder_.CreateAdd(splat, ConstantVector::get(offsets));
}

void Widener::define(Instruction& original, Wide value) {
  local_[&original] = value;
  const auto found = slots_.find(&original);
  if (found == slots_.end()) return;
  const Slots& slots = found->second;
  if (slots.base) builder_.CreateStore(value.base, slots.base);
  if (slots.vector) builder_.CreateStore(value.vector, slots.vector);
  if (slots.guard) builder_.CreateStore(value.guard, slots.guard);
  if (slots.deviation) builder_.CreateStore(value.deviation, slots.deviation);
}

// ---- Instructions ------------------------------------------------------------------------------

void Widener::emit_instruction(Instruction& original) {
  switch (original.getOpcode()) {
    case Instruction::Alloca: return emit_alloca(cast<AllocaInst>(original));
    case Instruction::Load: return emit_load(cast<LoadInst>(original));
    case Instruction::Store: return emit_store(cast<StoreInst>(original));
    case Instruction::AtomicRMW:
    case Instruction::AtomicCmpXchg: return emit_atomic(original);
    case Instruction::Call: return emit_call(cast<CallInst>(original));
    case Instruction::Fence: builder_.Insert(original.clone()); return;
    case Instruction::ExtractValue: {
      auto& extract = cast<ExtractValueInst>(original);
      Value* aggregate = extract.getAggregateOperand();
      define(original, {nullptr, extract.getIndices()[0] == 0 ? local_[aggregate].vector : success_[aggregate]});
      return;
    }
    default: break;
  }
  if (shape(&original).has_base()) return emit_at_lane_0(original);
  define(original, {nullptr, widen_operation(original)});
}

// What holds for lane 0 need not hold for a lane that runs: the flags that make a result poison go.
void Widener::emit_at_lane_0(Instruction& original) {
  const Shape s = shape(&original);
  Instruction* copy = original.clone();
  // Lane 0 may be off and its bits not disjoint; a sum has the stride all the same.
  if (const auto* disjoint = dyn_cast<PossiblyDisjointInst>(&original);
      disjoint && disjoint->isDisjoint() && s.is_strided()) {
    copy->deleteValue();
    copy = BinaryOperator::CreateAdd(original.getOperand(0), original.getOperand(1));
  }
  for (Use& operand : copy->operands()) operand.set(base_of(operand.get()));
  if (s.is_strided() || any_of(original.operands(), [&](Value* v) { return shape(v).is_strided(); }))
    copy->dropPoisonGeneratingFlags();
  builder_.Insert(copy, original.getName());
  Wide value{copy};
  if (s.guarded) {
    value.guard = combine_guards(original);
    value.deviation = combine_deviations(original, value);
  }
  define(original, value);
}

// The stride of the result holds when the operands' strides hold and, for an extension, when adding the lanes'
// offsets to lane 0's value does not wrap in the narrow type.
Value* Widener::combine_guards(Instruction& original) {
  Value* guard = builder_.getTrue();
  for (Value* operand : original.operands())
    if (Value* of_operand = guard_of(operand)) guard = builder_.CreateAnd(guard, of_operand);
  const auto check_narrow = [&](Value* narrow, bool is_signed) {
    const Shape s = shape(narrow);
    if (!s.is_strided()) return;
    const unsigned bits = narrow->getType()->getIntegerBitWidth();
    const APInt span(bits, static_cast<std::uint64_t>(s.stride) * (options_.width - 1), /*isSigned=*/true);
    const APInt highest = is_signed ? APInt::getSignedMaxValue(bits) : APInt::getMaxValue(bits);
    const APInt lowest = is_signed ? APInt::getSignedMinValue(bits) : APInt::getMinValue(bits);
    Value* base = base_of(narrow);
    Value* fits = nullptr;
    if (s.stride > 0) {
      Value* limit = ConstantInt::get(context_, highest - span);
      fits = is_signed ? builder_.CreateICmpSLE(base, limit) : builder_.CreateICmpULE(base, limit);
    } else {
      Value* limit = ConstantInt::get(context_, lowest - span);
      fits = is_signed ? builder_.CreateICmpSGE(base, limit) : builder_.CreateICmpUGE(base, limit);
    }
    guard = builder_.CreateAnd(guard, fits);
  };
  if (isa<ZExtInst>(original) || isa<SExtInst>(original)) check_narrow(original.getOperand(0), isa<SExtInst>(original));
  if (auto* gep = dyn_cast<GetElementPtrInst>(&original))
    for (Value* index : gep->indices())
      if (!isa<Constant>(index) && index->getType()->getIntegerBitWidth() < 64) check_narrow(index, true);
  return guard;
}

// What only moves or scales a value does the same to its deviation; else the lanes are computed and compared with
// the stride, in the rare case that it does not hold.
Value* Widener::combine_deviations(Instruction& original, const Wide& value) {
  Type* type = wide(offset_type(original.getType()));
  const auto of = [&](unsigned operand) { return deviation_of(original.getOperand(operand)); };
  const auto factor = [&] { return ConstantInt::get(type, cast<ConstantInt>(original.getOperand(1))->getValue()); };
  switch (original.getOpcode()) {
    case Instruction::Or:  // disjoint, or it would not be strided
    case Instruction::Add: return builder_.CreateAdd(of(0), of(1));
    case Instruction::Sub: return builder_.CreateSub(of(0), of(1));
    case Instruction::Mul: return builder_.CreateMul(of(0), factor());
    case Instruction::Shl: return builder_.CreateShl(of(0), factor());
    case Instruction::Trunc:
    case Instruction::PtrToInt:
    case Instruction::IntToPtr: return builder_.CreateZExtOrTrunc(of(0), type);
    case Instruction::Freeze: return of(0);
    case Instruction::Select: return builder_.CreateSelect(base_of(original.getOperand(0)), of(1), of(2));
    default: break;
  }
  if (auto* gep = dyn_cast<GetElementPtrInst>(&original);
      gep && gep->getNumIndices() == 1 && gep->getOperand(1)->getType()->isIntegerTy(64)) {
    const auto size = thread_.getDataLayout().getTypeAllocSize(gep->getSourceElementType()).getFixedValue();
    return builder_.CreateAdd(of(0), builder_.CreateMul(of(1), ConstantInt::get(type, size)));
  }
  for (Value* operand : original.operands()) vector_of(operand);
  AllocaInst* deviation = new_slot(type, original.getName() + ".deviation");
  branch(
      value.guard, [&] { builder_.CreateStore(Constant::getNullValue(type), deviation); },
      [&] {
        Value* lanes = widen_operation(original);
        Value* strided = add_lane_offsets(value.base, shape(&original).stride);
        if (original.getType()->isPointerTy()) {
          lanes = builder_.CreatePtrToInt(lanes, type);
          strided = builder_.CreatePtrToInt(strided, type);
        }
        builder_.CreateStore(builder_.CreateSub(lanes, strided), deviation);
      });
  return builder_.CreateLoad(type, deviation);
}

Value* Widener::widen_operation(Instruction& original) {
  if (auto* gep = dyn_cast<GetElementPtrInst>(&original)) {
    SmallVector<Value*, 4> indices;
    for (Value* index : gep->indices()) indices.push_back(isa<Constant>(index) ? index : vector_of(index));
    return builder_.CreateGEP(gep->getSourceElementType(), vector_of(gep->getPointerOperand()), indices,
                              original.getName());
  }
  Instruction* copy = original.clone();
  for (Use& operand : copy->operands()) operand.set(vector_of(operand.get()));
  copy->mutateType(wide(original.getType()));
  if (original.isIntDivRem() && mask_) {
    // Lanes that are off may hold anything, and a division by zero would stop the whole gang.
    Value* one = ConstantInt::get(copy->getType(), 1);
    copy->setOperand(1, builder_.CreateSelect(mask_, copy->getOperand(1), one));
  }
  return builder_.Insert(copy, original.getName());
}

// ---- Masks -------------------------------------------------------------------------------------

Value* Widener::lanes_on() { return mask_ ? mask_ : Constant::getAllOnesValue(wide(builder_.getInt1Ty())); }

Value* Widener::mask_bits(Value* mask) { return builder_.CreateBitCast(mask, builder_.getIntNTy(options_.width)); }

Value* Widener::first_lane_on() {
  return builder_.CreateBinaryIntrinsic(Intrinsic::cttz, mask_bits(lanes_on()), builder_.getTrue());
}

Value* Widener::any(Value* mask) { return builder_.CreateIsNotNull(mask_bits(mask)); }

Value* Widener::all(Value* mask) {
  Value* bits = mask_bits(mask);
  return builder_.CreateICmpEQ(bits, Constant::getAllOnesValue(bits->getType()));
}

// A select rather than an and: in lanes that are off the condition may be poison.
Value* Widener::both(Value* mask, Value* condition) {
  if (!mask) return condition;
  return builder_.CreateSelect(mask, condition, Constant::getNullValue(condition->getType()));
}

void Widener::branch(Value* condition, const std::function<void()>& then, const std::function<void()>& otherwise) {
  BasicBlock* yes = BasicBlock::Create(context_, "then", &gang_);
  BasicBlock* no = BasicBlock::Create(context_, "else", &gang_);
  BasicBlock* behind = BasicBlock::Create(context_, "behind", &gang_);
  builder_.CreateCondBr(condition, yes, no, MDBuilder(context_).createLikelyBranchWeights());
  builder_.SetInsertPoint(yes);
  then();
  builder_.CreateBr(behind);
  builder_.SetInsertPoint(no);
  otherwise();
  builder_.CreateBr(behind);
  builder_.SetInsertPoint(behind);
}

}  // namespace softgpu::simt
