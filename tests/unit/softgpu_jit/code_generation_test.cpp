#include "softgpu/jit/code_generation.hpp"

#include <gtest/gtest.h>

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Target/TargetMachine.h"
#include "softgpu/jit/host_target.hpp"

namespace softgpu::jit::test {
namespace {

// Without settle_masks() LLVM's instruction selection does not come back from this one on processors with AVX-512.
TEST(CodeGeneration, EndsOnMasksThatComeAsIntegers) {
  constexpr const char* kText = R"(
define void @f(i16 %a, i16 %b, i1 %c, ptr %p) {
entry:
  %x = bitcast i16 %a to <16 x i1>
  %y = bitcast i16 %b to <16 x i1>
  %m = select <16 x i1> %x, <16 x i1> splat (i1 true), <16 x i1> %y
  %v = select <16 x i1> %x, <16 x i32> zeroinitializer, <16 x i32> splat (i32 1)
  br i1 %c, label %left, label %right
left:
  %w = select <16 x i1> %y, <16 x i32> zeroinitializer, <16 x i32> %v
  store <16 x i32> %w, ptr %p
  ret void
right:
  %z = zext <16 x i1> %m to <16 x i32>
  store <16 x i32> %z, ptr %p
  ret void
}
)";
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  const std::unique_ptr<llvm::Module> code = llvm::parseAssemblyString(kText, problem, context);
  ASSERT_TRUE(code) << problem.getMessage().str();
  const std::unique_ptr<llvm::TargetMachine> target = make_host_target();
  code->setTargetTriple(target->getTargetTriple().str());
  code->setDataLayout(target->createDataLayout());
  settle_masks(*code, *target);
  EXPECT_FALSE(generate(*code, *target).empty());
}

}  // namespace
}  // namespace softgpu::jit::test
