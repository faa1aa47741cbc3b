// Half precision and bfloat16, single and in pairs.
#include "ptx/batch.hpp"
#include "ptx/reference.hpp"
#include "ptx/run_kernel.hpp"

namespace ptx_test {
namespace {

template <typename T>
struct Name;
template <>
struct Name<Half> {
  static constexpr const char* type = ".f16";
};
template <>
struct Name<BFloat> {
  static constexpr const char* type = ".bf16";
};

template <typename T>
T add(T a, T b) {
  return from_double<T>(add_to_odd(to_double(a), to_double(b)));
}
template <typename T>
T negated(T a) {
  return {static_cast<std::uint16_t>(a.bits ^ 0x8000)};
}
template <typename T>
T absolute(T a) {
  return {static_cast<std::uint16_t>(a.bits & 0x7fff)};
}
template <typename T>
T multiply(T a, T b) {
  return from_double<T>(to_double(a) * to_double(b));
}
template <typename T>
T fused(T a, T b, T c) {
  const double product = to_double(a) * to_double(b);
  return from_double<T>(std::isfinite(product) && std::isfinite(to_double(c)) ? add_to_odd(product, to_double(c))
                                                                              : product + to_double(c));
}
template <typename T>
T nan_of() {
  return {0x7fff};
}
template <typename T>
T smaller(T a, T b) {
  const double x = to_double(a), y = to_double(b);
  if (std::isnan(x)) return std::isnan(y) ? nan_of<T>() : b;
  if (std::isnan(y)) return a;
  return x < y || (x == y && std::signbit(x)) ? a : b;
}
template <typename T>
T larger(T a, T b) {
  return negated(smaller(negated(a), negated(b)));
}
template <typename T>
T relu(T a) {
  return is_nan(a) ? nan_of<T>() : a.bits & 0x8000 ? T{0} : a;
}

template <typename T>
class SmallFloat : public PtxTest {};
using SmallFloatTypes = testing::Types<Half, BFloat>;
TYPED_TEST_SUITE(SmallFloat, SmallFloatTypes);

TYPED_TEST(SmallFloat, Arithmetic) {
  using T = TypeParam;
  const std::string type = Name<T>::type;
  const auto values = some_of(edge_values<T>(), 45);
  Batch<T, T, T> batch(values, values);
  batch.add("add" + type + " d, a, b;", [](T a, T b) { return add(a, b); });
  batch.add("add.rn" + type + " d, a, b;", [](T a, T b) { return add(a, b); });
  batch.add("sub" + type + " d, a, b;", [](T a, T b) { return add(a, negated(b)); });
  batch.add("mul" + type + " d, a, b;", [](T a, T b) { return multiply(a, b); });
  batch.add("neg" + type + " d, a;", [](T a, T) { return negated(a); });
  batch.add("abs" + type + " d, a;", [](T a, T) { return absolute(a); });
  batch.add("min" + type + " d, a, b;", [](T a, T b) { return smaller(a, b); });
  batch.add("max" + type + " d, a, b;", [](T a, T b) { return larger(a, b); });
  batch.add("min.NaN" + type + " d, a, b;",
            [](T a, T b) { return is_nan(a) || is_nan(b) ? nan_of<T>() : smaller(a, b); });
  batch.add("max.NaN" + type + " d, a, b;",
            [](T a, T b) { return is_nan(a) || is_nan(b) ? nan_of<T>() : larger(a, b); });
  batch.run();
}

// Alone in a kernel each: what else is done with the operands changes what LLVM makes of them.
TYPED_TEST(SmallFloat, MinimumOfNaNAndZeroIsTheNaNIfThatIsAskedFor) {
  using T = TypeParam;
  const std::string type = Name<T>::type;
  const std::vector<T> values{{0x0000}, {0x8000}, {0x7fff}, {0xffff}, T{0x7fc1}, from_double<T>(1.5)};
  for (const bool is_min : {true, false}) {
    Batch<T, T, T> batch(values, values);
    batch.add((is_min ? "min.NaN" : "max.NaN") + type + " d, a, b;", [is_min](T a, T b) {
      return is_nan(a) || is_nan(b) ? nan_of<T>() : is_min ? smaller(a, b) : larger(a, b);
    });
    batch.run();
  }
}

TYPED_TEST(SmallFloat, FusedMultiplyAdd) {
  using T = TypeParam;
  const std::string type = Name<T>::type;
  const auto values = some_of(edge_values<T>(), 22);
  Batch<T, T, T, T> batch(values, values, values);
  batch.add("fma.rn" + type + " d, a, b, c;", [](T a, T b, T c) { return fused(a, b, c); });
  batch.add("fma.rn.relu" + type + " d, a, b, c;", [](T a, T b, T c) { return relu(fused(a, b, c)); });
  batch.run();
}

TYPED_TEST(SmallFloat, Comparison) {
  using T = TypeParam;
  using U = std::uint32_t;
  const std::string type = Name<T>::type;
  const auto values = some_of(edge_values<T>(), 30);
  Batch<U, T, T> batch(values, values);
  const auto compare = [&](const char* name, bool (*holds)(double, double)) {
    batch.add("setp." + std::string(name) + type + " p, a, b; selp.u32 d, 1, 0, p;",
              [=](T a, T b) { return U{holds(to_double(a), to_double(b))}; });
  };
  compare("eq", [](double a, double b) { return a == b; });
  compare("ne", [](double a, double b) { return a < b || a > b; });
  compare("lt", [](double a, double b) { return a < b; });
  compare("geu", [](double a, double b) { return !(a < b); });
  compare("neu", [](double a, double b) { return a != b; });
  compare("num", [](double a, double b) { return !std::isnan(a) && !std::isnan(b); });
  compare("nan", [](double a, double b) { return std::isnan(a) || std::isnan(b); });
  batch.add("setp.lt" + type + " q, b, a; setp.eq.or" + type + " p, a, b, q; selp.u32 d, 1, 0, p;",
            [](T a, T b) { return U{to_double(b) <= to_double(a)}; });
  batch.add("set.lt.u32" + type + " d, a, b;", [](T a, T b) { return to_double(a) < to_double(b) ? ~0u : 0u; });
  batch.run();
}

TYPED_TEST(SmallFloat, Pairs) {
  using T = TypeParam;
  using P = Pair<T>;
  const std::string type = std::string(Name<T>::type) + "x2";
  const auto values = some_of(edge_pairs<T>(), 45);
  Batch<P, P, P> batch(values, values);
  const auto each = [&](const std::string& statement, T (*operation)(T, T)) {
    batch.add(statement, [=](P a, P b) { return P{operation(a.low, b.low), operation(a.high, b.high)}; });
  };
  each("add" + type + " d, a, b;", [](T a, T b) { return add(a, b); });
  each("sub" + type + " d, a, b;", [](T a, T b) { return add(a, negated(b)); });
  each("mul" + type + " d, a, b;", [](T a, T b) { return multiply(a, b); });
  each("fma.rn" + type + " d, a, b, a;", [](T a, T b) { return fused(a, b, a); });
  each("fma.rn.relu" + type + " d, a, b, a;", [](T a, T b) { return relu(fused(a, b, a)); });
  each("neg" + type + " d, a;", [](T a, T) { return negated(a); });
  each("abs" + type + " d, a;", [](T a, T) { return absolute(a); });
  each("min" + type + " d, a, b;", [](T a, T b) { return smaller(a, b); });
  each("max" + type + " d, a, b;", [](T a, T b) { return larger(a, b); });
  const std::uint16_t one = from_double<T>(1).bits;
  batch.add("set.gt" + type + type + " d, a, b;", [=](P a, P b) {
    const auto truth = [=](T x, T y) { return T{to_double(x) > to_double(y) ? one : std::uint16_t{0}}; };
    return P{truth(a.low, b.low), truth(a.high, b.high)};
  });
  batch.run();
  using U = std::uint32_t;
  Batch<U, P, P> predicates(values, values);
  predicates.add("setp.lt" + type + " p|q, a, b; selp.u32 d, 1, 0, p; @q add.u32 d, d, 2;", [](P a, P b) {
    return U{to_double(a.low) < to_double(b.low)} + 2 * U{to_double(a.high) < to_double(b.high)};
  });
  predicates.run();
}

TYPED_TEST(SmallFloat, ApproximateFunctions) {
  using T = TypeParam;
  const std::string type = Name<T>::type;
  std::vector<T> values;
  for (const double value : {0.0, 1.0, -1.0, 0.5, -0.5, 2.0, 3.25, -4.0, 6.5}) values.push_back(from_double<T>(value));
  Batch<float, T> batch(values);
  const Tolerance near = {std::is_same_v<T, Half> ? 2e-3 : 1.6e-2, 1e-3};
  batch.add(
      "ex2.approx" + std::string(std::is_same_v<T, Half> ? "" : ".ftz") + type + " h, a; cvt.f32" + type + " d, h;",
      [](T a) { return static_cast<float>(std::exp2(to_double(a))); }, near);
  batch.add(
      "tanh.approx" + type + " h, a; cvt.f32" + type + " d, h;",
      [](T a) { return static_cast<float>(std::tanh(to_double(a))); }, near);
  batch.run();
}

using HalfOnly = PtxTest;

TEST_F(HalfOnly, FlushesAndSaturates) {
  const auto flushed = [](Half a) {
    return (a.bits & 0x7c00) == 0 ? Half{static_cast<std::uint16_t>(a.bits & 0x8000)} : a;
  };
  const auto saturated = [](Half a) {
    return is_nan(a) || a.bits & 0x8000 ? Half{0} : to_double(a) > 1 ? to_half(1) : a;
  };
  const auto values = some_of(edge_values<Half>(), 45);
  Batch<Half, Half, Half> batch(values, values);
  batch.add("add.ftz.f16 d, a, b;", [=](Half a, Half b) { return flushed(add(flushed(a), flushed(b))); });
  // A product below the normal numbers is flushed even if rounding would make it one.
  batch.add("mul.ftz.f16 d, a, b;", [=](Half a, Half b) {
    const double exact = to_double(flushed(a)) * to_double(flushed(b));
    return std::abs(exact) < 0x1p-14 ? from_double<Half>(std::copysign(0.0, exact)) : from_double<Half>(exact);
  });
  batch.add("min.ftz.f16 d, a, b;", [=](Half a, Half b) { return smaller(flushed(a), flushed(b)); });
  batch.add("abs.ftz.f16 d, a;", [=](Half a, Half) { return absolute(flushed(a)); });
  batch.run();
  // Whether the zero that saturation gives has a sign is not said: make it a number first.
  Batch<float, Half, Half> saturating(values, values);
  saturating.add(
      "add.sat.f16 h, a, b; cvt.f32.f16 d, h;",
      [=](Half a, Half b) { return static_cast<float>(to_double(saturated(add(a, b)))); }, kSignOfZeroAside);
  saturating.add(
      "fma.rn.sat.f16 h, a, b, a; cvt.f32.f16 d, h;",
      [=](Half a, Half b) { return static_cast<float>(to_double(saturated(fused(a, b, a)))); }, kSignOfZeroAside);
  saturating.run();
}

// Whatever the block's shape, and with it the width that the code is compiled for.
// An integer with few digits may be too large all the same; infinity times zero is no number.
TEST_F(HalfOnly, LargeIntegersBecomeInfinite) {
  for (const char* convert :
       {"cvt.rn.f16.s32 %h0, %r0;", "cvt.rn.f32.s32 %f0, %r0; cvt.rn.f16.f32 %h0, %f0;", "cvt.rn.f16.u32 %h0, %r0;"}) {
    const std::string text =
        kernel_text(own_element() + "shl.b32 %r0, %t, 31; " + convert +
                    "mov.b16 %h1, 0; mul.rn.f16 %h2, %h0, %h1; cvt.u32.u16 %r1, %h2;\n" + store("%r1"));
    EXPECT_EQ(run_kernel(text, std::vector<std::uint32_t>(32), {.block_x = 32}),
              each_thread(32, [](unsigned i) { return i % 2 == 1 ? 0x7fffu : 0u; }))
        << convert;
  }
}

TEST_F(PtxTest, ConversionsWithReluMakeEveryNaNTheSame) {
  for (const std::string convert : {"cvt.rn.relu.f16.f32 %h0, %f0; mov.b32 %r1, {%h0, %h0};",
                                    "cvt.rz.relu.f16x2.f32 %r1, %f0, %f0;", "cvt.rn.relu.bf16x2.f32 %r1, %f0, %f0;"}) {
    const std::string text = kernel_text(
        own_element() + "shl.b32 %r0, %t, 31; or.b32 %r0, %r0, 0x7f971e55; mov.b32 %f0, %r0;" + convert + store("%r1"));
    EXPECT_EQ(run_kernel(text, std::vector<std::uint32_t>(32), {.block_x = 32}),
              each_thread(32, [](unsigned) { return 0x7fff7fffu; }))
        << convert;
  }
}

class CanonicalNaN : public PtxTest, public testing::WithParamInterface<unsigned> {};

TEST_P(CanonicalNaN, IsWhatArithmeticGives) {
  for (const std::string type : {".f16", ".bf16"}) {
    const std::string infinity = type == ".f16" ? "0x7c00" : "0x7f80";
    const std::string negative = type == ".f16" ? "0xfc00" : "0xff80";
    const std::string odd_nan = type == ".f16" ? "0xfd01" : "0xffc1";
    // Of the thread's number, so that nothing is known when it is compiled: it is 0 times it.
    const std::string operands = "mov.b16 %h0, " + infinity + "; mov.b16 %h1, " + negative + "; mov.b16 %h2, " +
                                 odd_nan +
                                 "; shr.u32 %r0, %t, 16; cvt.u16.u32 %h3, %r0; or.b16 %h0, %h0, %h3; "
                                 "or.b16 %h1, %h1, %h3; or.b16 %h2, %h2, %h3; or.b16 %h5, %h2, 2;\n";
    // (Of a minimum of a register and itself ptxas makes the register.)
    for (const std::string& operation :
         {"add.rn" + type + " %h4, %h0, %h1;", "sub.rn" + type + " %h4, %h0, %h0;", "mul.rn" + type + " %h4, %h0, %h3;",
          "add.rn" + type + " %h4, %h2, %h2;", "fma.rn" + type + " %h4, %h0, %h3, %h0;",
          "min" + type + " %h4, %h2, %h5;", "max.NaN" + type + " %h4, %h0, %h2;"}) {
      const std::string text =
          kernel_text(own_element() + operands + operation + "cvt.u32.u16 %r1, %h4;\n" + store("%r1"));
      const Shape shape{.block_x = GetParam(), .block_y = GetParam() == 33 ? 2u : 1u};
      for (const std::uint32_t bits : run_kernel(text, std::vector<std::uint32_t>(GetParam()), shape))
        ASSERT_EQ(bits, 0x7fffu) << operation;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Blocks, CanonicalNaN, testing::Values(1, 7, 32, 33, 64));

}  // namespace
}  // namespace ptx_test
