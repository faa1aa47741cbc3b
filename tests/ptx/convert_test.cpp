// cvt between all pairs of types.
#include <algorithm>
#include <numeric>

#include "ptx/batch.hpp"
#include "ptx/reference.hpp"

namespace ptx_test {
namespace {

template <typename T>
std::string type_name() {
  if constexpr (std::is_same_v<T, Half>)
    return ".f16";
  else if constexpr (std::is_same_v<T, BFloat>)
    return ".bf16";
  else
    return (std::is_floating_point_v<T> ? ".f" : std::is_signed_v<T> ? ".s" : ".u") + std::to_string(8 * sizeof(T));
}

// "cvt.rzi.u8.bf16 d, a;". Between bf16 and 8 bits, ptxas takes no wider register for the integer: cuda_bf16.hpp does
// as here.
template <typename To, typename From>
std::string conversion(const std::string& modifiers) {
  const std::string name = "cvt" + modifiers + type_name<To>() + type_name<From>();
  if (std::is_same_v<From, BFloat> && sizeof(To) == 1)
    return "{ .reg .b8 byte; " + name + " byte, a; mov.b16 d, {byte, 0}; }";
  if (std::is_same_v<To, BFloat> && sizeof(From) == 1)
    return "{ .reg .b8 byte, rest; mov.b16 {byte, rest}, a; " + name + " d, byte; }";
  return name + " d, a;";
}

template <typename T>
double value_of(T value) {
  if constexpr (std::is_floating_point_v<T>)
    return static_cast<double>(value);
  else
    return to_double(value);
}

// The integer type's nearest value; what is outside goes to the limits. NaN becomes 0, or only the highest bit where
// 64-bit types take part.
template <typename To, typename From>
To to_integer(From from, int mode) {
  const double value = value_of(from);
  if (std::isnan(value))
    return sizeof(To) == 8 || sizeof(From) == 8 ? static_cast<To>(Bits<To>{1} << (8 * sizeof(To) - 1)) : To{0};
  std::fesetround(mode);
  const volatile double exact = value;
  const double whole = std::nearbyint(exact);
  std::fesetround(FE_TONEAREST);
  using L = std::numeric_limits<To>;
  if (whole <= static_cast<double>(L::min())) return L::min();
  if (whole >= std::ldexp(1.0, L::digits)) return L::max();
  return static_cast<To>(whole);
}

constexpr Rounding kIntegerRoundings[] = {
    {".rni", FE_TONEAREST}, {".rzi", FE_TOWARDZERO}, {".rmi", FE_DOWNWARD}, {".rpi", FE_UPWARD}};

template <typename From>
std::vector<From> values() {
  return edge_values<From>();
}

// From an integer, or from a float, to each integer type.
template <typename To, typename From>
void check_to_integer() {
  Batch<To, From> batch(values<From>());
  if constexpr (std::is_integral_v<From>) {
    batch.add(conversion<To, From>(""), [](From a) { return static_cast<To>(a); });
    const bool narrows = !(std::numeric_limits<To>::digits >= std::numeric_limits<From>::digits &&
                           (std::is_signed_v<To> || std::is_unsigned_v<From>));
    if (narrows)
      batch.add(conversion<To, From>(".sat"), [](From a) {
        using L = std::numeric_limits<To>;
        return static_cast<To>(std::clamp<Int128>(a, L::min(), L::max()));
      });
  } else {
    for (const Rounding rounding : kIntegerRoundings)
      batch.add(conversion<To, From>(rounding.suffix), [=](From a) { return to_integer<To>(a, rounding.mode); });
  }
  batch.run();
}

template <typename From>
class Convert : public PtxTest {};
using Sources = testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
                               std::int64_t, std::uint64_t, Half, BFloat, float, double>;
TYPED_TEST_SUITE(Convert, Sources);

TYPED_TEST(Convert, ToIntegers) {
  check_to_integer<std::int8_t, TypeParam>();
  check_to_integer<std::uint8_t, TypeParam>();
  check_to_integer<std::int16_t, TypeParam>();
  check_to_integer<std::uint16_t, TypeParam>();
  check_to_integer<std::int32_t, TypeParam>();
  check_to_integer<std::uint32_t, TypeParam>();
  check_to_integer<std::int64_t, TypeParam>();
  check_to_integer<std::uint64_t, TypeParam>();
}

template <typename To, typename From>
void check_integer_to_float() {
  Batch<To, From> batch(values<From>());
  for (const Rounding rounding : kRoundings)
    batch.add(conversion<To, From>(rounding.suffix), [=](From a) {
      if constexpr (std::is_floating_point_v<To>) {
        return rounded(rounding, [&] {
          const volatile From exact = a;
          return static_cast<To>(exact);
        });
      } else {
        // In two parts, each exact in a double; what is lost in their sum is kept in its last bit.
        const auto high = static_cast<double>(a / 65536) * 65536, low = static_cast<double>(a % 65536);
        return from_double<To>(add_to_odd(high, low), rounding);
      }
    });
  batch.run();
}

TYPED_TEST(Convert, FromIntegersToFloats) {
  if constexpr (std::is_integral_v<TypeParam>) {
    check_integer_to_float<float, TypeParam>();
    check_integer_to_float<double, TypeParam>();
    check_integer_to_float<Half, TypeParam>();
    check_integer_to_float<BFloat, TypeParam>();
  }
}

template <typename To, typename From>
void check_narrowing() {
  Batch<To, From> batch(values<From>());
  for (const Rounding rounding : kRoundings)
    batch.add(conversion<To, From>(rounding.suffix), [=](From a) { return from_double<To>(value_of(a), rounding); });
  batch.run();
}

using ConvertFloat = PtxTest;

TEST_F(ConvertFloat, ToNarrowerOnes) {
  check_narrowing<float, double>();
  check_narrowing<Half, float>();
  check_narrowing<Half, double>();
  check_narrowing<BFloat, float>();
  check_narrowing<BFloat, double>();
}

TEST_F(ConvertFloat, ToWiderOnes) {
  Batch<float, Half> half(edge_values<Half>());
  half.add("cvt.f32.f16 d, a;", [](Half a) { return static_cast<float>(to_double(a)); });
  half.run();
  Batch<float, BFloat> bfloat(edge_values<BFloat>());
  bfloat.add("cvt.f32.bf16 d, a;", [](BFloat a) { return static_cast<float>(to_double(a)); });
  bfloat.add("cvt.rz.f32.bf16 d, a;", [](BFloat a) { return static_cast<float>(to_double(a)); });
  bfloat.run();
  Batch<double, float> single(edge_values<float>());
  single.add("cvt.f64.f32 d, a;", [](float a) { return static_cast<double>(a); });
  single.add("cvt.ftz.f64.f32 d, a;", [](float a) { return static_cast<double>(flush(a)); });
  single.run();
  Batch<double, Half> far(edge_values<Half>());
  far.add("cvt.f64.f16 d, a;", [](Half a) { return to_double(a); });
  far.run();
  Batch<double, BFloat> farther(edge_values<BFloat>());
  farther.add("cvt.f64.bf16 d, a;", [](BFloat a) { return to_double(a); });
  farther.add("cvt.rm.f64.bf16 d, a;", [](BFloat a) { return to_double(a); });
  farther.run();
}

template <typename T>
void check_rounding_to_whole_numbers() {
  Batch<T, T> batch(values<T>());
  const std::string types = type_name<T>() + type_name<T>();
  for (const Rounding rounding : kIntegerRoundings)
    batch.add("cvt" + std::string(rounding.suffix) + types + " d, a;", [=](T a) {
      return from_double<T>(rounded(rounding, [&] {
        const volatile double exact = value_of(a);
        return std::nearbyint(exact);
      }));
    });
  batch.run();
}

TEST_F(ConvertFloat, ToWholeNumbers) {
  check_rounding_to_whole_numbers<float>();
  check_rounding_to_whole_numbers<double>();
  check_rounding_to_whole_numbers<Half>();
}

TEST_F(ConvertFloat, Saturates) {
  Batch<float, float> batch(edge_values<float>());
  batch.add("cvt.sat.f32.f32 d, a;", [](float a) { return saturate(a); }, kSignOfZeroAside);
  batch.add("cvt.ftz.f32.f32 d, a;", [](float a) { return flush(a); });
  batch.add(
      "cvt.rn.sat.f16.f32 h, a; cvt.f32.f16 d, h;",
      [](float a) { return static_cast<float>(to_double(to_half(saturate(a)))); }, kSignOfZeroAside);
  batch.run();
  Batch<float, double> narrow(edge_values<double>());
  narrow.add("cvt.rn.sat.f32.f64 d, a;", [](double a) { return static_cast<float>(saturate(a)); }, kSignOfZeroAside);
  narrow.add("cvt.rn.ftz.f32.f64 d, a;", [](double a) { return flush(static_cast<float>(a)); });
  narrow.run();
  Batch<std::int32_t, float> integer(edge_values<float>());
  integer.add("cvt.rzi.ftz.s32.f32 d, a;", [](float a) { return to_integer<std::int32_t>(flush(a), FE_TOWARDZERO); });
  integer.add("cvt.rpi.ftz.s32.f32 d, a;", [](float a) { return to_integer<std::int32_t>(flush(a), FE_UPWARD); });
  integer.run();
  Batch<BFloat, float> flushed(edge_values<float>());
  for (const Rounding rounding : kRoundings)
    flushed.add(conversion<BFloat, float>(rounding.suffix + std::string(".ftz")),
                [=](float a) { return from_double<BFloat>(static_cast<double>(flush(a)), rounding); });
  flushed.run();
}

TEST_F(ConvertFloat, TwoToAPair) {
  const auto values = some_of(edge_values<float>(), 30);
  Batch<Half2, float, float> half(values, values);
  half.add("cvt.rn.f16x2.f32 d, a, b;", [](float a, float b) { return Half2{to_half(b), to_half(a)}; });
  half.add("cvt.rz.f16x2.f32 d, a, b;",
           [](float a, float b) { return Half2{to_half(b, kRoundings[1]), to_half(a, kRoundings[1])}; });
  half.run();
  Batch<BFloat2, float, float> bfloat(values, values);
  bfloat.add("cvt.rn.bf16x2.f32 d, a, b;", [](float a, float b) { return BFloat2{to_bfloat(b), to_bfloat(a)}; });
  bfloat.run();
}

struct Float8 {
  const char* name;
  int bias, mantissa_bits, last_finite, last_number;
};
constexpr Float8 kFloat8[] = {{"e4m3x2", 7, 3, 0x7e, 0x7e}, {"e5m2x2", 15, 2, 0x7b, 0x7c}};

double value_of(const Float8& format, int code) {
  const int low = code & 0x7f, exponent = low >> format.mantissa_bits, steps = 1 << format.mantissa_bits;
  const double mantissa = low % steps + (exponent == 0 ? 0 : steps);
  const double magnitude = low > format.last_number ? std::numeric_limits<double>::quiet_NaN()
                           : low > format.last_finite
                               ? std::numeric_limits<double>::infinity()
                               : std::ldexp(mantissa, std::max(exponent, 1) - format.bias - format.mantissa_bits);
  return code > 0x7f ? -magnitude : magnitude;
}

// The finite code that is nearest, the even one of two.
std::uint32_t to_float8(const Float8& format, double value) {
  if (std::isnan(value)) return 0x7f;
  const double magnitude = std::abs(value);
  int best = 0;
  for (int code = 1; code <= format.last_finite; ++code) {
    const double distance = std::abs(value_of(format, code) - magnitude);
    const double least = std::abs(value_of(format, best) - magnitude);
    if (distance < least || (distance == least && code % 2 == 0)) best = code;
  }
  if (magnitude >= value_of(format, format.last_finite)) best = format.last_finite;
  return static_cast<std::uint32_t>(best | (std::signbit(value) ? 0x80 : 0));
}

TEST_F(ConvertFloat, PairsOf8Bits) {
  using U = std::uint32_t;
  for (const Float8& format : kFloat8) {
    const std::string name = format.name;
    std::vector<float> values = some_of(edge_values<float>(), 30);
    for (int code = 0; code < format.last_finite; code += 3)
      for (const double between : {0.25, 0.5, 0.75})
        values.push_back(static_cast<float>(std::lerp(value_of(format, code), value_of(format, code + 1), between)));
    Batch<U, float> from_floats(values);
    from_floats.add(
        "{ .reg .b16 %pair; cvt.rn.satfinite." + name + ".f32 %pair, 0f40000000, a; cvt.u32.u16 d, %pair; }",
        [&](float a) { return to_float8(format, 2.0) << 8 | to_float8(format, a); });
    from_floats.add(
        "{ .reg .b16 %pair; cvt.rn.satfinite.relu." + name + ".f32 %pair, a, 0fC0000000; cvt.u32.u16 d, %pair; }",
        [&](float a) { return to_float8(format, a <= 0 ? 0.0 : a) << 8; });
    from_floats.run();
    Batch<U, Half> from_halves(edge_values<Half>());
    from_halves.add("{ .reg .b16 %pair; .reg .b32 %both; mov.b32 %both, {a, 0x4000}; cvt.rn.satfinite." + name +
                        ".f16x2 %pair, %both; cvt.u32.u16 d, %pair; }",
                    [&](Half a) { return to_float8(format, 2.0) << 8 | to_float8(format, to_double(a)); });
    from_halves.run();
    std::vector<U> codes(256);
    std::iota(codes.begin(), codes.end(), 0U);
    Batch<Half, U> to_halves(codes);
    to_halves.add("{ .reg .b16 %pair, %upper; .reg .b32 %both; cvt.u16.u32 %pair, a; cvt.rn.f16x2." + name +
                      " %both, %pair; mov.b32 {d, %upper}, %both; }",
                  [&](U a) { return to_half(static_cast<float>(value_of(format, static_cast<int>(a)))); });
    to_halves.run();
  }
}

using ConvertWide = PtxTest;

// The register may be wider than the type: the upper bits of the source are not read, the result is extended.
TEST_F(ConvertWide, RegistersAreExtended) {
  using U = std::uint32_t;
  Batch<U, U> batch(edge_values<U>());
  batch.add("cvt.s8.u32 d, a;",
            [](U a) { return static_cast<U>(static_cast<std::int32_t>(static_cast<std::int8_t>(a))); });
  batch.add("cvt.u8.u32 d, a;", [](U a) { return a & 0xff; });
  batch.add("cvt.u32.u8 d, a;", [](U a) { return a & 0xff; });
  batch.add("cvt.s32.s8 d, a;",
            [](U a) { return static_cast<U>(static_cast<std::int32_t>(static_cast<std::int8_t>(a))); });
  batch.add("cvt.s16.s32 d, a;",
            [](U a) { return static_cast<U>(static_cast<std::int32_t>(static_cast<std::int16_t>(a))); });
  batch.run();
}

using ConvertPacked = PtxTest;

// The second source lies below the first; above both is what fits of the third.
TEST_F(ConvertPacked, SaturatesAndPacks) {
  using S = std::int32_t;
  using U = std::uint32_t;
  const auto saturated = [](S value, S lowest, S highest) {
    return static_cast<U>(std::clamp(value, lowest, highest));
  };
  Batch<U, S, S> shorts(edge_values<S>(), edge_values<S>());
  shorts.add("cvt.pack.sat.s16.s32 d, a, b;",
             [=](S a, S b) { return saturated(a, -32768, 32767) << 16 | (saturated(b, -32768, 32767) & 0xffff); });
  shorts.add("cvt.pack.sat.u16.s32 d, a, b;",
             [=](S a, S b) { return saturated(a, 0, 65535) << 16 | saturated(b, 0, 65535); });
  shorts.run();
  Batch<U, S, S, U> bytes(edge_values<S>(), edge_values<S>(), {0, 0x12345678, 0xffffffff});
  bytes.add("cvt.pack.sat.s8.s32.b32 d, a, b, c;", [=](S a, S b, U c) {
    return c << 16 | (saturated(a, -128, 127) & 0xff) << 8 | (saturated(b, -128, 127) & 0xff);
  });
  bytes.add("cvt.pack.sat.u8.s32.b32 d, a, b, c;",
            [=](S a, S b, U c) { return c << 16 | saturated(a, 0, 255) << 8 | saturated(b, 0, 255); });
  bytes.run();
}

}  // namespace
}  // namespace ptx_test
