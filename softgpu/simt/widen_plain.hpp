// Instructions that compute: at lane 0 where its value stands for all lanes, on vectors, or lane by lane.
#pragma once

#include "softgpu/simt/emission.hpp"

namespace softgpu::simt {

class PlainWidener : Emitter {
 public:
  explicit PlainWidener(Emission& emission) : Emitter(emission) {}

  void emit(llvm::Instruction&);
  // An instruction whose result has a base.
  void emit_at_lane_0(llvm::Instruction&);
  // What has no vector form, a loop over the lanes that are on.
  void emit_lane_by_lane(llvm::Instruction&);

 private:
  llvm::Value* combine_guards(llvm::Instruction&);
  llvm::Value* fits_narrow_type(llvm::Value* narrow, bool is_signed);
  llvm::Value* combine_deviations(llvm::Instruction&, const GangValue&);
  llvm::Value* compute_deviations(llvm::Instruction&, const GangValue&);
  llvm::Value* widen_operation(llvm::Instruction&);
};

}  // namespace softgpu::simt
