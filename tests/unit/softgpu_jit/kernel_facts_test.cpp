#include "softgpu/jit/kernel_facts.hpp"

#include <ctime>

#include "unit/softgpu_jit/kernels.hpp"

namespace softgpu::jit {
namespace {

TEST(KernelFacts, DescribeParameters) {
  const auto program = program_of(kScale);
  ASSERT_EQ(program->kernels().size(), 1u);
  const KernelFacts& facts = program->kernels()[0];
  EXPECT_EQ(facts.name, "scale");
  ASSERT_EQ(facts.params.size(), 4u);
  EXPECT_EQ(facts.params[1].offset, 8u);
  EXPECT_EQ(facts.params[2].offset, 16u);
  EXPECT_EQ(facts.params[2].size, 4u);
  EXPECT_EQ(facts.params[3].offset, 20u);
  EXPECT_EQ(facts.param_bytes, 24u);
  EXPECT_EQ(facts.static_shared_bytes, 0u);
  EXPECT_EQ(facts.max_threads_per_block, 1024u);
  EXPECT_FALSE(facts.has_dynamic_shared);
}

// Of the processor's time, which other work on the machine does not count in.
double seconds_to_load(std::size_t kernels) {
  std::string text;
  for (std::size_t i = 0; i < kernels; ++i)
    text += ".visible .entry k" + std::to_string(i) + "() { .reg .u32 r; mov.u32 r, 1; mov.u32 r, 2; ret; }\n";
  const std::clock_t start = std::clock();
  EXPECT_EQ(program_of(text)->kernels().size(), kernels);
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

// Each kernel's facts ask for what it calls. To find that out anew for each takes the square of their number, which
// would be 16 times as long.
TEST(KernelFacts, AreFoundInTimeProportionalToTheNumberOfKernels) {
  const double few = seconds_to_load(5'000), many = seconds_to_load(20'000);
  EXPECT_LT(many, 10);
  EXPECT_LT(many, 9 * few);
}

TEST(KernelFacts, DescribeMemoryAndLimits) {
  const auto program = program_of(R"(
.extern .shared .align 16 .b8 dynamic[];
.visible .entry limited() .maxntid 128, 2, 1 .maxnreg 32
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<2>;
  .local .align 8 .b8 stack[40];
  .shared .align 4 .b8 table[100];
  ld.shared.u32 %r1, [table];
  st.shared.u32 [dynamic], %r1;
  mov.u64 %rd1, stack;
  st.local.u32 [%rd1], %r1;
  ret;
}
.visible .entry exact() .reqntid 64, 1, 1 { ret; }
)");
  const KernelFacts& limited = program->kernels()[0];
  EXPECT_EQ(limited.static_shared_bytes, 112u);  // up to where the dynamic memory starts
  EXPECT_TRUE(limited.has_dynamic_shared);
  EXPECT_EQ(limited.local_bytes, 40u);
  EXPECT_EQ(limited.max_threads_per_block, 256u);
  EXPECT_LE(limited.registers, 32u);
  const KernelFacts& exact = program->kernels()[1];
  EXPECT_EQ(exact.required_threads[0], 64u);
  EXPECT_EQ(exact.max_threads_per_block, 64u);
}

TEST(KernelFacts, DontCountTheReservedSharedMemory) {
  const auto program = program_of(R"(
.visible .entry asks() { .reg .b32 %r<2>; .shared .align 4 .b8 table[100]; mov.u32 %r0, %reserved_smem_offset_0; st.shared.u32 [table], %r0; ret; }
)");
  EXPECT_EQ(program->kernels()[0].static_shared_bytes, 100u);
  EXPECT_EQ(program->kernels()[0].reserved_shared_bytes, 1024u);
}

TEST(KernelFacts, CountRegistersThatAreLiveTogether) {
  const auto few = program_of(kScale);
  EXPECT_GE(few->kernels()[0].registers, 8u);
  EXPECT_LE(few->kernels()[0].registers, 32u);

  // All loaded before the first is used.
  std::string text =
      ".visible .entry many(.param .u64 p) { .reg .b64 %rd<2>; .reg .f32 %f<101>;\nld.param.u64 %rd1, [p];\n";
  for (int i = 0; i <= 100; ++i)
    text += "ld.global.f32 %f" + std::to_string(i) + ", [%rd1+" + std::to_string(4 * i) + "];\n";
  for (int i = 1; i <= 100; ++i) text += "add.f32 %f0, %f0, %f" + std::to_string(i) + ";\n";
  text += "st.global.f32 [%rd1], %f0;\nret; }\n";
  const auto many = program_of(text);
  EXPECT_GT(many->kernels()[0].registers, 100u);
  EXPECT_LT(many->kernels()[0].registers, 112u);
}

}  // namespace
}  // namespace softgpu::jit
