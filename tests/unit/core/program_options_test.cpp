#include "core/program_options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cuprum::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ProgramOptionsTest, SayNothingByDefault) { EXPECT_THAT(nvrtc_options({}), IsEmpty()); }

TEST(ProgramOptionsTest, AreWrittenAsNvrtcReadsThem) {
  EXPECT_THAT(nvrtc_options({.std = "c++20", .lineinfo = true, .max_register_count = 32, .fma = false}),
              ElementsAre("--std=c++20", "--generate-line-info", "--maxrregcount=32", "--fmad=false"));
  EXPECT_THAT(nvrtc_options({.debug = false, .use_fast_math = true}), ElementsAre("--use_fast_math"));
}

TEST(ProgramOptionsTest, RepeatWhatIsGivenSeveralTimes) {
  EXPECT_THAT(nvrtc_options({.define_macro = {{"A"}, {"B", "2"}}, .include_path = {"/a", "/b"}}),
              ElementsAre("--define-macro=A", "--define-macro=B=2", "--include-path=/a", "--include-path=/b"));
  EXPECT_THAT(nvrtc_options({.diag_suppress = {177, 550}}), ElementsAre("--diag-suppress=177,550"));
}

}  // namespace
}  // namespace cuprum::core
