// Single and double precision.
#include "ptx/batch.hpp"
#include "ptx/reference.hpp"

namespace ptx_test {
namespace {

template <typename T>
class Float : public PtxTest {};
using FloatTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(Float, FloatTypes);

template <typename T>
std::string type_name() {
  return sizeof(T) == 4 ? ".f32" : ".f64";
}

// Operands go through volatile, or the compiler would compute before the rounding mode is set.
template <typename T>
T opaque(T value) {
  const volatile T copy = value;
  return copy;
}

// PTX: a number wins over NaN, and -0 is below +0.
template <typename T>
T smaller(T a, T b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  return a < b || (a == b && std::signbit(a)) ? a : b;
}
template <typename T>
T larger(T a, T b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  return a > b || (a == b && std::signbit(b)) ? a : b;
}

TYPED_TEST(Float, RoundsEachWay) {
  using T = TypeParam;
  const std::string type = type_name<T>();
  const auto values = edge_values<T>();
  Batch<T, T, T> batch(values, values);
  for (const Rounding rounding : kRoundings) {
    const std::string suffix = rounding.suffix + type + " d, a, b;";
    batch.add("add" + suffix, [=](T a, T b) { return rounded(rounding, [&] { return opaque(a) + opaque(b); }); });
    batch.add("sub" + suffix, [=](T a, T b) { return rounded(rounding, [&] { return opaque(a) - opaque(b); }); });
    batch.add("mul" + suffix, [=](T a, T b) { return rounded(rounding, [&] { return opaque(a) * opaque(b); }); });
    batch.add("div" + suffix, [=](T a, T b) { return rounded(rounding, [&] { return opaque(a) / opaque(b); }); });
    batch.add("rcp" + std::string(rounding.suffix) + type + " d, a;",
              [=](T a, T) { return rounded(rounding, [&] { return opaque(T(1)) / opaque(a); }); });
    batch.add("sqrt" + std::string(rounding.suffix) + type + " d, a;",
              [=](T a, T) { return rounded(rounding, [&] { return std::sqrt(opaque(a)); }); });
  }
  batch.add("add" + type + " d, a, b;", [](T a, T b) { return a + b; });
  batch.add("mul" + type + " d, a, b;", [](T a, T b) { return a * b; });
  batch.add("add" + type + " d, a, 1.5;", [](T a, T) { return a + T(1.5); });
  batch.run();
}

TYPED_TEST(Float, MultipliesAndAddsInOneRounding) {
  using T = TypeParam;
  const std::string type = type_name<T>();
  const auto values = some_of(edge_values<T>(), 22);
  Batch<T, T, T, T> batch(values, values, values);
  for (const Rounding rounding : kRoundings) {
    const auto fma = [=](T a, T b, T c) {
      return rounded(rounding, [&] { return std::fma(opaque(a), opaque(b), opaque(c)); });
    };
    batch.add("fma" + std::string(rounding.suffix) + type + " d, a, b, c;", fma);
    batch.add("mad" + std::string(rounding.suffix) + type + " d, a, b, c;", fma);
  }
  batch.run();
}

TYPED_TEST(Float, HasSignsAndLimits) {
  using T = TypeParam;
  const std::string type = type_name<T>();
  const auto values = edge_values<T>();
  Batch<T, T, T> batch(values, values);
  batch.add("min" + type + " d, a, b;", [](T a, T b) { return smaller(a, b); });
  batch.add("max" + type + " d, a, b;", [](T a, T b) { return larger(a, b); });
  batch.add("abs" + type + " d, a;", [](T a, T) { return std::abs(a); });
  batch.add("neg" + type + " d, a;", [](T a, T) { return -a; });
  batch.add("copysign" + type + " d, a, b;", [](T a, T b) { return std::copysign(b, a); });
  batch.run();
}

TYPED_TEST(Float, IsClassified) {
  using T = TypeParam;
  using U = std::uint32_t;
  Batch<U, T> batch(edge_values<T>());
  const auto test = [&](const char* name, bool (*holds)(T)) {
    batch.add("testp." + std::string(name) + type_name<T>() + " p, a; selp.u32 d, 1, 0, p;",
              [=](T a) { return U{holds(a)}; });
  };
  test("finite", [](T a) { return bool(std::isfinite(a)); });
  test("infinite", [](T a) { return bool(std::isinf(a)); });
  test("number", [](T a) { return !std::isnan(a); });
  test("notanumber", [](T a) { return bool(std::isnan(a)); });
  test("normal", [](T a) { return std::isnormal(a) || a == 0; });  // PTX counts zero as normal
  test("subnormal", [](T a) { return std::fpclassify(a) == FP_SUBNORMAL; });
  batch.run();
}

using SingleFloat = PtxTest;

TEST_F(SingleFloat, FlushesSubnormalNumbers) {
  const auto values = edge_values<float>();
  Batch<float, float, float> batch(values, values);
  for (const Rounding rounding : kRoundings) {
    const std::string suffix = std::string(rounding.suffix) + ".ftz.f32 d, a, b;";
    batch.add("add" + suffix, [=](float a, float b) {
      return flush(rounded(rounding, [&] { return opaque(flush(a)) + opaque(flush(b)); }));
    });
    batch.add("sub" + suffix, [=](float a, float b) {
      return flush(rounded(rounding, [&] { return opaque(flush(a)) - opaque(flush(b)); }));
    });
    batch.add("mul" + suffix, [=](float a, float b) {
      return flush(rounded(rounding, [&] { return opaque(flush(a)) * opaque(flush(b)); }));
    });
    // A quotient below the normal numbers is flushed even if directed rounding would make it one.
    const bool directed = suffix.starts_with(".rm") || suffix.starts_with(".rp");
    batch.add("div" + suffix, [=](float a, float b) {
      const double exact = static_cast<double>(flush(a)) / static_cast<double>(flush(b));
      if (directed && std::abs(exact) < 0x1p-126) return static_cast<float>(std::copysign(0.0, exact));
      return flush(rounded(rounding, [&] { return opaque(flush(a)) / opaque(flush(b)); }));
    });
  }
  batch.add("abs.ftz.f32 d, a;", [](float a, float) { return std::abs(flush(a)); });
  batch.add("neg.ftz.f32 d, a;", [](float a, float) { return -flush(a); });
  batch.add("min.ftz.f32 d, a, b;", [](float a, float b) { return smaller(flush(a), flush(b)); });
  batch.add("max.ftz.f32 d, a, b;", [](float a, float b) { return larger(flush(a), flush(b)); });
  batch.add("sqrt.rn.ftz.f32 d, a;", [](float a, float) { return std::sqrt(flush(a)); });
  batch.add("rcp.rn.ftz.f32 d, a;", [](float a, float) { return flush(1.0f / flush(a)); });
  batch.run();
}

TEST_F(SingleFloat, SaturatesToOne) {
  const auto values = edge_values<float>();
  Batch<float, float, float> batch(values, values);
  batch.add("add.sat.f32 d, a, b;", [](float a, float b) { return saturate(a + b); }, kSignOfZeroAside);
  batch.add("sub.sat.f32 d, a, b;", [](float a, float b) { return saturate(a - b); }, kSignOfZeroAside);
  batch.add("mul.sat.f32 d, a, b;", [](float a, float b) { return saturate(a * b); }, kSignOfZeroAside);
  batch.add(
      "fma.rn.sat.f32 d, a, b, a;", [](float a, float b) { return saturate(std::fma(a, b, a)); }, kSignOfZeroAside);
  batch.add(
      "add.ftz.sat.f32 d, a, b;", [](float a, float b) { return saturate(flush(flush(a) + flush(b))); },
      kSignOfZeroAside);
  batch.run();
}

TEST_F(SingleFloat, HasLimitsWithNanAndSign) {
  const auto values = edge_values<float>();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto sign = [](float value, float a, float b) {
    return std::copysign(value, std::signbit(a) != std::signbit(b) ? -1.0f : 1.0f);
  };
  Batch<float, float, float> batch(values, values);
  batch.add("min.NaN.f32 d, a, b;",
            [=](float a, float b) { return std::isnan(a) || std::isnan(b) ? nan : smaller(a, b); });
  batch.add("max.NaN.f32 d, a, b;",
            [=](float a, float b) { return std::isnan(a) || std::isnan(b) ? nan : larger(a, b); });
  batch.add("min.xorsign.abs.f32 d, a, b;",
            [=](float a, float b) { return sign(smaller(std::abs(a), std::abs(b)), a, b); });
  batch.add("max.xorsign.abs.f32 d, a, b;",
            [=](float a, float b) { return sign(larger(std::abs(a), std::abs(b)), a, b); });
  batch.run();
}

// Where a value is expected to be near: PTX promises a few units in the last place, or 2^-20 and the like.
constexpr Tolerance kApproximate = {1e-6, 1e-38};
const std::vector<float> kOrdinary = {0.0f,  1.0f,   -1.0f,  0.5f,  2.0f, 3.0f,  -2.5f,
                                      10.0f, 0.001f, 100.0f, 1e-3f, 1e3f, 7.25f, 0.7071f};

TEST_F(SingleFloat, HasApproximateFunctions) {
  Batch<float, float> batch(kOrdinary);
  const auto nan = std::numeric_limits<float>::quiet_NaN();
  batch.add("rcp.approx.f32 d, a;", [](float a) { return 1.0f / a; }, kApproximate);
  batch.add("sqrt.approx.f32 d, a;", [](float a) { return std::sqrt(a); }, kApproximate);
  batch.add("rsqrt.approx.f32 d, a;", [=](float a) { return a < 0 ? nan : 1.0f / std::sqrt(a); }, kApproximate);
  batch.add("lg2.approx.f32 d, a;", [](float a) { return std::log2(a); }, {2e-6, 2e-7});
  batch.add("sin.approx.f32 d, a;", [](float a) { return std::sin(a); }, {0, 1e-3});
  batch.add("cos.approx.f32 d, a;", [](float a) { return std::cos(a); }, {0, 1e-3});
  batch.add("tanh.approx.f32 d, a;", [](float a) { return std::tanh(a); }, {6e-4, 1e-7});
  batch.add("ex2.approx.ftz.f32 d, a;", [](float a) { return flush(std::exp2(a)); }, kApproximate);
  batch.add("ex2.approx.f32 d, a;", [](float a) { return std::exp2(a); }, kApproximate);
  batch.run();
}

TEST_F(SingleFloat, HasApproximateFunctionsOfSpecialValues) {
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  Batch<float, float> batch({0.0f, -0.0f, infinity, -infinity, nan});
  const auto add = [&](const std::string& name, std::vector<float> expected) {
    batch.add(name + ".approx.f32 d, a;", [=](float a) {
      if (std::isnan(a)) return expected[4];
      return expected[(std::isinf(a) ? 2u : 0u) + (std::signbit(a) ? 1u : 0u)];
    });
  };
  add("rcp", {infinity, -infinity, 0.0f, -0.0f, nan});
  add("sqrt", {0.0f, -0.0f, infinity, nan, nan});
  add("rsqrt", {infinity, -infinity, 0.0f, nan, nan});
  add("lg2", {-infinity, -infinity, infinity, nan, nan});
  add("ex2", {1.0f, 1.0f, infinity, 0.0f, nan});
  add("sin", {0.0f, -0.0f, nan, nan, nan});
  add("cos", {1.0f, 1.0f, nan, nan, nan});
  add("tanh", {0.0f, -0.0f, 1.0f, -1.0f, nan});
  batch.run();
}

TEST_F(SingleFloat, HasApproximateDivision) {
  Batch<float, float, float> batch(kOrdinary, kOrdinary);
  batch.add("div.approx.f32 d, a, b;", [](float a, float b) { return a / b; }, kApproximate);
  batch.add("div.full.f32 d, a, b;", [](float a, float b) { return a / b; }, kApproximate);
  batch.add("div.full.ftz.f32 d, a, b;", [](float a, float b) { return a / b; }, kApproximate);
  batch.run();
}

using DoubleFloat = PtxTest;

// Only what has .ftz is as coarse as the name says.
TEST_F(DoubleFloat, HasApproximateReciprocals) {
  std::vector<double> values;
  for (const float value : kOrdinary)
    if (value > 0) values.push_back(value);
  Batch<double, double> batch(values);
  batch.add("rcp.approx.ftz.f64 d, a;", [](double a) { return 1.0 / a; }, {1e-6, 0});
  batch.add("rsqrt.approx.ftz.f64 d, a;", [](double a) { return 1.0 / std::sqrt(a); }, {1e-6, 0});
  batch.add("rsqrt.approx.f64 d, a;", [](double a) { return 1.0 / std::sqrt(a); }, {1e-15, 0});
  batch.run();
}

}  // namespace
}  // namespace ptx_test
