// f16 and bf16 arithmetic: results are rounded once. References are exact integers, rounded by hand.
#include "unit/softgpu_lower/snippet_checks.hpp"

namespace softgpu::test {
namespace {

using u16 = std::uint16_t;
using u64 = std::uint64_t;
__extension__ using s128 = __int128;

// A short binary format by its number of mantissa and exponent bits.
struct Format {
  int mantissa, exponent;
  int bias() const { return (1 << (exponent - 1)) - 1; }
  u64 infinity() const { return static_cast<u64>((1 << exponent) - 1) << mantissa; }
  u64 sign() const { return 1ull << (mantissa + exponent); }
  bool is_nan(u64 bits) const { return (bits & ~sign()) > infinity(); }
  bool is_infinite(u64 bits) const { return (bits & ~sign()) == infinity(); }

  double value(u64 bits) const {
    const u64 magnitude = bits & ~sign();
    const int e = static_cast<int>(magnitude >> mantissa);
    const auto m = static_cast<double>(magnitude & ((1ull << mantissa) - 1));
    double result =
        e ? std::ldexp(m + std::ldexp(1, mantissa), e - bias() - mantissa) : std::ldexp(m, 1 - bias() - mantissa);
    if (is_nan(bits)) result = NAN;
    if (is_infinite(bits)) result = INFINITY;
    return bits & sign() ? -result : result;
  }

  // A number that a long double holds exactly, to nearest even.
  u64 rounded(long double x) const {
    if (std::isnan(x)) return infinity() + 1;
    const u64 s = std::signbit(x) ? sign() : 0;
    x = std::fabs(x);
    if (std::isinf(x)) return s | infinity();
    if (x == 0) return s;
    int e = 0;
    std::frexp(x, &e);                                                   // x < 2^e
    const int last = std::max(e - 1 - mantissa, 1 - bias() - mantissa);  // exponent of the last bit
    const long double scaled = std::ldexp(x, -last);
    const auto integer = static_cast<u64>(std::nearbyint(scaled));  // exact up to 2^64, ties to even
    const u64 exponent_bits = static_cast<u64>(last + mantissa + bias() - 1) << mantissa;
    return s | std::min(exponent_bits + integer, infinity());
  }
};

constexpr Format kHalf{10, 5}, kBfloat{7, 8};

std::vector<u64> shorts(const Format& format, int step) {
  std::vector<u64> values;
  for (u64 bits = 0; bits <= format.infinity() + 1; bits += static_cast<u64>(step)) {
    values.push_back(bits);
    values.push_back(bits | format.sign());
  }
  for (u64 bits : {u64{1}, u64{2}, format.infinity() - 1, format.infinity(), format.infinity() | 1,
                   u64{1} << format.mantissa, (u64{1} << format.mantissa) - 1, u64(format.bias()) << format.mantissa}) {
    values.push_back(bits);
    values.push_back(bits | format.sign());
  }
  return values;
}

u64 one_nan(const Format& format, u64 bits) { return format.is_nan(bits) ? format.infinity() + 1 : bits; }

template <typename Reference>
void check(const Format& format, const std::string& code, const std::vector<Row>& rows, Reference reference) {
  const auto results = evaluate({code, "b16", "b16", "b16", "b16"}, rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const u64 expected = reference(format.value(rows[i].a), format.value(rows[i].b), format.value(rows[i].c));
    ASSERT_EQ(one_nan(format, results[i]), one_nan(format, expected))
        << code << " of " << hex(rows[i].a) << ", " << hex(rows[i].b) << ", " << hex(rows[i].c);
  }
}

TEST(LowerHalf, SumsAndProducts) {
  const auto rows = pairs(shorts(kHalf, 401), shorts(kHalf, 397));
  check(kHalf, "add.f16 d, a, b;", rows, [](double a, double b, double) { return kHalf.rounded(a + b); });
  check(kHalf, "sub.f16 d, a, b;", rows, [](double a, double b, double) { return kHalf.rounded(a - b); });
  check(kHalf, "mul.f16 d, a, b;", rows, [](double a, double b, double) { return kHalf.rounded(a * b); });
}

// The exact a*b + c of halves spans at most 80 bits; beside the leading 64 only whether something is left counts.
long double sticky_fma(double a, double b, double c) {
  const double product = a * b;  // exact
  const double sum = product + c;
  if (!std::isfinite(sum) || sum == 0) return sum;
  const double rest = std::fabs(product) > std::fabs(c) ? c - (sum - product) : product - (sum - c);
  return static_cast<long double>(sum) + (rest > 0   ? 1
                                          : rest < 0 ? -1
                                                     : 0) *
                                             std::ldexp(std::fabs(static_cast<long double>(sum)), -60);
}

TEST(LowerHalf, FusedMultiplyAddRoundsOnce) {
  const auto values = shorts(kHalf, 1733);
  check(kHalf, "fma.rn.f16 d, a, b, c;", triples(values, values, values),
        [](double a, double b, double c) { return kHalf.rounded(sticky_fma(a, b, c)); });
  // 1.0009765625^2 - half an ulp and a bit: rounding to float first would give a tie.
  check(kHalf, "fma.rn.f16 d, a, b, c;", {{0x3c01, 0x3c01, 0x0001}, {0x3c01, 0x3c03, 0x8001}, {0x7801, 0x3c01, 0x0001}},
        [](double a, double b, double c) { return kHalf.rounded(sticky_fma(a, b, c)); });
}

TEST(LowerHalf, FusedMultiplyAddOptions) {
  const auto values = shorts(kHalf, 3001);
  const auto rows = triples(values, values, values);
  check(kHalf, "fma.rn.sat.f16 d, a, b, c;", rows, [](double a, double b, double c) {
    const long double sum = sticky_fma(a, b, c);
    return std::isnan(sum) || sum <= 0 ? 0 : kHalf.rounded(std::min(sum, 1.0L));
  });
  check(kHalf, "fma.rn.relu.f16 d, a, b, c;", rows, [](double a, double b, double c) {
    const long double sum = sticky_fma(a, b, c);
    return sum <= 0 ? 0 : kHalf.rounded(sum);
  });
}

TEST(LowerHalf, Bfloat) {
  const auto rows = pairs(shorts(kBfloat, 397), shorts(kBfloat, 401));
  check(kBfloat, "add.bf16 d, a, b;", rows, [](double a, double b, double) { return kBfloat.rounded(a + b); });
  check(kBfloat, "mul.bf16 d, a, b;", rows, [](double a, double b, double) { return kBfloat.rounded(a * b); });
  const auto values = shorts(kBfloat, 2111);
  check(kBfloat, "fma.rn.bf16 d, a, b, c;", triples(values, values, values),
        [](double a, double b, double c) { return kBfloat.rounded(sticky_fma(a, b, c)); });
}

TEST(LowerHalf, MinMaxAbsNeg) {
  for (const Format& format : {kHalf, kBfloat}) {
    const std::string type = format.exponent == 5 ? "f16" : "bf16";
    const auto rows = pairs(shorts(format, 701), shorts(format, 907));
    check(format, "min." + type + " d, a, b;", rows, [&](double a, double b, double) {
      if (a == b) return format.rounded(std::signbit(a) ? a : b);
      return format.rounded(std::fmin(a, b));
    });
    check(format, "max.NaN." + type + " d, a, b;", rows, [&](double a, double b, double) {
      if (std::isnan(a) || std::isnan(b)) return format.rounded(NAN);
      if (a == b) return format.rounded(std::signbit(a) ? b : a);
      return format.rounded(std::fmax(a, b));
    });
    check(format, "neg." + type + " d, a;", rows, [&](double a, double, double) { return format.rounded(-a); });
    check(format, "abs." + type + " d, a;", rows,
          [&](double a, double, double) { return format.rounded(std::fabs(a)); });
  }
}

TEST(LowerHalf, PairsAreTwoHalves) {
  const auto rows = pairs({0x3c004000, 0x7bff0001, 0xc0003800}, {0x3c003c00, 0x7bff8001, 0x40003400});
  for (const char* code :
       {"add.f16x2 d, a, b;", "mul.f16x2 d, a, b;", "min.f16x2 d, a, b;", "fma.rn.f16x2 d, a, b, b;"}) {
    std::string single = code;
    single.erase(single.find("x2"), 2);
    std::vector<Row> low, high;
    for (const Row& r : rows) {
      low.push_back({r.a & 0xffff, r.b & 0xffff, r.c & 0xffff});
      high.push_back({r.a >> 16, r.b >> 16, r.c >> 16});
    }
    const auto packed = evaluate({code, "b32", "b32"}, rows);
    const auto lows = evaluate({single, "b16", "b16", "b16", "b16"}, low);
    const auto highs = evaluate({single, "b16", "b16", "b16", "b16"}, high);
    for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(packed[i], highs[i] << 16 | lows[i]) << code;
  }
}

TEST(LowerHalf, FlushToZero) {
  check(kHalf, "mul.ftz.f16 d, a, b;", pairs(shorts(kHalf, 401), shorts(kHalf, 397)), [](double a, double b, double) {
    const auto flushed = [](double x) { return std::fabs(x) < 0x1p-14 ? std::copysign(0.0, x) : x; };
    return kHalf.rounded(flushed(flushed(a) * flushed(b)));  // in front of the rounding, as GPUs do
  });
}

TEST(LowerHalf, Approximations) {
  const auto rows = pairs(shorts(kHalf, 31), {0});
  const auto close = [&](const std::string& code, double limit, auto reference) {
    const auto results = evaluate({code, "b16", "b16"}, rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double exact = reference(kHalf.value(rows[i].a)), result = kHalf.value(results[i]);
      if (std::fabs(exact) > 65504 || std::isnan(exact)) continue;
      ASSERT_NEAR(result, exact, std::max(std::fabs(exact) * limit, 0x1p-24)) << code << hex(rows[i].a);
    }
  };
  close("ex2.approx.f16 d, a;", std::exp2(-9.9), [](double x) { return std::exp2(x); });
  close("tanh.approx.f16 d, a;", std::exp2(-10.0), [](double x) { return std::tanh(x); });
}

}  // namespace
}  // namespace softgpu::test
