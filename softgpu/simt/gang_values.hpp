// Where the values of one thread's code are in a gang's: in registers of the block being emitted, and in stack slots
// where they cross blocks or come from phis. SROA makes registers of the slots: with blocks that may be jumped over, a
// definition no longer dominates all of its uses.
#pragma once

#include <array>

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "softgpu/simt/divergence.hpp"
#include "softgpu/simt/mask.hpp"

namespace softgpu::simt {

// A value in the gang: lane 0's value where the shape has one, the vector where asked for or needed. For guarded
// shapes also whether the stride holds, and by how much each lane is off it: zero while it holds, and the same
// through additions, so that loops which step an address carry no vectors.
struct GangValue {
  llvm::Value *base = nullptr, *vector = nullptr, *guard = nullptr, *deviation = nullptr;

  static GangValue of_base(llvm::Value* base) { return {.base = base}; }
  static GangValue of_vector(llvm::Value* vector) { return {.vector = vector}; }
};

// Memory of the gang's function, for as long as it runs.
llvm::AllocaInst* new_slot(llvm::Function& gang, llvm::Type*, const llvm::Twine& name);

class GangValues {
 public:
  // Emits with `builder`, which is in the block being emitted whenever a value is asked for.
  GangValues(llvm::IRBuilder<>& builder, const Divergence& divergence, unsigned width)
      : builder_(builder), divergence_(divergence), width_(width) {}

  // Makes slots for what the block hands on to others.
  void make_slots(llvm::Function& gang, llvm::BasicBlock& block);
  // The registers of the block before are no longer to be used.
  void start_block() { local_.clear(); }

  Shape shape(const llvm::Value* original) const { return divergence_.shape(original); }
  llvm::Type* wide(llvm::Type* type) const { return llvm::FixedVectorType::get(type, width_); }
  // Of a difference between two values of a type.
  llvm::Type* offset_type(llvm::Type* type) const { return type->isPointerTy() ? builder_.getInt64Ty() : type; }

  // A thread's value in the gang. What is read from a slot or computed is remembered up to the block's end, so code
  // that goes two ways inside the block asks before.
  llvm::Value* base(llvm::Value* original);       // lane 0's; of shapes that have a base
  llvm::Value* vector(llvm::Value* original);     // all lanes'
  llvm::Value* guard(llvm::Value* original);      // whether the stride holds
  llvm::Value* deviation(llvm::Value* original);  // by how much each lane is off the stride
  // All lanes of a value that has a base, not remembered.
  llvm::Value* lanes_from_base(llvm::Value* original);
  // One lane's value; `lane` is an i32.
  llvm::Value* in_lane(llvm::Value* original, llvm::Value* lane);
  // Reads all that in_lane() uses.
  void prepare_lanes(llvm::Value* original);
  // Lane 0's value and a stride.
  llvm::Value* add_lane_offsets(llvm::Value* base, std::int64_t stride);

  void define(llvm::Instruction& original, const GangValue&);
  // A pair is known in its own block only, where its elements are taken.
  void define_pair(llvm::Instruction& original, llvm::Value* first, llvm::Value* second);
  llvm::Value* element(llvm::Value* pair, unsigned index) { return pairs_[pair][index]; }

  // What a phi gets over an edge, and the phi with it. All phis of a block read before any is written: they may feed
  // each other. With `blend` only the lanes of the mask change.
  GangValue incoming(llvm::PHINode& phi, llvm::Value* original);
  void assign(llvm::PHINode& phi, const GangValue&, const Mask&, bool blend);
  // No lane has the phi's value: the vector that lanes will be blended with may be anything.
  void forget(const llvm::PHINode& phi);

 private:
  struct Slots {
    llvm::AllocaInst *base = nullptr, *vector = nullptr, *guard = nullptr, *deviation = nullptr;
  };
  llvm::Value* read(llvm::AllocaInst* slot, const llvm::Twine& name = "");
  void write(const GangValue&, const Slots&);

  llvm::IRBuilder<>& builder_;
  const Divergence& divergence_;
  unsigned width_;
  llvm::DenseMap<const llvm::Value*, Slots> slots_;
  llvm::DenseMap<const llvm::Value*, GangValue> local_;
  llvm::DenseMap<const llvm::Value*, std::array<llvm::Value*, 2>> pairs_;
};

}  // namespace softgpu::simt
