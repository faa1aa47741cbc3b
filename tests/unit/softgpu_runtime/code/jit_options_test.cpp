#include "softgpu/runtime/code/jit_options.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <vector>

#include "softgpu/runtime/base/error.hpp"

namespace softgpu::runtime {
namespace {

using Use = JitOptions::Use;

void* number(std::uintptr_t value) { return reinterpret_cast<void*>(value); }

void fail(JitOptions& options, const char* message) {
  EXPECT_THROW(options.report([&] { throw Failure(CUDA_ERROR_INVALID_PTX, message); }), Failure);
}

TEST(JitOptions, LogIsWrittenWithItsSize) {
  char buffer[16] = "unchanged";
  CUjit_option names[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {buffer, number(sizeof buffer)};
  JitOptions options(2, names, values, Use::load);
  fail(options, "line 1");
  EXPECT_STREQ(buffer, "line 1\n");
  EXPECT_EQ(values[1], number(8));
}

TEST(JitOptions, LogsOfSeveralReportsFollowEachOther) {
  char buffer[32] = "";
  CUjit_option names[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {buffer, number(sizeof buffer)};
  JitOptions options(2, names, values, Use::link);
  EXPECT_EQ(options.report([] { return 5; }), 5);
  EXPECT_EQ(values[1], number(0));
  fail(options, "first");
  fail(options, "second");
  EXPECT_STREQ(buffer, "first\nsecond\n");
  EXPECT_EQ(values[1], number(14));
}

TEST(JitOptions, LogIsCutToTheRoomThereIs) {
  char buffer[6] = "";
  CUjit_option names[] = {CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CU_JIT_INFO_LOG_BUFFER, CU_JIT_LOG_VERBOSE};
  void* values[] = {number(5), buffer, number(1)};
  buffer[5] = '!';
  JitOptions options(3, names, values, Use::load);
  EXPECT_TRUE(options.verbose());
  options.report([&] { options.inform("long text"); });
  EXPECT_STREQ(buffer, "long");
  EXPECT_EQ(buffer[5], '!');
  EXPECT_EQ(values[0], number(5));
}

TEST(JitOptions, EmptyLogLeavesAnEmptyString) {
  char buffer[6] = "stale";
  CUjit_option names[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {buffer, number(sizeof buffer)};
  JitOptions(2, names, values, Use::load).report([] {});
  EXPECT_STREQ(buffer, "");
  EXPECT_EQ(values[1], number(0));
}

TEST(JitOptions, WithoutBuffersNothingIsWritten) {
  JitOptions none;
  fail(none, "text");
  CUjit_option names[] = {CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_OPTIMIZATION_LEVEL};
  void* values[] = {number(100), number(4)};
  JitOptions options(2, names, values, Use::load);
  fail(options, "text");
  EXPECT_EQ(values[1], number(4));
}

TEST(JitOptions, TimeIsGivenInMilliseconds) {
  CUjit_option names[] = {CU_JIT_WALL_TIME};
  void* values[] = {nullptr};
  JitOptions options(1, names, values, Use::load);
  options.report([] {});
  const auto time = [&] {
    return std::bit_cast<float>(static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(values[0])));
  };
  const float once = time();
  EXPECT_GT(once, 0);
  EXPECT_LT(once, 10'000);
  options.report([] {});
  EXPECT_GT(time(), once);
}

CUresult outcome(std::vector<CUjit_option> names, std::vector<void*> values, Use use) {
  try {
    JitOptions(static_cast<unsigned>(names.size()), names.data(), values.data(), use);
  } catch (const Failure& failure) {
    EXPECT_STRNE(failure.what(), "");
    return failure.code();
  }
  return CUDA_SUCCESS;
}

TEST(JitOptions, UnknownOnesAreRefused) {
  EXPECT_EQ(outcome({CU_JIT_NUM_OPTIONS}, {nullptr}, Use::load), CUDA_ERROR_INVALID_VALUE);
  EXPECT_THROW(JitOptions(1, nullptr, nullptr, Use::load), Failure);
}

TEST(JitOptions, AllThatExistAreTakenSomewhere) {
  for (int option = 0; option < CU_JIT_NUM_OPTIONS; ++option) {
    const auto name = static_cast<CUjit_option>(option);
    void* value = name == CU_JIT_TARGET ? number(CU_TARGET_COMPUTE_90) : nullptr;
    EXPECT_EQ(outcome({name}, {value}, Use::load), CUDA_SUCCESS) << option;
  }
}

TEST(JitOptions, ValuesThatAreNoneAreRefused) {
  EXPECT_EQ(outcome({CU_JIT_OPTIMIZATION_LEVEL}, {number(4)}, Use::load), CUDA_SUCCESS);
  EXPECT_EQ(outcome({CU_JIT_OPTIMIZATION_LEVEL}, {number(5)}, Use::load), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(outcome({CU_JIT_CACHE_MODE}, {number(3)}, Use::load), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(outcome({CU_JIT_FALLBACK_STRATEGY}, {number(2)}, Use::load), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(outcome({CU_JIT_TARGET}, {number(CU_TARGET_COMPUTE_90A)}, Use::load), CUDA_SUCCESS);
  EXPECT_EQ(outcome({CU_JIT_TARGET}, {number(7)}, Use::load), CUDA_ERROR_INVALID_VALUE);
}

TEST(JitOptions, SomeExcludeEachOther) {
  EXPECT_EQ(outcome({CU_JIT_TARGET, CU_JIT_THREADS_PER_BLOCK}, {number(90), number(64)}, Use::load),
            CUDA_ERROR_INVALID_VALUE);
}

TEST(JitOptions, InputsOfALinkTakeCompilerOptionsOnly) {
  EXPECT_EQ(outcome({CU_JIT_MAX_REGISTERS}, {number(32)}, Use::link_input), CUDA_SUCCESS);
  for (const CUjit_option option :
       {CU_JIT_WALL_TIME, CU_JIT_INFO_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER, CU_JIT_TARGET_FROM_CUCONTEXT, CU_JIT_TARGET})
    EXPECT_EQ(outcome({option}, {number(90)}, Use::link_input), CUDA_ERROR_INVALID_VALUE) << option;
  EXPECT_EQ(outcome({CU_JIT_FALLBACK_STRATEGY}, {nullptr}, Use::link), CUDA_ERROR_INVALID_VALUE);
}

TEST(JitOptions, LimitsComeBehindThoseOfThePtx) {
  CUjit_option names[] = {CU_JIT_MAX_REGISTERS, CU_JIT_MAX_THREADS_PER_BLOCK, CU_JIT_OVERRIDE_DIRECTIVE_VALUES};
  void* values[] = {number(32), number(64), number(0)};
  ptx::Module module;
  module.functions.resize(3);
  module.functions[0].is_kernel = module.functions[1].is_kernel = true;
  module.functions[1].max_registers = 128;
  module.functions[1].max_threads[0] = 16;
  module.functions[1].max_threads[1] = 16;
  JitOptions(3, names, values, Use::load).limits().apply(module);
  EXPECT_EQ(module.functions[0].max_registers, 32u);
  EXPECT_EQ(module.functions[0].max_threads[0], 64u);
  EXPECT_EQ(module.functions[1].max_registers, 128u);
  EXPECT_EQ(module.functions[1].max_threads[1], 16u);
  EXPECT_EQ(module.functions[2].max_registers, 0u) << "not a kernel";
  values[2] = number(1);
  JitOptions(3, names, values, Use::load).limits().apply(module);
  EXPECT_EQ(module.functions[1].max_registers, 32u);
  EXPECT_EQ(module.functions[1].max_threads[0], 64u);
  EXPECT_EQ(module.functions[1].max_threads[1], 1u);
}

TEST(JitOptions, WhatWouldChangeTheResultIsNotSupported) {
  EXPECT_EQ(outcome({CU_JIT_LTO}, {number(1)}, Use::link), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(outcome({CU_JIT_GLOBAL_SYMBOL_COUNT}, {number(1)}, Use::load), CUDA_ERROR_NOT_SUPPORTED);
}

}  // namespace
}  // namespace softgpu::runtime
