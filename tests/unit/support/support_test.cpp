#include <gtest/gtest.h>

#include <cstdlib>
#include <cuprum/error.hpp>
#include <string>
#include <vector>

#include "driver/driver_failure.hpp"
#include "support/counted.hpp"
#include "support/environment.hpp"
#include "support/log.hpp"
#include "support/near_names.hpp"
#include "support/shared_library.hpp"
#include "support/text.hpp"

namespace cuprum {
namespace {

using support::edit_distance;
using support::join;
using support::nearest_name;
using support::text;

TEST(Text, PutsItsPartsOneAfterTheOther) { EXPECT_EQ(text("a ", 1, '-', 2.5), "a 1-2.5"); }

TEST(Join, SeparatesItems) {
  EXPECT_EQ(join(std::vector<int>{}), "");
  EXPECT_EQ(join(std::vector<int>{1, 2, 3}), "1, 2, 3");
  EXPECT_EQ(join(std::vector<std::string>{"a", "b"}, " "), "a b");
}

TEST(Environment, TakesEmptyForUnset) {
  unsetenv("CUPRUM_TEST_VARIABLE");
  EXPECT_EQ(support::environment("CUPRUM_TEST_VARIABLE"), std::nullopt);
  setenv("CUPRUM_TEST_VARIABLE", "", 1);
  EXPECT_EQ(support::environment("CUPRUM_TEST_VARIABLE"), std::nullopt);
  setenv("CUPRUM_TEST_VARIABLE", "x", 1);
  EXPECT_EQ(support::environment("CUPRUM_TEST_VARIABLE"), "x");
}

TEST(Log, GoesToTheSink) {
  std::string heard;
  support::set_log_sink([&](std::string_view line) { heard = line; });
  support::log("something");
  support::set_log_sink(nullptr);
  support::log("to stderr again");
  EXPECT_EQ(heard, "something");
}

TEST(Log, SurvivesASinkThatThrows) {
  support::set_log_sink([](std::string_view) { throw 1; });
  support::log("something");
  support::set_log_sink(nullptr);
}

TEST(Counted, CountsWhatIsAlive) {
  struct Thing : support::Counted<Thing> {};
  EXPECT_EQ(Thing::alive(), 0u);
  {
    Thing one;
    Thing two = one;
    EXPECT_EQ(Thing::alive(), 2u);
  }
  EXPECT_EQ(Thing::alive(), 0u);
}

TEST(SharedLibrary, OpensWhatIsThereAndSaysWhyNot) {
  support::SharedLibrary math = support::SharedLibrary::open("libm.so.6");
  ASSERT_TRUE(math);
  EXPECT_NE(math.symbol("cos"), nullptr);
  EXPECT_EQ(math.symbol("no_such_function"), nullptr);
  EXPECT_TRUE(math.path().starts_with('/')) << math.path();
  support::SharedLibrary none = support::SharedLibrary::open("libnone.so.9");
  EXPECT_FALSE(none);
  EXPECT_TRUE(none.error().starts_with("libnone.so.9: ")) << none.error();
}

TEST(NearNames, DistanceCountsLetters) {
  EXPECT_EQ(edit_distance("scale", "scale"), 0u);
  EXPECT_EQ(edit_distance("scale", "scael"), 1u) << "swapped";
  EXPECT_EQ(edit_distance("scale", "scales"), 1u);
  EXPECT_EQ(edit_distance("scale", "cale"), 1u);
  EXPECT_EQ(edit_distance("scale", "shale"), 1u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
}

TEST(NearNames, OnlyWhatIsCloseIsMeant) {
  EXPECT_EQ(nearest_name("sacle", {"scan", "scale", "reduce"}), "scale");
  EXPECT_EQ(nearest_name("transpose", {"scan", "scale"}), "");
  EXPECT_EQ(nearest_name("x", {}), "");
  EXPECT_EQ(nearest_name(std::string(10'000, 'a'), {std::string(10'000, 'a')}), "") << "too long to compare";
}

TEST(Errors, SayWhatWasDoneTheCallAndTheDriversWords) {
  const driver::DriverFailure error(
      {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument", "cuMemAlloc", "allocating 4 bytes"});
  EXPECT_STREQ(error.what(),
               "allocating 4 bytes: cuMemAlloc failed with CUDA_ERROR_INVALID_VALUE (1): invalid argument");
  const driver::DriverFailure bare({1, "CUDA_ERROR_INVALID_VALUE", "invalid argument", "cuMemAlloc", ""});
  EXPECT_STREQ(bare.what(), "cuMemAlloc failed with CUDA_ERROR_INVALID_VALUE (1): invalid argument");
}

TEST(Errors, HaveTheLogOfTheCompilerAndTheLinker) {
  const CompileError compile("could not compile 'a.cu'", "a.cu(1): error");
  EXPECT_STREQ(compile.what(), "could not compile 'a.cu'\na.cu(1): error");
  EXPECT_EQ(compile.log(), "a.cu(1): error");
  const LinkError link("could not link", "undefined f");
  EXPECT_STREQ(link.what(), "could not link\nundefined f");
  EXPECT_EQ(link.log(), "undefined f");
}

TEST(Errors, AreAllCaughtAsError) {
  EXPECT_THROW(throw OutOfMemory({2, "CUDA_ERROR_OUT_OF_MEMORY", "", "cuMemAlloc", ""}), DriverError);
  EXPECT_THROW(throw OutOfMemory({2, "CUDA_ERROR_OUT_OF_MEMORY", "", "cuMemAlloc", ""}), Error);
  EXPECT_THROW(throw CompileError("", ""), Error);
  EXPECT_THROW(throw LinkError("", ""), Error);
  EXPECT_THROW(throw InvalidArgument("x"), Error);
  EXPECT_THROW(throw NotSupported("x"), Error);
  static_assert(std::is_nothrow_copy_constructible_v<DriverError>);
  static_assert(std::is_nothrow_copy_constructible_v<CompileError>);
}

}  // namespace
}  // namespace cuprum
