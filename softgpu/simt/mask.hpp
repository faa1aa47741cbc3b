// Which lanes of a gang are on: one bit of a vector for each.
//
// The mask of all lanes is the constant of ones, which is known while code is made for it: nothing is masked then.
#pragma once

#include "llvm/IR/IRBuilder.h"

namespace softgpu::simt {

class Mask {
 public:
  // `lanes`: a vector of i1.
  explicit Mask(llvm::Value* lanes) : lanes_(lanes) {}
  static Mask all(llvm::LLVMContext&, unsigned width);
  static Mask none(llvm::LLVMContext&, unsigned width);
  // The first `count` lanes; `count` is an i32.
  static Mask first(llvm::IRBuilder<>&, llvm::Value* count, unsigned width);

  // All lanes are on, whatever happens at run time.
  bool is_all() const;
  llvm::Value* vector() const { return lanes_; }
  llvm::Value* bits(llvm::IRBuilder<>&) const;  // an integer of as many bits as there are lanes

  llvm::Value* has_any(llvm::IRBuilder<>&) const;
  llvm::Value* has_all(llvm::IRBuilder<>&) const;
  llvm::Value* count(llvm::IRBuilder<>&) const;  // an i32
  // Numbers of lanes, as integers like bits(); there must be a lane on.
  llvm::Value* first_lane(llvm::IRBuilder<>&) const;
  llvm::Value* last_lane(llvm::IRBuilder<>&) const;

  // The lanes of this mask in which the condition holds. The condition may be poison in the others.
  Mask where(llvm::IRBuilder<>&, llvm::Value* condition) const;
  // In lanes that are on the vector `on`, else `off`, which is a scalar or a vector.
  llvm::Value* choose(llvm::IRBuilder<>&, llvm::Value* on, llvm::Value* off) const;

 private:
  unsigned width() const;

  llvm::Value* lanes_;
};

}  // namespace softgpu::simt
