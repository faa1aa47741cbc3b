#include "softgpu/jit/long_code.hpp"

#include <gtest/gtest.h>

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"

namespace softgpu::jit::test {
namespace {

std::unique_ptr<llvm::Module> parse(const std::string& text, llvm::LLVMContext& context) {
  llvm::SMDiagnostic problem;
  std::unique_ptr<llvm::Module> code = llvm::parseAssemblyString(text, problem, context);
  EXPECT_TRUE(code) << problem.getMessage().str();
  return code;
}

std::string sum_of(unsigned additions) {
  std::string text = "define i32 @f(i32 %v0) {\n";
  for (unsigned i = 0; i < additions; ++i)
    text += "  %v" + std::to_string(i + 1) + " = add i32 %v" + std::to_string(i) + ", %v0\n";
  return text + "  ret i32 %v" + std::to_string(additions) + "\n}\n";
}

TEST(SplitBlocks, LeavesBlocksOfAFewHundredInstructions) {
  llvm::LLVMContext context;
  const auto code = parse(sum_of(5000), context);
  split_blocks(*code);
  EXPECT_FALSE(llvm::verifyModule(*code, &llvm::errs()));
  const llvm::Function& function = *code->getFunction("f");
  EXPECT_GT(function.size(), 10u);
  for (const llvm::BasicBlock& block : function) EXPECT_LE(block.size(), 500u);
}

TEST(SplitBlocks, LeavesShortBlocksAlone) {
  llvm::LLVMContext context;
  const auto code = parse(sum_of(50), context);
  split_blocks(*code);
  EXPECT_EQ(code->getFunction("f")->size(), 1u);
}

std::string loops_in_a_row(unsigned count) {
  std::string text = "define void @f(i32 %n) {\nentry:\n  br label %loop0\n";
  for (unsigned i = 0; i < count; ++i) {
    const std::string number = std::to_string(i), before = i == 0 ? "entry" : "loop" + std::to_string(i - 1);
    text += "loop" + number + ":\n  %i" + number + " = phi i32 [ 0, %" + before + " ], [ %next" + number + ", %loop" +
            number + " ]\n  %next" + number + " = add i32 %i" + number + ", 1\n  %again" + number +
            " = icmp ult i32 %next" + number + ", %n\n  br i1 %again" + number + ", label %loop" + number +
            ", label %" + (i + 1 < count ? "loop" + std::to_string(i + 1) : "done") + "\n";
  }
  return text + "done:\n  ret void\n}\n";
}

unsigned hidden_ends(const llvm::Module& code) {
  unsigned count = 0;
  for (const llvm::BasicBlock& block : *code.getFunction("f"))
    if (const auto* branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator()))
      count += branch->isConditional() && llvm::isa<llvm::FreezeInst>(branch->getCondition());
  return count;
}

TEST(HideEndsOfLoops, WhereThereAreManyLoops) {
  llvm::LLVMContext context;
  const auto few = parse(loops_in_a_row(20), context), many = parse(loops_in_a_row(200), context);
  hide_ends_of_loops(*few);
  hide_ends_of_loops(*many);
  EXPECT_EQ(hidden_ends(*few), 0u);
  EXPECT_EQ(hidden_ends(*many), 200u);
  EXPECT_FALSE(llvm::verifyModule(*many, &llvm::errs()));
}

}  // namespace
}  // namespace softgpu::jit::test
