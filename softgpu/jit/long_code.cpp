#include "softgpu/jit/long_code.hpp"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "softgpu/simt/code_length.hpp"

namespace softgpu::jit {

void split_blocks(llvm::Module& code) {
  constexpr unsigned kMostInstructions = 400;
  llvm::SmallVector<llvm::Instruction*, 64> starts;
  for (llvm::Function& function : code)
    for (llvm::BasicBlock& block : function) {
      unsigned length = 0;
      for (llvm::Instruction& instruction : block)
        if (++length > kMostInstructions && !llvm::isa<llvm::PHINode>(instruction) && !instruction.isTerminator()) {
          starts.push_back(&instruction);
          length = 0;
        }
    }
  // The last first: what is behind an instruction moves to another block. CodeGenPrepare would put the two together
  // again, were it not for the address.
  for (llvm::Instruction* start : llvm::reverse(starts))
    llvm::BlockAddress::get(start->getParent()->splitBasicBlock(start, "further"));
}

void hide_ends_of_loops(llvm::Module& code) {
  for (llvm::Function& function : code) {
    if (!simt::has_many_loops(function)) continue;
    const llvm::DominatorTree dominators(function);
    const llvm::LoopInfo loops(dominators);
    for (llvm::BasicBlock& block : function) {
      const llvm::Loop* loop = loops.getLoopFor(&block);
      auto* branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
      if (!loop || !branch || !branch->isConditional() || !loop->isLoopExiting(&block)) continue;
      branch->setCondition(llvm::IRBuilder<>(branch).CreateFreeze(branch->getCondition()));
    }
  }
}

}  // namespace softgpu::jit
