#include "toolchain/nvrtc.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cuprum/error.hpp>

namespace cuprum::toolchain {
namespace {

TEST(NvrtcTest, IsFoundWithItsHeaders) {
  int major = 0;
  int minor = 0;
  ASSERT_EQ(nvrtc().nvrtcVersion(&major, &minor), NVRTC_SUCCESS);
  EXPECT_GE(major, 12);
  ASSERT_FALSE(nvrtc().header_folders.empty());
  EXPECT_TRUE(std::filesystem::exists(nvrtc().header_folders.front() / "cuda_fp16.h"));
}

TEST(NvrtcDeathTest, AWrongVariableIsReported) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        setenv("CUPRUM_NVRTC", "/nowhere/libnvrtc.so", 1);
        try {
          nvrtc();
        } catch (const NotSupported& error) {
          fputs(error.what(), stderr);
          _Exit(0);
        }
        _Exit(1);
      },
      ::testing::ExitedWithCode(0), "'nvrtc' can't be opened: CUPRUM_NVRTC is '/nowhere/libnvrtc.so'");
}

}  // namespace
}  // namespace cuprum::toolchain
