// What all share that emit the code of a gang: where they are, the gang's values, and which lanes are on.
#pragma once

#include "llvm/IR/IRBuilder.h"
#include "softgpu/simt/gang_values.hpp"
#include "softgpu/simt/mask.hpp"

namespace softgpu::simt {

struct Emission {
  Emission(llvm::Function& function, const Divergence& divergence, unsigned lanes)
      : gang(function),
        width(lanes),
        builder(function.getContext()),
        values(builder, divergence, lanes),
        mask(Mask::all(function.getContext(), lanes)) {}
  Emission(const Emission&) = delete;

  llvm::Function& gang;
  const unsigned width;
  llvm::IRBuilder<> builder;
  GangValues values;
  Mask mask;  // of the block being emitted
};

// One of them, for a family of instructions.
class Emitter {
 protected:
  explicit Emitter(Emission& emission)
      : gang_(emission.gang),
        width_(emission.width),
        builder_(emission.builder),
        values_(emission.values),
        mask_(emission.mask) {}

  Shape shape(const llvm::Value* value) const { return values_.shape(value); }
  llvm::Type* wide(llvm::Type* type) const { return values_.wide(type); }

  llvm::Function& gang_;
  const unsigned width_;
  llvm::IRBuilder<>& builder_;
  GangValues& values_;
  Mask& mask_;
};

}  // namespace softgpu::simt
