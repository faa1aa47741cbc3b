// The approximations stay within the errors that the PTX ISA states, and have its special values.
#include "unit/softgpu_lower/snippet_checks.hpp"

namespace softgpu::test {
namespace {

// Every 9973rd float of a range, in both signs.
std::vector<Row> sweep(float low, float high) {
  std::vector<Row> rows;
  const auto end = static_cast<std::uint32_t>(bits_of(high));
  for (auto bits = static_cast<std::uint32_t>(bits_of(low)); bits < end; bits += 9973) {
    rows.push_back({bits});
    rows.push_back({bits | 0x80000000});
  }
  return rows;
}

enum class Error { relative, absolute };

template <typename Reference>
void check_error(const std::string& instruction, const std::vector<Row>& rows, Error kind, double limit,
                 Reference reference) {
  const auto results = evaluate({instruction + " d, a;", "f32", "f32"}, rows);
  double worst = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double x = as<float>(rows[i].a);
    const double exact = reference(x);
    const double result = as<float>(results[i]);
    if (std::isnan(exact)) {
      ASSERT_TRUE(std::isnan(result)) << instruction << " of " << x;
      continue;
    }
    if (std::fabs(exact) > 0x1.fffffep127 || std::fabs(exact) < 0x1p-126) continue;
    double error = std::fabs(result - exact);
    if (kind == Error::relative) error /= std::fabs(exact);
    ASSERT_LE(error, limit) << instruction << " of " << x << " gave " << result << " instead of " << exact;
    worst = std::max(worst, error);
  }
  testing::Test::RecordProperty(instruction + " error 2^", std::to_string(std::log2(worst)));
}

void check_special(const std::string& instruction, float x, float expected) {
  const auto results = evaluate({instruction + " d, a;", "f32", "f32"}, {{bits_of(x)}});
  EXPECT_EQ(without_nan_bits<float>(results[0]), bits_of(expected)) << instruction << " of " << x;
}

constexpr float kInf = INFINITY;

TEST(LowerApproximation, Ex2) {
  check_error("ex2.approx.f32", sweep(1e-10f, 130.f), Error::relative, 0x1p-22, [](double x) { return std::exp2(x); });
  check_error("ex2.approx.ftz.f32", sweep(1e-10f, 130.f), Error::relative, 0x1p-22,
              [](double x) { return std::exp2(x); });
  for (float x : {0.0f, -0.0f, 0x1p-149f}) check_special("ex2.approx.f32", x, 1);
  check_special("ex2.approx.f32", kInf, kInf);
  check_special("ex2.approx.f32", -kInf, 0);
  check_special("ex2.approx.f32", NAN, NAN);
  check_special("ex2.approx.f32", -140, 0x1p-140f);
  check_special("ex2.approx.ftz.f32", -140, 0);
  check_special("ex2.approx.f32", 128, kInf);
}

TEST(LowerApproximation, Lg2) {
  std::vector<Row> rows = sweep(0x1p-149f, 0x1.fp127f);
  check_error("lg2.approx.f32", sweep(0.5f, 2.0f), Error::absolute, 0x1p-22, [](double x) { return std::log2(x); });
  std::erase_if(rows, [](Row r) {
    const float x = std::fabs(as<float>(r.a));
    return x > 0.5f && x < 2.0f;
  });
  check_error("lg2.approx.f32", rows, Error::relative, 0x1p-22, [](double x) { return std::log2(x); });
  check_special("lg2.approx.f32", 1, 0);
  check_special("lg2.approx.f32", 0, -kInf);
  check_special("lg2.approx.f32", -0.0f, -kInf);
  check_special("lg2.approx.f32", kInf, kInf);
  check_special("lg2.approx.f32", -1, NAN);
  check_special("lg2.approx.f32", -kInf, NAN);
  check_special("lg2.approx.f32", NAN, NAN);
  check_special("lg2.approx.ftz.f32", 0x1p-140f, -kInf);
  check_special("lg2.approx.f32", 0x1p-140f, -140);
}

TEST(LowerApproximation, SinCos) {
  const auto near = sweep(1e-6f, 6.2831853f), far = sweep(1.0f, 314.0f);
  check_error("sin.approx.f32", near, Error::absolute, std::exp2(-20.5), [](double x) { return std::sin(x); });
  check_error("cos.approx.f32", near, Error::absolute, std::exp2(-20.5), [](double x) { return std::cos(x); });
  check_error("sin.approx.f32", far, Error::absolute, std::exp2(-14.7), [](double x) { return std::sin(x); });
  check_error("cos.approx.f32", far, Error::absolute, std::exp2(-14.7), [](double x) { return std::cos(x); });
  check_special("sin.approx.f32", 0, 0);
  check_special("sin.approx.f32", -0.0f, -0.0f);
  check_special("cos.approx.f32", 0, 1);
  for (const char* name : {"sin.approx.f32", "cos.approx.f32"})
    for (float x : {kInf, -kInf, NAN}) check_special(name, x, NAN);
  for (const Row& row : sweep(1e7f, 1e38f)) {
    const auto results = evaluate({"sin.approx.f32 d, a;", "f32", "f32"}, {row});
    ASSERT_LE(std::fabs(as<float>(results[0])), 1.0f);
    if (row.a % 7 == 0) break;  // a few are enough
  }
}

TEST(LowerApproximation, Tanh) {
  check_error("tanh.approx.f32", sweep(1e-6f, 20.f), Error::relative, 0x1p-11, [](double x) { return std::tanh(x); });
  check_special("tanh.approx.f32", 0, 0);
  check_special("tanh.approx.f32", -0.0f, -0.0f);
  check_special("tanh.approx.f32", kInf, 1);
  check_special("tanh.approx.f32", -kInf, -1);
  check_special("tanh.approx.f32", NAN, NAN);
}

TEST(LowerApproximation, ReciprocalsAndRoots) {
  const auto rows = sweep(0x1p-126f, 0x1p126f);
  check_error("rcp.approx.f32", rows, Error::relative, 0x1p-23, [](double x) { return 1 / x; });
  check_error("sqrt.approx.f32", rows, Error::relative, 0x1p-23, [](double x) { return std::sqrt(x); });
  check_error("rsqrt.approx.f32", rows, Error::relative, std::exp2(-22.9), [](double x) { return 1 / std::sqrt(x); });
  check_special("rcp.approx.f32", 0, kInf);
  check_special("rcp.approx.f32", -0.0f, -kInf);
  check_special("rcp.approx.f32", kInf, 0);
  check_special("rsqrt.approx.f32", 0, kInf);
  check_special("rsqrt.approx.f32", -0.0f, -kInf);
  check_special("rsqrt.approx.f32", kInf, 0);
  check_special("rsqrt.approx.f32", -1, NAN);
}

TEST(LowerApproximation, DoublesHaveTheirUpperWord) {
  for (const char* name : {"rcp.approx.ftz.f64", "rsqrt.approx.ftz.f64"}) {
    const auto results = evaluate({std::string(name) + " d, a;", "f64", "f64"}, {{bits_of(3.0)}, {bits_of(0.0)}});
    EXPECT_NEAR(as<double>(results[0]), name[1] == 'c' ? 1 / 3.0 : 1 / std::sqrt(3.0), 0x1p-20);
    EXPECT_EQ(results[0] & 0xffffffff, 0u);
    EXPECT_EQ(as<double>(results[1]), HUGE_VAL);
  }
}

TEST(LowerApproximation, Division) {
  const auto rows = pairs(floats<float>(), floats<float>());
  const auto approx = evaluate({"div.approx.f32 d, a, b;", "f32", "f32", "f32"}, rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const float a = as<float>(rows[i].a), b = as<float>(rows[i].b), result = as<float>(approx[i]);
    if (std::fabs(b) > 0x1p126f && std::isfinite(b)) {
      if (std::isinf(a) || std::isnan(a))
        EXPECT_TRUE(std::isnan(result)) << a << " / " << b;
      else
        EXPECT_EQ(result, 0.0f) << a << " / " << b;
    } else {
      EXPECT_EQ(bits_of(result), bits_of(a / b)) << a << " / " << b;
    }
  }
  check_floats<float>({"div.full.f32 d, a, b;", "f32", "f32", "f32"}, rows,
                      [](Row r) { return as<float>(r.a) / as<float>(r.b); });
}

}  // namespace
}  // namespace softgpu::test
