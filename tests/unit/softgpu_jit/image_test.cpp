// From PTX to a kernel that runs.
#include <thread>

#include "softgpu/jit/kernel_compiler.hpp"
#include "softgpu/lower/lower.hpp"
#include "unit/softgpu_jit/kernels.hpp"

namespace softgpu::jit {
namespace {

TEST(Image, RunsAKernelInEveryBlockShape) {
  exec::Pool pool({.workers = 2});
  const auto program = program_of(kScale);
  float bias = 0.5f;
  Image image(program, {&bias});
  for (const std::uint32_t threads : {1u, 7u, 32u, 100u, 128u, 1000u})
    expect_scales(pool, image, *program, bias, {threads});
}

TEST(Image, BindsTheVariablesOfItsContext) {
  exec::Pool pool({.workers = 2});
  const auto program = program_of(kScale);
  float bias_a = 1.0f, bias_b = 100.0f;
  Image a(program, {&bias_a}), b(program, {&bias_b});
  expect_scales(pool, a, *program, 1.0f, {64});
  expect_scales(pool, b, *program, 100.0f, {64});
  bias_a = -1.0f;
  expect_scales(pool, a, *program, -1.0f, {64});
}

TEST(Image, RunsAKernelWithBarriers) {
  exec::Pool pool({.workers = 2});
  const auto program = program_of(kBlockSum);
  Image image(program, {});
  for (const std::uint32_t threads : {1u, 32u, 100u, 256u, 1024u}) {
    const exec::KernelCode code = image.code(0, {threads});
    EXPECT_EQ(code.run_block, nullptr);
    std::vector<std::uint32_t> out(50, 0);
    ASSERT_EQ(run(pool, code, program->kernels()[0], {50}, {threads}, params(out.data())), exec::Outcome::completed);
    for (const std::uint32_t sum : out) EXPECT_EQ(sum, threads * (threads - 1) / 2) << threads;
  }
}

TEST(Image, KeepsItsCodeForEachShape) {
  const auto program = program_of(kScale);
  float bias = 0;
  Image image(program, {&bias});
  const unsigned width = image.code(0, {32}).width;
  EXPECT_EQ(image.code(0, {32}).run_block, image.code(0, {2 * width}).run_block);
  EXPECT_NE(image.code(0, {32}).run_block, image.code(0, {width + 1}).run_block);
  EXPECT_NE(image.code(0, {width + 1, 2}).run_block, image.code(0, {width + 1}).run_block);
}

TEST(Image, CanBeAskedByManyThreadsAtOnce) {
  exec::Pool pool({.workers = 2});
  const auto program = program_of(std::string(kScale) + std::string(kBlockSum));
  float bias = 3.0f;
  Image image(program, {&bias});
  std::vector<std::thread> threads;
  std::vector<exec::KernelCode> codes(8);
  for (std::size_t i = 0; i < codes.size(); ++i) threads.emplace_back([&, i] { codes[i] = image.code(i % 2, {64}); });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 2; i < codes.size(); ++i) {
    EXPECT_EQ(codes[i].run_block, codes[i % 2].run_block);
    EXPECT_EQ(codes[i].start_gang, codes[i % 2].start_gang);
  }
  expect_scales(pool, image, *program, 3.0f, {64});
}

TEST(Image, VariableMayBeCalledLikeAFunctionOfTheLibrary) {
  std::string text(kScale);
  for (std::size_t at; (at = text.find("bias")) != std::string::npos;) text.replace(at, 4, "floorf");
  exec::Pool pool({.workers = 1});
  const auto program = program_of(text);
  float bias = 7.0f;
  Image image(program, {&bias});
  expect_scales(pool, image, *program, 7.0f, {128});
}

TEST(Image, BadAccessOfAKernelIsAnOutcome) {
  exec::Pool pool({.workers = 1});
  const auto program = program_of(kScale);
  float bias = 0;
  Image image(program, {&bias});
  EXPECT_EQ(run(pool, image.code(0, {32}), program->kernels()[0], {1}, {32},
                params(std::uintptr_t{4096}, std::uintptr_t{8192}, 1.0f, 32u)),
            exec::Outcome::illegal_address);
}

TEST(Shape, SaysWhatIsKnownOfABlock) {
  EXPECT_EQ(shape_of({64}, 16), abi::BlockShape::rows);
  EXPECT_EQ(shape_of({16, 5, 3}, 16), abi::BlockShape::rows);
  EXPECT_EQ(shape_of({65}, 16), abi::BlockShape::line);
  EXPECT_EQ(shape_of({8, 2}, 16), abi::BlockShape::general);
  EXPECT_EQ(shape_of({7, 3, 2}, 1), abi::BlockShape::rows);
}

}  // namespace
}  // namespace softgpu::jit
