// Loops that are entered at several places get one entry, and still compute the same.
#include "softgpu/simt/reducible.hpp"

#include <gtest/gtest.h>

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/TargetSelect.h"
#include "softgpu/simt/divergence.hpp"
#include "unit/softgpu_simt/kernel_text.hpp"

namespace softgpu::simt::test {
namespace {

// Labels in a row, each of which may go on to the next one or jump to another one, over some or back:
//   int s = i, f = jumps; Lk: s = s * (2k+3) + k; if (--f > 0 && s & (1 << k%7)) goto L((7k+3) % labels); …; a0[i] = s
// `f` is the same in all threads that have come to a label by the same way.
std::string jumps(unsigned labels) {
  const auto label = [](unsigned k) { return "L" + std::to_string(k); };
  const auto value = [](const char* name, unsigned k) { return "%" + std::string(name) + std::to_string(k); };
  std::vector<std::vector<unsigned>> origins(labels);
  for (unsigned k = 0; k < labels; ++k) {
    if (k > 0) origins[k].push_back(k - 1);
    origins[(7 * k + 3) % labels].push_back(k);
  }
  std::string text = "  %j = trunc i64 %p1 to i32\n  br label %L0\n";
  for (unsigned k = 0; k < labels; ++k) {
    const std::string n = std::to_string(k);
    text += label(k) + ":\n";
    for (const char* variable : {"s", "f"}) {
      text += "  " + value(variable, k) + " = phi i32 ";
      const char* separator = "";
      if (k == 0) text += std::string("[ ") + (*variable == 's' ? "%i" : "%j") + ", %entry ]", separator = ", ";
      for (const unsigned from : origins[k]) {
        text += separator + ("[ " + value(*variable == 's' ? "next_s" : "next_f", from)) + ", %" + label(from) + " ]";
        separator = ", ";
      }
      text += "\n";
    }
    text += "  %m" + n + " = mul i32 %s" + n + ", " + std::to_string(2 * k + 3) + "\n  %next_s" + n + " = add i32 %m" +
            n + ", " + n + "\n  %next_f" + n + " = add i32 %f" + n + ", -1\n  %left" + n + " = icmp sgt i32 %next_f" +
            n + ", 0\n  %bit" + n + " = and i32 %next_s" + n + ", " + std::to_string(1U << k % 7) + "\n  %set" + n +
            " = icmp ne i32 %bit" + n + ", 0\n  %jump" + n + " = and i1 %left" + n + ", %set" + n + "\n  br i1 %jump" +
            n + ", label %" + label((7 * k + 3) % labels) + ", label %" + (k + 1 < labels ? label(k + 1) : "end") +
            "\n";
  }
  return kernel(2, text + "end:\n  %at = getelementptr i32, ptr %a0, i64 %i64\n  store i32 %next_s" +
                       std::to_string(labels - 1) + ", ptr %at\n  ret void\n");
}

std::uint32_t jumped(std::uint32_t s, int f, unsigned labels) {
  for (unsigned k = 0; k < labels;) {
    s = s * (2 * k + 3) + k;
    --f;
    k = f > 0 && (s & (1U << k % 7)) ? (7 * k + 3) % labels : k + 1;
  }
  return s;
}

struct Reduced {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code;
  llvm::Function* function;

  explicit Reduced(const std::string& text) : code(parse(text, context)), function(code->getFunction("kernel")) {
    llvm::InitializeNativeTarget();
    const auto target =
        llvm::cantFail(llvm::cantFail(llvm::orc::JITTargetMachineBuilder::detectHost()).createTargetMachine());
    make_reducible(*function, *target);
  }
  bool is_reducible() const {
    const llvm::DominatorTree dominators(*function);
    const llvm::LoopInfo loops(dominators);
    const llvm::ReversePostOrderTraversal<const llvm::Function*> blocks(function);
    return !llvm::containsIrreducibleCFG<const llvm::BasicBlock*>(blocks, loops);
  }
  unsigned phi_operands() const {
    unsigned count = 0;
    for (const llvm::BasicBlock& block : *function)
      for (const llvm::PHINode& phi : block.phis()) count += phi.getNumIncomingValues();
    return count;
  }
};

TEST(Reducible, LoopsThatAreEnteredAtManyPlacesGetOneEntry) {
  for (const unsigned labels : {5U, 12U, 40U}) {
    const Reduced reduced(jumps(labels));
    EXPECT_FALSE(llvm::verifyFunction(*reduced.function, &llvm::errs())) << labels;
    EXPECT_TRUE(reduced.is_reducible()) << labels;
  }
}

TEST(Reducible, TheCodeGrowsWithTheLabelsAndNotWithTheirSquare) {
  const Reduced some(jumps(100)), many(jumps(400));
  EXPECT_TRUE(many.is_reducible());
  EXPECT_LT(many.phi_operands(), 8 * some.phi_operands());
  EXPECT_LT(many.function->getInstructionCount(), 6 * some.function->getInstructionCount());
}

TEST(Reducible, GangsComputeTheSame) {
  for (const unsigned labels : {5U, 20U})
    for (const unsigned width : {1U, 8U, 16U, 32U})
      for (const unsigned steps : {3U, 60U}) {
        std::vector<std::uint32_t> out(70, 0);
        const Ran ran = run(jumps(labels), {.width = width, .block = {70, 1, 1}, .params = {address(out), steps}});
        EXPECT_EQ(ran.width, width);
        for (unsigned i = 0; i < out.size(); ++i)
          ASSERT_EQ(out[i], jumped(i, static_cast<int>(steps), labels)) << labels << " labels, width " << width;
      }
}

// Two variables in each of two labels, the one of all threads last in the one and first in the other.
TEST(Reducible, AVariableThatAllThreadsShareStaysShared) {
  const Reduced reduced(kernel(2, R"(
  %u = trunc i64 %p1 to i32
  %odd = icmp ugt i32 %u, 7
  br i1 %odd, label %left, label %right
left:
  %s1 = phi i32 [ %i, %entry ], [ %s4, %right ]
  %f1 = phi i32 [ %u, %entry ], [ %f4, %right ]
  %s3 = mul i32 %s1, 3
  %f3 = add i32 %f1, -1
  %c3 = icmp sgt i32 %f3, 0
  br i1 %c3, label %right, label %end
right:
  %f2 = phi i32 [ %u, %entry ], [ %f3, %left ]
  %s2 = phi i32 [ %i, %entry ], [ %s3, %left ]
  %s4 = add i32 %s2, 5
  %f4 = add i32 %f2, -2
  %c4 = icmp sgt i32 %f4, 0
  br i1 %c4, label %left, label %end
end:
  %s = phi i32 [ %s3, %left ], [ %s4, %right ]
  %at = getelementptr i32, ptr %a0, i64 %i64
  store i32 %s, ptr %at
  ret void
)"));
  ASSERT_TRUE(reduced.is_reducible());
  const Divergence divergence(*reduced.function, abi::BlockShape::rows, 16);
  for (const llvm::BasicBlock& block : *reduced.function) {
    const auto* branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
    if (!branch || branch->isUnconditional()) continue;
    EXPECT_TRUE(divergence.shape(branch->getCondition()).is_uniform()) << block.getName().str();
  }
}

}  // namespace
}  // namespace softgpu::simt::test
