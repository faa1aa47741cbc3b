// Turns one thread's code into a gang's: every value becomes a vector with one element per lane, unless the
// divergence analysis has shown that lane 0's value is enough.
//
// The blocks keep the order of Layout. Values that cross blocks go through stack slots, which SROA turns back
// into registers: with blocks that may be jumped over, a definition no longer dominates all of its uses.
#pragma once

#include <functional>

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "softgpu/simt/divergence.hpp"
#include "softgpu/simt/layout.hpp"
#include "softgpu/simt/thread_values.hpp"

namespace softgpu::simt {

class Widener {
 public:
  struct Options {
    abi::BlockShape shape = abi::BlockShape::general;
    unsigned width = 8;
    bool full = true;  // every lane holds a thread
  };
  // Fills `gang`, an empty function of type GangArguments::type().
  Widener(llvm::Function& thread, llvm::Function& gang, const Divergence&, const Layout&, const Options&);
  void run();

 private:
  // A value in the gang: lane 0's value where the shape has one, the vector where asked for or needed. For guarded
  // shapes also whether the stride holds, and by how much each lane is off it: zero while it holds, and the same
  // through additions, so that loops which step an address carry no vectors.
  struct Wide {
    llvm::Value *base = nullptr, *vector = nullptr, *guard = nullptr, *deviation = nullptr;
  };
  struct Slots {
    llvm::AllocaInst *base = nullptr, *vector = nullptr, *guard = nullptr, *deviation = nullptr;
  };
  struct Edge {
    llvm::BasicBlock* target;
    llvm::Value* mask;  // null: all lanes
    llvm::SmallVector<std::pair<llvm::PHINode*, Wide>, 4> phis;
  };

  // Set-up and control flow (widen.cpp).
  void make_entry();
  void make_slots();
  void emit_block(const BlockPlan&);
  void emit_instruction(llvm::Instruction&);
  void emit_terminator(const BlockPlan&);
  void emit_divergent_branch(const BlockPlan&, llvm::BranchInst&);
  void emit_uniform_branch(const BlockPlan&, llvm::BranchInst&);
  Edge edge_to(llvm::BasicBlock* target, llvm::Value* mask);
  void take(const Edge&);
  void jump(llvm::BasicBlock* target);
  llvm::Value* mask_of(const llvm::BasicBlock* owner);

  // Values (widen.cpp).
  llvm::Value* base_of(llvm::Value*);
  llvm::Value* vector_of(llvm::Value*);
  llvm::Value* guard_of(llvm::Value*);
  llvm::Value* deviation_of(llvm::Value*);
  llvm::Value* lanes_from_base(llvm::Value*);  // all lanes of a value that has a base; not remembered
  void define(llvm::Instruction&, Wide);
  Shape shape(llvm::Value* value) const { return divergence_.shape(value); }
  llvm::Type* wide(llvm::Type* type) const { return llvm::FixedVectorType::get(type, options_.width); }
  llvm::Type* offset_type(llvm::Type* type) const {
    return type->isPointerTy() ? llvm::Type::getInt64Ty(context_) : type;
  }
  llvm::Value* add_lane_offsets(llvm::Value* base, std::int64_t stride);

  // Plain instructions (widen.cpp).
  void emit_at_lane_0(llvm::Instruction&);
  llvm::Value* combine_guards(llvm::Instruction&);
  llvm::Value* combine_deviations(llvm::Instruction&, const Wide&);
  llvm::Value* widen_operation(llvm::Instruction&);

  // Memory (widen_memory.cpp).
  void emit_alloca(llvm::AllocaInst&);
  void emit_load(llvm::LoadInst&);
  void emit_store(llvm::StoreInst&);
  void emit_atomic(llvm::Instruction&);
  bool emit_reduced_atomic(llvm::AtomicRMWInst&);
  void store_contiguous(llvm::Value* value, llvm::Value* address, llvm::Align, llvm::Value* mask);
  llvm::Value* load_contiguous(llvm::Type*, llvm::Value* address, llvm::LoadInst& like, llvm::Value* mask);
  bool is_contiguous(const Shape&, llvm::Type*) const;
  llvm::Value* load_strided(llvm::LoadInst&);

  // Calls (widen_calls.cpp) and the warp (warp.cpp).
  void emit_call(llvm::CallInst&);
  void emit_intrinsic(llvm::IntrinsicInst&);
  void emit_mark(llvm::CallInst&, abi::Mark);
  void emit_lane_by_lane(llvm::Instruction&);
  void for_each_lane(llvm::Value* mask, const std::function<void(llvm::Value* lane)>&);
  llvm::Value* in_lane(llvm::Value* original, llvm::Value* lane);
  void emit_barrier(llvm::CallInst&, abi::Mark);
  void emit_warp(llvm::CallInst&, abi::Mark);
  llvm::Value* shuffle(llvm::CallInst&, abi::Mark);
  llvm::Value* vote(llvm::CallInst&, abi::Mark);
  llvm::Value* match(llvm::CallInst&);
  llvm::Value* match_all(llvm::CallInst&);
  llvm::Value* reduce(llvm::CallInst&, abi::Mark);
  llvm::Value* permute(llvm::Value* vector, llvm::Value* lanes);

  // Masks.
  llvm::Value* lanes_on();                    // the current mask as a vector, also when all lanes are on
  llvm::Value* mask_bits(llvm::Value* mask);  // as an integer of `width` bits
  llvm::Value* first_lane_on();               // its number
  llvm::Value* any(llvm::Value* mask);
  llvm::Value* all(llvm::Value* mask);
  llvm::Value* both(llvm::Value* mask, llvm::Value* condition);
  // Emits `then` under the condition, which mostly holds, and `otherwise` else, and goes on behind both.
  void branch(llvm::Value* condition, const std::function<void()>& then, const std::function<void()>& otherwise);
  llvm::AllocaInst* new_slot(llvm::Type*, const llvm::Twine& name);

  llvm::Function& thread_;
  llvm::Function& gang_;
  const Divergence& divergence_;
  const Layout& layout_;
  Options options_;
  llvm::LLVMContext& context_;
  llvm::IRBuilder<> builder_, entry_builder_;
  GangArguments arguments_;
  ThreadValues thread_values_;
  llvm::BasicBlock* entry_ = nullptr;

  llvm::DenseMap<const llvm::BasicBlock*, llvm::BasicBlock*> starts_;
  llvm::DenseMap<const llvm::BasicBlock*, llvm::AllocaInst*> arriving_, running_;  // masks of blocks that own one
  llvm::DenseMap<const llvm::BasicBlock*, llvm::AllocaInst*> gone_;  // lanes that have passed one of Layout::ways_out()
  llvm::DenseMap<const llvm::Value*, Slots> slots_;
  llvm::DenseMap<const llvm::Value*, Wide> local_;            // values known in the block being emitted
  llvm::DenseMap<const llvm::Value*, llvm::Value*> success_;  // of cmpxchg, next to the loaded value
  llvm::BasicBlock* source_ = nullptr;                        // the thread's block being emitted
  llvm::Value* entry_mask_ = nullptr;                         // null: all lanes
  llvm::Value* mask_ = nullptr;                               // of the block being emitted; null: all lanes
};

}  // namespace softgpu::simt
