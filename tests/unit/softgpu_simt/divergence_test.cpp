// What the analysis says of values and branches.
#include "softgpu/simt/divergence.hpp"

#include <gtest/gtest.h>

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"

namespace softgpu::simt::test {
namespace {

class DivergenceTest : public testing::Test {
 protected:
  void analyse(const std::string& body, abi::BlockShape shape = abi::BlockShape::rows, unsigned width = 16) {
    const std::string text =
        "declare i32 @softgpu.tid_x() memory(none)\ndeclare i32 @softgpu.ntid_x() memory(none)\ndeclare i32 "
        "@softgpu.ctaid_x() memory(none)\n"
        "define void @kernel(i32 %u, ptr %p) {\nentry:\n  %tx = call i32 @softgpu.tid_x()\n  %nx = call i32 "
        "@softgpu.ntid_x()\n"
        "  %bx = call i32 @softgpu.ctaid_x()\n" +
        body + "}\n";
    llvm::SMDiagnostic problem;
    module_ = llvm::parseAssemblyString(text, problem, context_);
    ASSERT_TRUE(module_) << problem.getMessage().str();
    divergence_ = std::make_unique<Divergence>(*module_->getFunction("kernel"), shape, width);
  }
  Shape shape(const char* name) {
    for (llvm::BasicBlock& block : *module_->getFunction("kernel"))
      for (llvm::Instruction& instruction : block)
        if (instruction.getName() == name) return divergence_->shape(&instruction);
    ADD_FAILURE() << "no value " << name;
    return {};
  }
  const llvm::BasicBlock* block(const char* name) {
    for (llvm::BasicBlock& candidate : *module_->getFunction("kernel"))
      if (candidate.getName() == name) return &candidate;
    return nullptr;
  }

  llvm::LLVMContext context_;
  std::unique_ptr<llvm::Module> module_;
  std::unique_ptr<Divergence> divergence_;
};

TEST_F(DivergenceTest, StridesFollowArithmetic) {
  analyse(R"(
  %start = mul i32 %bx, %nx
  %i = add i32 %start, %tx
  %wide = zext i32 %i to i64
  %bytes = shl i64 %wide, 2
  %more = add i32 %i, %u
  %wide2 = sext i32 %more to i64
  %back = sub i32 %u, %tx
  %square = mul i32 %tx, %tx
  %warp = lshr i32 %tx, 5
  %lane = and i32 %tx, 31
  ret void
)");
  EXPECT_EQ(shape("i").stride, 1);
  EXPECT_EQ(shape("wide"), Shape::strided(1, 4, false))
      << "a block's first thread is a multiple of the gang: nothing can wrap";
  EXPECT_EQ(shape("bytes").stride, 4);
  EXPECT_TRUE(shape("wide2").guarded) << "an unknown offset may make the index wrap";
  EXPECT_EQ(shape("back").stride, -1);
  EXPECT_TRUE(shape("square").is_varying());
  EXPECT_TRUE(shape("warp").is_uniform());
  EXPECT_EQ(shape("lane").stride, 1);
}

TEST_F(DivergenceTest, GeneralBlocksHaveVaryingThreads) {
  analyse("  %y = add i32 %tx, 1\n  ret void\n", abi::BlockShape::general);
  EXPECT_TRUE(shape("y").is_varying());
}

TEST_F(DivergenceTest, AUniformLoopInADivergentBranchStaysUniform) {
  analyse(R"(
  %c = icmp ult i32 %tx, 7
  br i1 %c, label %pre, label %end
pre:
  br label %loop
loop:
  %k = phi i32 [ 0, %pre ], [ %next, %loop ]
  %next = add i32 %k, 1
  %more = icmp ult i32 %next, %u
  br i1 %more, label %loop, label %out
out:
  %last = phi i32 [ %next, %loop ]
  br label %end
end:
  %r = phi i32 [ 0, %entry ], [ %last, %out ]
  ret void
)");
  EXPECT_TRUE(shape("k").is_uniform());
  EXPECT_TRUE(shape("last").is_uniform());
  EXPECT_TRUE(shape("r").is_varying());
  EXPECT_TRUE(divergence_->is_divergent(block("entry")));
  EXPECT_FALSE(divergence_->is_divergent(block("loop")));
  EXPECT_EQ(divergence_->mask_leader(block("end")), block("entry"));
  EXPECT_EQ(divergence_->mask_leader(block("loop")), divergence_->mask_leader(block("pre")));
}

TEST_F(DivergenceTest, WhatLeavesADivergentLoopVaries) {
  analyse(R"(
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %next, %loop ]
  %next = add i32 %k, 1
  %more = icmp ult i32 %next, %tx
  br i1 %more, label %loop, label %out
out:
  %last = phi i32 [ %next, %loop ]
  ret void
)");
  EXPECT_TRUE(shape("k").is_uniform());
  EXPECT_TRUE(shape("last").is_varying());
  EXPECT_TRUE(divergence_->is_join(block("out")));
}

}  // namespace
}  // namespace softgpu::simt::test
