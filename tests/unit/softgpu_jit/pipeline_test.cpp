#include "softgpu/jit/pipeline.hpp"

#include "softgpu/jit/kernel_compiler.hpp"
#include "unit/softgpu_jit/kernels.hpp"

namespace softgpu::jit {
namespace {

std::string dumped(const std::string& pass, unsigned width) {
  const std::string text = std::string(kHeader) + std::string(kScale);
  const ptx::ParseResult parsed = ptx::parse(text);
  testing::internal::CaptureStderr();
  KernelCompiler compiler(*parsed.module, parsed.module->functions.front(), {.width = width, .dump = {pass}});
  compiler.compile({.shape = abi::BlockShape::rows});
  return testing::internal::GetCapturedStderr();
}

TEST(Pipeline, DumpsTheCodeBehindAPass) {
  const std::string text = dumped("make-gangs", 8);
  EXPECT_NE(text.find("; scale behind make-gangs"), std::string::npos);
  EXPECT_NE(text.find("define internal void @scale.gang("), std::string::npos) << text;
}

TEST(Pipeline, DumpsWhatTheAnalysisHasFoundOut) {
  const std::string text = dumped("analyse", 8);
  EXPECT_NE(text.find("; scale behind analyse"), std::string::npos);
  EXPECT_NE(text.find("mask="), std::string::npos) << text;
  EXPECT_NE(text.find("; strided 4"), std::string::npos) << text;
  EXPECT_EQ(text.find("define"), std::string::npos) << text;
}

// There is nothing to find out: the code itself is what can be seen.
TEST(Pipeline, DumpsTheCodeOfSingleThreadsBehindTheAnalysis) {
  EXPECT_NE(dumped("analyse", 1).find("define"), std::string::npos);
}

}  // namespace
}  // namespace softgpu::jit
