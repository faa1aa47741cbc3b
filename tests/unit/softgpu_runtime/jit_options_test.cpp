#include "softgpu/runtime/jit_options.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "softgpu/runtime/error.hpp"

namespace softgpu::runtime {
namespace {

void* number(std::uintptr_t value) { return reinterpret_cast<void*>(value); }

TEST(JitOptions, LogIsWrittenWithItsSize) {
  char buffer[16] = "unchanged";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {buffer, number(sizeof buffer)};
  JitOptions(2, options, values).write_error_log("line 1");
  EXPECT_STREQ(buffer, "line 1");
  EXPECT_EQ(values[1], number(7));
}

TEST(JitOptions, LogIsCutToTheRoomThereIs) {
  char buffer[6] = "";
  CUjit_option options[] = {CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CU_JIT_INFO_LOG_BUFFER};
  void* values[] = {number(5), buffer};
  buffer[5] = '!';
  JitOptions(2, options, values).write_info_log("long text");
  EXPECT_STREQ(buffer, "long");
  EXPECT_EQ(buffer[5], '!');
  EXPECT_EQ(values[0], number(5));
}

TEST(JitOptions, EmptyLogLeavesAnEmptyString) {
  char buffer[6] = "stale";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {buffer, number(sizeof buffer)};
  JitOptions(2, options, values).write_error_log("");
  EXPECT_STREQ(buffer, "");
  EXPECT_EQ(values[1], number(0));
}

TEST(JitOptions, WithoutBuffersNothingIsWritten) {
  JitOptions().write_error_log("text");
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_OPTIMIZATION_LEVEL};
  void* values[] = {number(100), number(4)};
  JitOptions(2, options, values).write_error_log("text");
  EXPECT_EQ(values[1], number(4));
}

TEST(JitOptions, UnknownOnesAreRefused) {
  CUjit_option options[] = {CU_JIT_NUM_OPTIONS};
  void* values[] = {nullptr};
  EXPECT_THROW(JitOptions(1, options, values), Failure);
  EXPECT_THROW(JitOptions(1, nullptr, nullptr), Failure);
}

}  // namespace
}  // namespace softgpu::runtime
