#include "softgpu/ptx/lexer.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace softgpu::ptx {
namespace {

std::vector<Token> tokens(std::string_view text) {
  Lexer lexer(text);
  std::vector<Token> all;
  while (lexer.peek().kind != Token::Kind::end) all.push_back(lexer.take());
  return all;
}

Token only(std::string_view text) {
  const std::vector<Token> all = tokens(text);
  EXPECT_EQ(all.size(), 1u) << text;
  return all.empty() ? Token{} : all.front();
}

TEST(Lexer, KnowsLinesAndColumns) {
  const auto all = tokens("add\n  %r1 /* two\nlines */ x // end\n\ty");
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].where.line, 1u);
  EXPECT_EQ(all[1].where.line, 2u);
  EXPECT_EQ(all[1].where.column, 3u);
  EXPECT_EQ(all[2].where.line, 3u);
  EXPECT_EQ(all[2].where.column, 10u);
  EXPECT_EQ(all[3].where.line, 4u);
  EXPECT_EQ(all[3].where.column, 2u);
}

TEST(Lexer, ReadsNames) {
  for (const char* name : {"%r1", "_Z4kernPf", "$L__BB0_2", "_", "%SP", "a$b"}) {
    EXPECT_EQ(only(name).kind, Token::Kind::identifier) << name;
    EXPECT_EQ(only(name).text, name);
  }
  EXPECT_EQ(only(".visible").kind, Token::Kind::directive);
  EXPECT_EQ(only(".shared::cta").text, ".shared::cta");
}

TEST(Lexer, ReadsIntegersInAllBases) {
  EXPECT_EQ(only("42").bits, 42u);
  EXPECT_EQ(only("0x2A").bits, 42u);
  EXPECT_EQ(only("0X2a").bits, 42u);
  EXPECT_EQ(only("052").bits, 42u);
  EXPECT_EQ(only("0b101010").bits, 42u);
  EXPECT_EQ(only("0").bits, 0u);
  EXPECT_FALSE(only("42").is_unsigned);
  EXPECT_TRUE(only("42U").is_unsigned);
  EXPECT_EQ(only("0x2AU").bits, 42u);
  EXPECT_EQ(only("18446744073709551615").bits, ~std::uint64_t{0});
  EXPECT_TRUE(only("18446744073709551615").is_unsigned);
}

TEST(Lexer, ReadsFloats) {
  EXPECT_EQ(only("0f3F800000").kind, Token::Kind::float_bits);
  EXPECT_EQ(only("0f3F800000").bits, 0x3F800000u);
  EXPECT_EQ(only("0D3FF0000000000000").kind, Token::Kind::double_bits);
  EXPECT_EQ(only("0D3FF0000000000000").bits, 0x3FF0000000000000u);
  EXPECT_EQ(only("1.0").bits, 0x3FF0000000000000u);
  EXPECT_EQ(only("1e0").bits, 0x3FF0000000000000u);
  EXPECT_EQ(only("1.0e-1").bits, 0x3FB999999999999Au);
  EXPECT_EQ(only("0.5").bits, 0x3FE0000000000000u);
  EXPECT_EQ(only(".5").bits, 0x3FE0000000000000u);
}

TEST(Lexer, SaysWhatIsWrongWithANumber) {
  EXPECT_STREQ(only("0f3F80000").problem, "a 0f constant has 8 hexadecimal digits");
  EXPECT_STREQ(only("0d3F80000").problem, "a 0d constant has 16 hexadecimal digits");
  EXPECT_STREQ(only("99999999999999999999").problem, "the number does not fit 64 bits");
  EXPECT_STREQ(only("09").problem, "not a number");
  EXPECT_STREQ(only("12abc").problem, "not a number");
  EXPECT_STREQ(only("0x").problem, "not a number");
  EXPECT_STREQ(only("1e999").problem, "the number does not fit a double");
}

TEST(Lexer, ReadsStringsAndTwoCharacterSymbols) {
  EXPECT_EQ(only("\"a \\\" b\"").text, "a \\\" b");
  EXPECT_EQ(only("\"open").kind, Token::Kind::invalid);
  EXPECT_EQ(only("\"open\n").kind, Token::Kind::invalid);
  const auto all = tokens("<<>=&&||!=<");
  ASSERT_EQ(all.size(), 6u);
  EXPECT_TRUE(all[0].is("<<"));
  EXPECT_TRUE(all[1].is(">="));
  EXPECT_TRUE(all[5].is("<"));
}

TEST(Lexer, TakesSuffixesInOnePiece) {
  Lexer lexer("ld.global.L1::evict_last.L2::128B.v4.f32 {%f1}");
  EXPECT_EQ(lexer.take().text, "ld");
  EXPECT_EQ(lexer.take_suffixes(), ".global.L1::evict_last.L2::128B.v4.f32");
  EXPECT_TRUE(lexer.peek().is("{"));
  EXPECT_EQ(lexer.peek().where.column, 42u);
}

TEST(Lexer, NamesWhatPtxDoesNotHave) {
  EXPECT_EQ(only("\x01").kind, Token::Kind::invalid);
  EXPECT_EQ(describe(only("\x01")), "'\\x01'");
  EXPECT_EQ(only("/* open").kind, Token::Kind::invalid);
  EXPECT_EQ(describe(Token{}), "the end of the text");
}

}  // namespace
}  // namespace softgpu::ptx
