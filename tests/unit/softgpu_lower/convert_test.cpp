// cvt between all kinds of types.
#include <algorithm>
#include <cfenv>
#include <limits>

#include "unit/softgpu_lower/snippet_checks.hpp"

namespace softgpu::test {
namespace {

using u64 = std::uint64_t;
using s64 = std::int64_t;
__extension__ using s128 = __int128;

struct IntegerType {
  const char* name;
  int bits;
  bool is_signed;
  s128 value(u64 raw) const {
    const u64 mask = bits == 64 ? ~0ull : (1ull << bits) - 1;
    raw &= mask;
    return is_signed && raw >> (bits - 1) ? static_cast<s128>(raw) - (static_cast<s128>(mask) + 1)
                                          : static_cast<s128>(raw);
  }
  s128 lowest() const { return is_signed ? -(s128{1} << (bits - 1)) : 0; }
  s128 highest() const { return (s128{1} << (bits - is_signed)) - 1; }
  std::string register_type() const { return "b" + std::to_string(std::max(bits, 16)); }
};

const IntegerType kTypes[] = {{"u8", 8, false},   {"s8", 8, true},   {"u16", 16, false}, {"s16", 16, true},
                              {"u32", 32, false}, {"s32", 32, true}, {"u64", 64, false}, {"s64", 64, true}};

u64 masked(s128 value, int bits) { return static_cast<u64>(value) & (bits == 64 ? ~0ull : (1ull << bits) - 1); }

TEST(LowerConvert, IntegerToInteger) {
  for (const IntegerType& from : kTypes)
    for (const IntegerType& to : kTypes) {
      const auto rows = pairs(integers(static_cast<unsigned>(from.bits)), {0});
      const std::string types = std::string(".") + to.name + "." + from.name;
      const int register_bits = std::max(to.bits, 16);
      check_rows({"cvt" + types + " d, a;", to.register_type(), from.register_type()}, rows, [&](Row r) {
        return masked(to.value(masked(from.value(r.a), 64)), register_bits);  // extended into the register
      });
      check_rows({"cvt.sat" + types + " d, a;", to.register_type(), from.register_type()}, rows,
                 [&](Row r) { return masked(std::clamp(from.value(r.a), to.lowest(), to.highest()), register_bits); });
    }
}

struct Mode {
  const char *integral, *rounding;
  int host;
};
const Mode kModes[] = {
    {"rni", "rn", FE_TONEAREST}, {"rzi", "rz", FE_TOWARDZERO}, {"rmi", "rm", FE_DOWNWARD}, {"rpi", "rp", FE_UPWARD}};

template <typename Float>
std::vector<u64> wide_floats() {
  std::vector<u64> values = floats<Float>(40);
  for (double x : {0.5,
                   1.5,
                   2.5,
                   126.5,
                   127.0,
                   127.5,
                   128.0,
                   255.4,
                   255.5,
                   255.6,
                   256.0,
                   32767.5,
                   32768.0,
                   65535.5,
                   65536.0,
                   2147483647.0,
                   2147483648.0,
                   2147483647.5,
                   4294967295.0,
                   4294967295.5,
                   4294967296.0,
                   9223372036854774784.0,
                   9223372036854775808.0,
                   18446744073709549568.0,
                   18446744073709551616.0,
                   0.49999997,
                   0.9999999}) {
    values.push_back(bits_of(static_cast<Float>(x)));
    values.push_back(bits_of(static_cast<Float>(-x)));
  }
  return values;
}

template <typename Float>
void check_to_integer(const std::string& source) {
  for (const IntegerType& to : kTypes)
    for (const Mode& mode : kModes) {
      const std::string code = std::string("cvt.") + mode.integral + "." + to.name + "." + source + " d, a;";
      check_rows({code, to.register_type(), source}, pairs(wide_floats<Float>(), {0}), [&](Row r) {
        const int register_bits = std::max(to.bits, 16);
        const Float x = as<Float>(r.a);
        if (std::isnan(x))
          return to.bits == 64 || sizeof(Float) == 8 ? masked(to.value(u64{1} << (to.bits - 1)), register_bits)
                                                     : u64{0};
        std::fesetround(mode.host);
        const Float integral = std::nearbyint(x);
        std::fesetround(FE_TONEAREST);
        if (integral >= 0x1p64) return masked(to.highest(), register_bits);
        if (integral < -0x1p63) return masked(to.lowest(), register_bits);
        return masked(std::clamp(static_cast<s128>(integral), to.lowest(), to.highest()), register_bits);
      });
    }
}

TEST(LowerConvert, FloatToIntegerSaturates) { check_to_integer<float>("f32"); }
TEST(LowerConvert, DoubleToIntegerSaturates) { check_to_integer<double>("f64"); }

template <typename Float>
void check_from_integer(const std::string& target) {
  for (const IntegerType& from : kTypes)
    for (const Mode& mode : kModes) {
      const std::string code = std::string("cvt.") + mode.rounding + "." + target + "." + from.name + " d, a;";
      check_floats<Float>({code, target, from.register_type()}, pairs(integers(static_cast<unsigned>(from.bits)), {0}),
                          [&](Row r) {
                            const s128 value = from.value(r.a);
                            std::fesetround(mode.host);
                            volatile s64 as_signed = static_cast<s64>(value);
                            volatile u64 as_unsigned = static_cast<u64>(value);
                            volatile Float result = value < 0 ? static_cast<Float>(as_signed) : Float{0};
                            if (value >= 0 && value >> 63 == 0) result = static_cast<Float>(as_signed);
                            if (value >> 63 == 1) {  // the processor converts signed numbers; halve with a sticky bit
                              volatile s64 half = static_cast<s64>(as_unsigned >> 1 | (as_unsigned & 1));
                              result = static_cast<Float>(half) * 2;
                            }
                            std::fesetround(FE_TONEAREST);
                            return result;
                          });
    }
}

TEST(LowerConvert, IntegerToFloatInAllModes) { check_from_integer<float>("f32"); }
TEST(LowerConvert, IntegerToDoubleInAllModes) { check_from_integer<double>("f64"); }

TEST(LowerConvert, DoubleToFloatInAllModes) {
  for (const Mode& mode : kModes) {
    const std::string code = std::string("cvt.") + mode.rounding + ".f32.f64 d, a;";
    auto values = floats<double>(100);
    for (u64 bits : floats<float>(20)) {
      values.push_back(bits_of(double{as<float>(bits)}));
      values.push_back(bits_of(double{as<float>(bits)}) + 1);
      values.push_back(bits_of(double{as<float>(bits)}) + (1ull << 28));
    }
    const auto rows = pairs(values, {0});
    const auto results = evaluate({code, "f32", "f64"}, rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::fesetround(mode.host);
      volatile double x = as<double>(rows[i].a);
      volatile float expected = static_cast<float>(x);
      std::fesetround(FE_TONEAREST);
      ASSERT_EQ(without_nan_bits<float>(results[i]), bits_of(float{expected})) << code << x;
    }
  }
}

TEST(LowerConvert, IntegralFloats) {
  for (const Mode& mode : kModes)
    check_floats<float>({std::string("cvt.") + mode.integral + ".f32.f32 d, a;", "f32", "f32"},
                        pairs(wide_floats<float>(), {0}), [&](Row r) {
                          std::fesetround(mode.host);
                          const float result = std::nearbyint(as<float>(r.a));
                          std::fesetround(FE_TONEAREST);
                          return result;
                        });
  check_rows({"cvt.sat.f32.f32 d, a;", "f32", "f32"}, pairs(floats<float>(), {0}), [](Row r) {
    const float x = as<float>(r.a);
    return x > 0 ? bits_of(std::fmin(x, 1.0f)) : 0;
  });
  check_floats<double>({"cvt.f64.f32 d, a;", "f64", "f32"}, pairs(floats<float>(), {0}),
                       [](Row r) { return double{as<float>(r.a)}; });
}

double half_value(u64 bits) {
  const int exponent = bits >> 10 & 31;
  const double mantissa = static_cast<double>(bits & 1023);
  const double size = exponent == 31 ? (mantissa != 0 ? NAN : INFINITY)
                      : exponent     ? std::ldexp(mantissa + 1024, exponent - 25)
                                     : std::ldexp(mantissa, -24);
  return bits & 0x8000 ? -size : size;
}

double bfloat_value(u64 bits) { return as<float>(bits << 16); }

// The neighbours of x in a 16-bit format are found by search; which of them is right says the mode.
u64 to_short(double x, double (*value)(u64), u64 infinity, const std::string& mode) {
  const u64 sign = std::signbit(x) ? 0x8000 : 0;
  const double size = std::fabs(x);
  u64 below = 0, above = infinity;
  while (above - below > 1) {
    const u64 middle = (below + above) / 2;
    (value(middle) <= size ? below : above) = middle;
  }
  if (size >= value(infinity)) return sign | infinity;
  if (value(below) == size) return sign | below;
  const bool outwards = mode == "rp" ? !sign : mode == "rm" ? sign != 0 : false;
  if (mode != "rn") return sign | (outwards ? above : below);
  // Past the largest number, the tie is where the next one would be.
  const double upper = above == infinity ? 2 * value(below) - value(below - 1) : value(above);
  const double tie = (value(below) + upper) / 2;
  return sign | (size > tie || (size == tie && below & 1) ? above : below);
}

TEST(LowerConvert, ShortFloatsInAllModes) {
  std::vector<u64> values = floats<float>(60);
  for (u64 bits = 0; bits < 0x7c00; bits += 257)
    for (int nudge : {-1, 0, 1, 4095, 4096, 4097, 8191})
      values.push_back(bits_of(static_cast<float>(half_value(bits))) + static_cast<u64>(nudge));
  for (u64& bits : values) bits &= 0xffffffff;
  std::erase_if(values, [](u64 bits) { return std::isnan(as<float>(bits)); });
  const auto rows = pairs(values, {0});
  for (const Mode& mode : kModes) {
    const std::string name = mode.rounding;
    check_rows({"cvt." + name + ".f16.f32 d, a;", "b16", "f32"}, rows,
               [&](Row r) { return to_short(as<float>(r.a), half_value, 0x7c00, name); });
    check_rows({"cvt." + name + ".bf16.f32 d, a;", "b16", "f32"}, rows,
               [&](Row r) { return to_short(as<float>(r.a), bfloat_value, 0x7f80, name); });
  }
  EXPECT_EQ(evaluate({"cvt.rn.bf16.f32 d, a;", "b16", "f32"}, {{0x7fc00000}}), std::vector<u64>{0x7fff});
}

TEST(LowerConvert, DoubleToHalfRoundsOnce) {
  std::vector<u64> values;
  for (u64 bits = 0; bits < 0x7bff; bits += 199)
    for (double nudge : {0.0, 0x1p-40, -0x1p-40}) {
      const double tie = (half_value(bits) + half_value(bits + 1)) / 2;
      values.push_back(bits_of(tie * (1 + nudge)));
      values.push_back(bits_of(-tie * (1 + nudge)));
    }
  for (const Mode& mode : kModes)
    check_rows({std::string("cvt.") + mode.rounding + ".f16.f64 d, a;", "b16", "f64"}, pairs(values, {0}),
               [&](Row r) { return to_short(as<double>(r.a), half_value, 0x7c00, mode.rounding); });
}

TEST(LowerConvert, IntegerToHalfRoundsOnce) {
  const auto rows = pairs(integers(32), {0});
  for (const Mode& mode : kModes) {
    check_rows({std::string("cvt.") + mode.rounding + ".f16.s32 d, a;", "b16", "b32"}, rows,
               [&](Row r) { return to_short(static_cast<std::int32_t>(r.a), half_value, 0x7c00, mode.rounding); });
    check_rows({std::string("cvt.") + mode.rounding + ".bf16.u32 d, a;", "b16", "b32"}, rows,
               [&](Row r) { return to_short(static_cast<double>(r.a), bfloat_value, 0x7f80, mode.rounding); });
  }
}

TEST(LowerConvert, HalfToOthers) {
  std::vector<u64> values;
  for (u64 bits = 0; bits < 0x7c01; bits += 37) values.insert(values.end(), {bits, bits | 0x8000});
  const auto rows = pairs(values, {0});
  check_floats<float>({"cvt.f32.f16 d, a;", "f32", "b16"}, rows,
                      [](Row r) { return static_cast<float>(half_value(r.a)); });
  check_floats<double>({"cvt.f64.f16 d, a;", "f64", "b16"}, rows, [](Row r) { return half_value(r.a); });
  check_floats<float>({"cvt.f32.bf16 d, a;", "f32", "b16"}, rows, [](Row r) { return as<float>(r.a << 16); });
  check_rows({"cvt.rni.s32.f16 d, a;", "b32", "b16"}, rows, [](Row r) {
    const double x = std::nearbyint(half_value(r.a));
    return masked(std::isnan(x) ? 0 : std::isinf(x) ? (x > 0 ? 0x7fffffff : -0x80000000ll) : static_cast<s128>(x), 32);
  });
}

TEST(LowerConvert, FlushesFloatsOnly) {
  EXPECT_EQ(evaluate({"cvt.ftz.f32.f16 d, a;", "f32", "b16"}, {{0x0001}}), std::vector<u64>{bits_of(0x1p-24f)});
  EXPECT_EQ(evaluate({"cvt.rn.ftz.f32.f64 d, a;", "f32", "f64"}, {{bits_of(-0x1p-130)}}), std::vector<u64>{0x80000000});
  EXPECT_EQ(evaluate({"cvt.ftz.f64.f32 d, a;", "f64", "f32"}, {{1}}), std::vector<u64>{0});
  EXPECT_EQ(evaluate({"cvt.rpi.ftz.s32.f32 d, a;", "b32", "f32"}, {{1}}), std::vector<u64>{0});
}

TEST(LowerConvert, PackedAndSpecialForms) {
  const auto one = [](const char* code, u64 a, u64 b) { return evaluate({code, "b32", "f32", "f32"}, {{a, b}})[0]; };
  const u64 one_and_half = bits_of(1.5f), minus_two = bits_of(-2.0f), huge = bits_of(1e30f);
  EXPECT_EQ(one("cvt.rn.f16x2.f32 d, a, b;", one_and_half, minus_two), 0x3e00c000u);
  EXPECT_EQ(one("cvt.rn.bf16x2.f32 d, a, b;", one_and_half, minus_two), 0x3fc0c000u);
  EXPECT_EQ(one("cvt.rn.relu.f16x2.f32 d, a, b;", one_and_half, minus_two), 0x3e000000u);
  EXPECT_EQ(one("cvt.rn.satfinite.f16x2.f32 d, a, b;", huge, one_and_half), 0x7bff3e00u);
  EXPECT_EQ(one("cvt.rna.tf32.f32 d, a;", 0x3f801000, 0), 0x3f802000u);
  EXPECT_EQ(one("cvt.rn.tf32.f32 d, a;", 0x3f801000, 0), 0x3f800000u);
  EXPECT_EQ(one("cvt.rz.tf32.f32 d, a;", 0x3f801fff, 0), 0x3f800000u);
}

}  // namespace
}  // namespace softgpu::test
