// Slots become registers, in long code.
#pragma once

#include "llvm/IR/Function.h"

namespace softgpu::simt {

// Does what LLVM's mem2reg does with the slots of a gang, in a way that suits functions of many blocks. mem2reg finds
// the places of a slot's phis by walking over all that is dominated by a store to it, which is half of the function for
// each slot. This looks back from each load to the stores that reach it, which are near: a gang's slots hand values on
// to the next blocks. Leaves slots that are written once, for which mem2reg has a short way.
void promote_slots(llvm::Function& gang);

}  // namespace softgpu::simt
