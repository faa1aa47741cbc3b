#include "core/compile/source_excerpt.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cuprum::core {
namespace {

constexpr const char* source = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n";

TEST(SourceExcerptTest, ShowsTheLinesAroundTheFirstError) {
  EXPECT_EQ(source_excerpt(source, "a.cu", "a.cu(2): warning #177-D: x\na.cu(5): error: y\na.cu(9): error: z\n"),
            "  2 | two\n  3 | three\n  4 | four\n> 5 | five\n  6 | six\n  7 | seven\n  8 | eight\n");
}

TEST(SourceExcerptTest, EndsWhereTheSourceEnds) {
  EXPECT_EQ(source_excerpt(source, "a.cu", "a.cu(1): error: y"), "> 1 | one\n  2 | two\n  3 | three\n  4 | four\n");
  EXPECT_EQ(source_excerpt(source, "a.cu", "a.cu(10): catastrophic error: y"),
            "   7 | seven\n   8 | eight\n   9 | nine\n> 10 | ten\n");
}

TEST(SourceExcerptTest, ReadsTheLogsOfLibnvvm) {
  EXPECT_EQ(source_excerpt(source, "a.ll", "a.ll (1, 15): parse expected type"),
            "> 1 | one\n  2 | two\n  3 | three\n  4 | four\n");
}

TEST(SourceExcerptTest, ShowsNothingForErrorsOfOtherFiles) {
  EXPECT_EQ(source_excerpt(source, "a.cu", "b.h(2): error: y"), "");
  EXPECT_EQ(source_excerpt(source, "a.cu", "a.cu.h(2): error: y"), "");
}

TEST(SourceExcerptTest, SurvivesLogsThatMakeNoSense) {
  for (const char* log : {"", "a.cu", "a.cu(", "a.cu(): error", "a.cu(x): error", "a.cu(99): error", "a.cu(0): error",
                          "a.cu(99999999999999999999): error", "\n\n"}) {
    EXPECT_EQ(source_excerpt(source, "a.cu", log), "") << log;
  }
  EXPECT_EQ(source_excerpt("", "a.cu", "a.cu(1): error"), "");
}

}  // namespace
}  // namespace cuprum::core
