#include "driver/error_log.hpp"

#include <gtest/gtest.h>

namespace cuprum::driver {
namespace {

const std::vector<std::string> me = {"25642", "140"};

TEST(ErrorLog, FindsTheReasonInFrontOfTheReturn) {
  const char* log =
      "[22:21:32.099][25642][CUDA][E] the block has 4096 threads\n"
      "[22:21:32.099][25642][CUDA][E] Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuLaunchKernel_ptsz\n";
  EXPECT_EQ(find_reason(log, me, CUDA_ERROR_INVALID_VALUE, "cuLaunchKernel"), "the block has 4096 threads");
  EXPECT_EQ(find_reason(log, me, CUDA_ERROR_INVALID_VALUE, "cuMemAlloc"), "");
  EXPECT_EQ(find_reason(log, me, CUDA_ERROR_INVALID_HANDLE, "cuLaunchKernel"), "");
  EXPECT_EQ(find_reason(log, {"7"}, CUDA_ERROR_INVALID_VALUE, "cuLaunchKernel"), "") << "another thread's";
}

TEST(ErrorLog, FindsTheReasonBehindTheNameOfTheCall) {
  const char* log =
      "[22:21:32.099][25642][CUDA][E][cuMemAlloc_v2] no room\n"
      "[22:21:32.100][25642][CUDA][E][cuLogsDumpToMemory] buffer cannot be NULL\n";
  EXPECT_EQ(find_reason(log, me, CUDA_ERROR_INVALID_VALUE, "cuLogsDumpToMemory"), "buffer cannot be NULL");
  EXPECT_EQ(find_reason(log, me, CUDA_ERROR_OUT_OF_MEMORY, "cuMemAlloc"), "") << "not the last one";
}

TEST(ErrorLog, TakesTheLastOfSeveralAndAllItsLines) {
  const char* log =
      "[1][140][CUDA][E] old\n"
      "[1][140][CUDA][E] Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuMemFree_v2\n"
      "[1][99][CUDA][E] another thread's\n"
      "[1][140][CUDA][E] first\n"
      "goes on\n"
      "[1][99][CUDA][E] Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuMemFree_v2\n"
      "[1][140][CUDA][E] second\n"
      "[1][140][CUDA][E] Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuMemFree_v2\n";
  EXPECT_EQ(find_reason(log, me, CUDA_ERROR_INVALID_VALUE, "cuMemFree"), "first\ngoes on\nsecond");
}

TEST(ErrorLog, ALaterCallsReasonIsNotThisOnes) {
  const char* log =
      "[1][140][CUDA][E] a\n"
      "[1][140][CUDA][E] Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuMemFree_v2\n"
      "[1][140][CUDA][E] b\n"
      "[1][140][CUDA][E] Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuCtxSetCurrent\n";
  EXPECT_EQ(find_reason(log, me, CUDA_ERROR_INVALID_VALUE, "cuMemFree"), "");
  EXPECT_EQ(find_reason("", me, CUDA_ERROR_INVALID_VALUE, "cuMemFree"), "");
  EXPECT_EQ(find_reason("no such format\n[\n[]]\n", me, CUDA_ERROR_INVALID_VALUE, "cuMemFree"), "");
}

}  // namespace
}  // namespace cuprum::driver
