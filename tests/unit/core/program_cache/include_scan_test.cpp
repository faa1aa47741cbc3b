#include "core/program_cache/include_scan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cuprum::core {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// `"a" <b>` for what a text refers to.
std::string references(std::string_view text) {
  const IncludeScan scan = scan_includes(text);
  EXPECT_THAT(scan.obstacle, IsEmpty()) << text;
  std::string names;
  for (const auto& reference : scan.references) {
    names += (names.empty() ? "" : " ") + (reference.quoted ? '"' + reference.name + '"' : '<' + reference.name + '>');
  }
  return names;
}

std::string obstacle(std::string_view text) { return scan_includes(text).obstacle; }

TEST(IncludeScan, FindsBothKindsInOrder) {
  EXPECT_EQ(references("#include <a/b.h>\nint x;\n  #  include \"c.h\"  // why\n"), "<a/b.h> \"c.h\"");
  EXPECT_EQ(references(""), "");
}

TEST(IncludeScan, FindsDirectivesHoweverTheyAreSpelled) {
  EXPECT_EQ(references("?\?=include <a>\n  ?\?= include \"b\""), "<a> \"b\"");
  EXPECT_EQ(references("#include\"a\""), "\"a\"");
  EXPECT_EQ(references("%:include <a>\n%: include <b>"), "<a> <b>");
  EXPECT_EQ(references("/* one */ # /* two */ include /* three */ <a>"), "<a>");
  EXPECT_EQ(references("/* a /* b */ #include <a>"), "<a>");
  EXPECT_EQ(references("/* first\n second */ #include <a>"), "<a>");
  EXPECT_EQ(references("# /* first\n second */ include <a>"), "<a>");
  EXPECT_EQ(references("#inc\\\nlude \"a\\\r\nb\""), "\"ab\"");
  EXPECT_EQ(references("#\\\ninclude \\\n<a>"), "<a>");
  EXPECT_EQ(references("\f#\vinclude\t<a>\r\n#include <b>\r#include <c>"), "<a> <b> <c>");
}

TEST(IncludeScan, LooksAtNoConditions) { EXPECT_EQ(references("#if 0\n#include <a>\n#endif"), "<a>"); }

TEST(IncludeScan, FindsWhatIsAskedFor) {
  EXPECT_EQ(references("#if __has_include(<a>) || defined(B) && __has_include ( \"c\" )"), "<a> \"c\"");
  EXPECT_EQ(references("#ifdef __has_include\n#endif\n#if defined(__has_include)"), "");
}

TEST(IncludeScan, AsksForNoHeaderWhereItIsAskedForHasInclude) {
  EXPECT_EQ(references("#ifndef __has_include\n#define X\n#endif"), "");
  EXPECT_EQ(references("#define X defined(__has_include)\n#define Y defined __has_include"), "");
  EXPECT_EQ(references("/* C++17 */ #if defined ( __has_include )"), "");
  EXPECT_EQ(references("// newer compilers have __has_include\n"), "");
  EXPECT_EQ(references("#define X __has_includes 1\n"), "");
}

TEST(IncludeScan, FollowsHasIncludeInAMacroOnlyWhereItsPlaceDoesNotMatter) {
  EXPECT_EQ(references("#define HAS __has_include(<a>)"), "<a>");
  EXPECT_THAT(obstacle("#define HAS __has_include(\"a\")"), HasSubstr("in a macro"));
  EXPECT_THAT(obstacle("#define HAS __has_include\n#if HAS(<a>)"), HasSubstr("another name"));
  EXPECT_THAT(obstacle("# define HAS(x) (__has_include x)"), HasSubstr("another name"));
  EXPECT_THAT(obstacle("#define HAS /*\n*/ __has_include"), HasSubstr("another name"));
  EXPECT_THAT(obstacle("#define HAS \\\n __has_include\n"), HasSubstr("another name"));
}

TEST(IncludeScan, TakesNoOtherTextForDirectives) {
  EXPECT_EQ(references("// see #include MACRO\nint included; // include <a>\nchar s[] = \"#include <b>\";"), "");
  EXPECT_EQ(references("#define include_guard\n#included x"), "");
}

TEST(IncludeScan, SaysWhatItCannotFollow) {
  EXPECT_THAT(obstacle("#include HEADER"), HasSubstr("a computed #include"));
  EXPECT_THAT(obstacle("#include STRING(a.h)\n"), HasSubstr("a computed #include"));
  EXPECT_THAT(obstacle("#include \"unfinished\n"), HasSubstr("a computed #include"));
  EXPECT_THAT(obstacle("#include"), IsEmpty());
  EXPECT_THAT(obstacle("#define HAS(x) __has_include(x)"), HasSubstr("a computed __has_include"));
  EXPECT_THAT(obstacle("#include_next <a>"), HasSubstr("#include_next"));
  EXPECT_THAT(obstacle("#if __has_include_next(<a>)"), HasSubstr("__has_include_next"));
  EXPECT_THAT(obstacle("const char* when = __DATE__;"), HasSubstr("__DATE__"));
  EXPECT_THAT(obstacle("const char* when = __TI\\\nME__;"), HasSubstr("__TIME__"));
  EXPECT_THAT(obstacle("__TIMESTAMP__"), HasSubstr("__TIMESTAMP__"));
}

TEST(IncludeScan, CannotTellWhetherATrigraphJoinsLines) {
  EXPECT_THAT(obstacle("// why?\?/\n#include <a>"), HasSubstr("trigraph"));
  EXPECT_THAT(obstacle("#inc?\?/\r\nlude <a>"), HasSubstr("trigraph"));
  EXPECT_THAT(obstacle("// what?\?/ that\n"), IsEmpty());
}

}  // namespace
}  // namespace cuprum::core
