#include "softgpu/jit/masked_accesses.hpp"

#include <gtest/gtest.h>

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Target/TargetMachine.h"
#include "softgpu/jit/host_target.hpp"

namespace softgpu::jit::test {
namespace {

// A gather and a scatter of 16 lanes' elements.
std::string gather_and_scatter(const std::string& element, const std::string& suffix) {
  const std::string vector = "<16 x " + element + ">", name = "v16" + suffix + ".v16p0";
  return "declare " + vector + " @llvm.masked.gather." + name + "(<16 x ptr>, i32, <16 x i1>, " + vector + ")\n" +
         "declare void @llvm.masked.scatter." + name + "(" + vector + ", <16 x ptr>, i32, <16 x i1>)\n" +
         "define void @f(<16 x ptr> %p, i16 %bits) {\n  %m = bitcast i16 %bits to <16 x i1>\n" +  //
         "  %v = call " + vector + " @llvm.masked.gather." + name + "(<16 x ptr> %p, i32 1, <16 x i1> %m, " + vector +
         " poison)\n  call void @llvm.masked.scatter." + name + "(" + vector +
         " %v, <16 x ptr> %p, i32 1, <16 x i1> %m)\n  ret void\n}\n";
}

class Expanded {
 public:
  explicit Expanded(const std::string& text) {
    llvm::SMDiagnostic problem;
    code_ = llvm::parseAssemblyString(text, problem, context_);
    if (!code_) throw std::runtime_error(problem.getMessage().str());
    const std::unique_ptr<llvm::TargetMachine> target = make_host_target();
    code_->setTargetTriple(target->getTargetTriple().str());
    code_->setDataLayout(target->createDataLayout());
    expand_masked_accesses(*code_, *target);
    EXPECT_FALSE(llvm::verifyModule(*code_, &llvm::errs()));
  }

  const llvm::Function& function() const { return *code_->getFunction("f"); }

  // Of masked operations on lanes of so many bits.
  unsigned accesses_of(unsigned bits) const {
    unsigned count = 0;
    for (const llvm::Instruction& instruction : llvm::instructions(function()))
      if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction))
        if (call->getCalledFunction()->getName().starts_with("llvm.masked.")) {
          const bool is_load = !call->getType()->isVoidTy();
          count += (is_load ? call->getType() : call->getArgOperand(0)->getType())->getScalarSizeInBits() == bits;
        }
    return count;
  }

 private:
  llvm::LLVMContext context_;
  std::unique_ptr<llvm::Module> code_;
};

// No CPU gathers or scatters what is narrower than a word.
TEST(MaskedAccesses, OfNarrowValuesAreSpelledOutInOneBlock) {
  for (const auto& [element, suffix, bits] : {std::tuple{"i8", "i8", 8u}, {"i16", "i16", 16u}, {"half", "f16", 16u}}) {
    const Expanded code(gather_and_scatter(element, suffix));
    EXPECT_EQ(code.accesses_of(bits), 0u) << element;
    EXPECT_EQ(code.function().size(), 1u) << element;
  }
}

TEST(MaskedAccesses, StayWhereTheCpuHasThem) {
  const std::unique_ptr<llvm::TargetMachine> target = make_host_target();
  if (!target->getTargetFeatureString().contains("+avx512f")) GTEST_SKIP() << "this CPU has no scatter";
  EXPECT_EQ(Expanded(gather_and_scatter("i32", "i32")).accesses_of(32), 2u);
}

}  // namespace
}  // namespace softgpu::jit::test
