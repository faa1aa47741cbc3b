#include "softgpu/ptx/constant.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace softgpu::ptx {
namespace {

std::int64_t value_of(std::string_view text) {
  Reader reader(text);
  try {
    const Constant constant = read_constant(reader);
    EXPECT_TRUE(reader.at_end()) << text;
    return static_cast<std::int64_t>(constant.value.bits);
  } catch (const StatementAbandoned&) {
    ADD_FAILURE() << text << ": " << reader.take_diagnostics().front().message;
    return 0;
  }
}

std::string problem_of(std::string_view text) {
  Reader reader(text);
  try {
    read_constant(reader);
  } catch (const StatementAbandoned&) {
  }
  const auto diagnostics = reader.take_diagnostics();
  return diagnostics.empty() ? "" : diagnostics.front().message;
}

TEST(ConstantExpression, HasTheOperatorsOfC) {
  EXPECT_EQ(value_of("1+2*3"), 7);
  EXPECT_EQ(value_of("(1+2)*3"), 9);
  EXPECT_EQ(value_of("-7/2"), -3);
  EXPECT_EQ(value_of("-7%3"), -1);
  EXPECT_EQ(value_of("1<<4|3"), 19);
  EXPECT_EQ(value_of("-1>>1"), -1);
  EXPECT_EQ(value_of("~0"), -1);
  EXPECT_EQ(value_of("!5"), 0);
  EXPECT_EQ(value_of("!0"), 1);
  EXPECT_EQ(value_of("5&6^1"), 5);
  EXPECT_EQ(value_of("2<3&&3<=3&&4>3&&4>=4&&1==1&&1!=2"), 1);
  EXPECT_EQ(value_of("0||0"), 0);
  EXPECT_EQ(value_of("3>2?7:8"), 7);
  EXPECT_EQ(value_of("0?7:1?2:3"), 2);
  EXPECT_EQ(value_of("10-3-2"), 5);
  EXPECT_EQ(value_of("WARP_SZ-1"), 31);
}

TEST(ConstantExpression, IsUnsignedWhenAPartIs) {
  EXPECT_EQ(value_of("-1>>60"), -1);
  EXPECT_EQ(value_of("(.u64)-1>>60"), 15);
  EXPECT_EQ(value_of("-1<1"), 1);
  EXPECT_EQ(value_of("-1<1U"), 0);
  EXPECT_EQ(value_of("(.s64)0xffffffffffffffff<0"), 1);
}

TEST(ConstantExpression, NeverFaults) {
  EXPECT_EQ(problem_of("1/0"), "division by zero in a constant expression");
  EXPECT_EQ(problem_of("1%0"), "division by zero in a constant expression");
  EXPECT_EQ(value_of("(.s64)0x8000000000000000/-1"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(value_of("(.s64)0x8000000000000000%-1"), 0);
  EXPECT_EQ(value_of("1<<64"), 0);
  EXPECT_EQ(value_of("-1>>999"), -1);
  EXPECT_EQ(problem_of(std::string(100'000, '(')), "the expression is nested too deeply");
  EXPECT_EQ(problem_of(std::string(100'000, '-')), "the expression is nested too deeply");
  std::string conditionals;
  for (int i = 0; i < 50'000; ++i) conditionals += "1?";
  EXPECT_EQ(problem_of(conditionals), "the expression is nested too deeply");
}

TEST(ConstantExpression, KeepsFloatsOutOfIntegerOperators) {
  EXPECT_EQ(problem_of("1.0+2"), "'+' needs integer constants");
  EXPECT_EQ(problem_of("~1.0"), "'~' needs integer constants");
  EXPECT_EQ(problem_of("1+"), "expected a constant, found the end of the text");
}

TEST(Convert, GivesAConstantTheFormOfItsType) {
  using Kind = Immediate::Kind;
  const Immediate one_float{Kind::float_bits, 0x3F800000}, one_double{Kind::double_bits, 0x3FF0000000000000};
  EXPECT_EQ(convert(one_double, Type::f32)->bits, 0x3F800000u);
  EXPECT_EQ(convert(one_double, Type::f32)->kind, Kind::float_bits);
  EXPECT_EQ(convert(one_float, Type::f64)->bits, 0x3FF0000000000000u);
  EXPECT_EQ(convert(one_float, Type::b32)->bits, 0x3F800000u);
  EXPECT_FALSE(convert(one_float, Type::u32));
  EXPECT_FALSE(convert(one_double, Type::b32));
  EXPECT_FALSE(convert(Immediate{Kind::integer, 1}, Type::f32));
  EXPECT_FALSE(convert(Immediate{Kind::integer, 1}, Type::f16));
}

}  // namespace
}  // namespace softgpu::ptx
