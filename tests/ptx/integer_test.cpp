// Integer arithmetic.
#include <algorithm>

#include "ptx/batch.hpp"
#include "ptx/run_kernel.hpp"

namespace ptx_test {
namespace {

template <typename T>
std::string type_name() {
  return std::string(std::is_signed_v<T> ? ".s" : ".u") + std::to_string(8 * sizeof(T));
}

// Signed arithmetic that wraps around.
template <typename T>
T wrapped(Bits<T> bits) {
  return static_cast<T>(bits);
}
template <typename T>
auto wide_product(T a, T b) {
  if constexpr (std::is_signed_v<T>)
    return static_cast<Int128>(a) * b;
  else
    return static_cast<UInt128>(a) * b;
}
template <typename T>
T high_product(T a, T b) {
  return static_cast<T>(wide_product(a, b) >> (8 * sizeof(T)));
}

template <typename T>
class IntegerArithmetic : public PtxTest {};
using IntegerTypes =
    testing::Types<std::int16_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(IntegerArithmetic, IntegerTypes);

TYPED_TEST(IntegerArithmetic, OfTwoNumbers) {
  using T = TypeParam;
  using U = Bits<T>;
  const std::string type = type_name<T>();
  Batch<T, T, T> batch(edge_values<T>(), edge_values<T>());
  batch.add("add" + type + " d, a, b;", [](T a, T b) { return wrapped<T>(static_cast<U>(U(a) + U(b))); });
  batch.add("sub" + type + " d, a, b;", [](T a, T b) { return wrapped<T>(static_cast<U>(U(a) - U(b))); });
  batch.add("mul.lo" + type + " d, a, b;",
            [](T a, T b) { return wrapped<T>(static_cast<U>(std::uint64_t(a) * std::uint64_t(b))); });
  batch.add("mul.hi" + type + " d, a, b;", [](T a, T b) { return high_product(a, b); });
  batch.add("min" + type + " d, a, b;", [](T a, T b) { return std::min(a, b); });
  batch.add("max" + type + " d, a, b;", [](T a, T b) { return std::max(a, b); });
  batch.add("add" + type + " d, a, 100;", [](T a, T) { return wrapped<T>(static_cast<U>(U(a) + U(100))); });
  batch.run();
}

TYPED_TEST(IntegerArithmetic, DividesAndTakesRemainders) {
  using T = TypeParam;
  const std::string type = type_name<T>();
  std::vector<T> divisors;
  for (const T value : edge_values<T>())
    if (value != 0) divisors.push_back(value);
  Batch<T, T, T> batch(edge_values<T>(), divisors);
  const auto overflows = [](T a, T b) {
    return std::is_signed_v<T> && a == std::numeric_limits<T>::min() && b == T(-1);
  };
  batch.add("div" + type + " d, a, b;", [=](T a, T b) { return overflows(a, b) ? a : static_cast<T>(a / b); });
  batch.add("rem" + type + " d, a, b;", [=](T a, T b) { return overflows(a, b) ? T(0) : static_cast<T>(a % b); });
  batch.run();
}

TYPED_TEST(IntegerArithmetic, OfThreeNumbers) {
  using T = TypeParam;
  using U = Bits<T>;
  const std::string type = type_name<T>();
  const std::vector<T> values = some_of(edge_values<T>(), 14);
  Batch<T, T, T, T> batch(values, values, values);
  batch.add("mad.lo" + type + " d, a, b, c;", [](T a, T b, T c) {
    return wrapped<T>(static_cast<U>(std::uint64_t(a) * std::uint64_t(b) + std::uint64_t(c)));
  });
  batch.add("mad.hi" + type + " d, a, b, c;",
            [](T a, T b, T c) { return wrapped<T>(static_cast<U>(U(high_product(a, b)) + U(c))); });
  batch.add("sad" + type + " d, a, b, c;",
            [](T a, T b, T c) { return wrapped<T>(static_cast<U>(U(c) + (a < b ? U(b) - U(a) : U(a) - U(b)))); });
  batch.run();
}

TYPED_TEST(IntegerArithmetic, OfOneNumber) {
  using T = TypeParam;
  using U = Bits<T>;
  if constexpr (std::is_signed_v<T>) {
    Batch<T, T> batch(edge_values<T>());
    batch.add("neg" + type_name<T>() + " d, a;", [](T a) { return wrapped<T>(static_cast<U>(U(0) - U(a))); });
    batch.add("abs" + type_name<T>() + " d, a;",
              [](T a) { return a < 0 ? wrapped<T>(static_cast<U>(U(0) - U(a))) : a; });
    batch.run();
  }
}

template <typename T, typename Wide>
void check_wide() {
  const std::string type = type_name<T>();
  const std::vector<T> values = some_of(edge_values<T>(), 16);
  Batch<Wide, T, T, Wide> batch(values, values, some_of(edge_values<Wide>(), 8));
  using W = Bits<Wide>;
  batch.add("mul.wide" + type + " d, a, b;", [](T a, T b, Wide) { return static_cast<Wide>(wide_product(a, b)); });
  batch.add("mad.wide" + type + " d, a, b, c;",
            [](T a, T b, Wide c) { return static_cast<Wide>(W(static_cast<Wide>(wide_product(a, b))) + W(c)); });
  batch.add("mul.wide" + type + " d, a, 7;", [](T a, T, Wide) { return static_cast<Wide>(static_cast<Wide>(a) * 7); });
  batch.run();
}

using IntegerProduct = PtxTest;

TEST_F(IntegerProduct, CanBeTwiceAsWide) {
  check_wide<std::int16_t, std::int32_t>();
  check_wide<std::uint16_t, std::uint32_t>();
  check_wide<std::int32_t, std::int64_t>();
  check_wide<std::uint32_t, std::uint64_t>();
}

TEST_F(IntegerProduct, Of24Bits) {
  const auto s24 = [](std::int32_t v) {
    return static_cast<std::int64_t>(static_cast<std::int32_t>(static_cast<std::uint32_t>(v) << 8) >> 8);
  };
  const auto u24 = [](std::uint32_t v) { return static_cast<std::uint64_t>(v & 0xffffff); };
  const auto values = some_of(edge_values<std::int32_t>(), 14);
  Batch<std::int32_t, std::int32_t, std::int32_t, std::int32_t> s(values, values, values);
  using I = std::int32_t;
  s.add("mul24.lo.s32 d, a, b;", [=](I a, I b, I) { return static_cast<I>(s24(a) * s24(b)); });
  s.add("mul24.hi.s32 d, a, b;", [=](I a, I b, I) { return static_cast<I>((s24(a) * s24(b)) >> 16); });
  s.add("mad24.lo.s32 d, a, b, c;", [=](I a, I b, I c) { return static_cast<I>(s24(a) * s24(b) + c); });
  s.add("mad24.hi.s32 d, a, b, c;", [=](I a, I b, I c) { return static_cast<I>(((s24(a) * s24(b)) >> 16) + c); });
  s.add("mad24.hi.sat.s32 d, a, b, c;", [=](I a, I b, I c) {
    const std::int64_t sum = static_cast<std::int64_t>(static_cast<I>((s24(a) * s24(b)) >> 16)) + c;
    return static_cast<I>(std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX));
  });
  s.run();
  using U = std::uint32_t;
  const auto unsigned_values = some_of(edge_values<U>(), 14);
  Batch<U, U, U, U> u(unsigned_values, unsigned_values, unsigned_values);
  u.add("mul24.lo.u32 d, a, b;", [=](U a, U b, U) { return static_cast<U>(u24(a) * u24(b)); });
  u.add("mul24.hi.u32 d, a, b;", [=](U a, U b, U) { return static_cast<U>((u24(a) * u24(b)) >> 16); });
  u.add("mad24.lo.u32 d, a, b, c;", [=](U a, U b, U c) { return static_cast<U>(u24(a) * u24(b) + c); });
  u.add("mad24.hi.u32 d, a, b, c;", [=](U a, U b, U c) { return static_cast<U>(((u24(a) * u24(b)) >> 16) + c); });
  u.run();
}

using SaturatingInteger = PtxTest;

TEST_F(SaturatingInteger, StaysAtTheLimits) {
  using I = std::int32_t;
  const auto clamped = [](std::int64_t v) { return static_cast<I>(std::clamp<std::int64_t>(v, INT32_MIN, INT32_MAX)); };
  const auto values = some_of(edge_values<I>(), 16);
  Batch<I, I, I, I> batch(values, values, values);
  batch.add("add.sat.s32 d, a, b;", [=](I a, I b, I) { return clamped(static_cast<std::int64_t>(a) + b); });
  batch.add("sub.sat.s32 d, a, b;", [=](I a, I b, I) { return clamped(static_cast<std::int64_t>(a) - b); });
  batch.add("mad.hi.sat.s32 d, a, b, c;",
            [=](I a, I b, I c) { return clamped(static_cast<std::int64_t>(high_product(a, b)) + c); });
  batch.add("min.relu.s32 d, a, b;", [](I a, I b, I) { return std::max(0, std::min(a, b)); });
  batch.add("max.relu.s32 d, a, b;", [](I a, I b, I) { return std::max(0, std::max(a, b)); });
  batch.run();
}

template <typename T>
std::uint32_t each_half(std::uint32_t a, std::uint32_t b, T (*operation)(T, T)) {
  const auto low = static_cast<std::uint16_t>(operation(static_cast<T>(a), static_cast<T>(b)));
  const auto high = static_cast<std::uint16_t>(operation(static_cast<T>(a >> 16), static_cast<T>(b >> 16)));
  return low | static_cast<std::uint32_t>(high) << 16;
}

using PackedInteger = PtxTest;

TEST_F(PackedInteger, WorksInHalves) {
  using U = std::uint32_t;
  using S16 = std::int16_t;
  using U16 = std::uint16_t;
  Batch<U, U, U> batch(edge_values<U>(), edge_values<U>());
  batch.add("add.u16x2 d, a, b;",
            [](U a, U b) { return each_half<U16>(a, b, [](U16 x, U16 y) { return static_cast<U16>(x + y); }); });
  batch.add("add.s16x2 d, a, b;",
            [](U a, U b) { return each_half<U16>(a, b, [](U16 x, U16 y) { return static_cast<U16>(x + y); }); });
  batch.add("min.s16x2 d, a, b;",
            [](U a, U b) { return each_half<S16>(a, b, [](S16 x, S16 y) { return std::min(x, y); }); });
  batch.add("max.s16x2 d, a, b;",
            [](U a, U b) { return each_half<S16>(a, b, [](S16 x, S16 y) { return std::max(x, y); }); });
  batch.add("min.u16x2 d, a, b;",
            [](U a, U b) { return each_half<U16>(a, b, [](U16 x, U16 y) { return std::min(x, y); }); });
  batch.add("max.u16x2 d, a, b;",
            [](U a, U b) { return each_half<U16>(a, b, [](U16 x, U16 y) { return std::max(x, y); }); });
  batch.add("max.relu.s16x2 d, a, b;", [](U a, U b) {
    return each_half<S16>(a, b, [](S16 x, S16 y) { return std::max(S16(0), std::max(x, y)); });
  });
  batch.run();
}

using DotProduct = PtxTest;

TEST_F(DotProduct, OfBytesAndHalves) {
  using U = std::uint32_t;
  const auto part = [](U value, int index, int bits, bool is_signed) -> std::int64_t {
    const U field = value >> (index * bits) & ((1u << bits) - 1);
    return is_signed && field >> (bits - 1) != 0 ? static_cast<std::int64_t>(field) - (std::int64_t{1} << bits) : field;
  };
  const auto values = some_of(edge_values<U>(), 14);
  Batch<U, U, U, U> batch(values, values, values);
  for (const bool sa : {false, true})
    for (const bool sb : {false, true}) {
      const std::string types = std::string(sa ? ".s32" : ".u32") + (sb ? ".s32" : ".u32");
      batch.add("dp4a" + types + " d, a, b, c;", [=](U a, U b, U c) {
        std::int64_t sum = c;
        for (int i = 0; i < 4; ++i) sum += part(a, i, 8, sa) * part(b, i, 8, sb);
        return static_cast<U>(sum);
      });
      for (const int half : {0, 1})
        batch.add(std::string("dp2a") + (half != 0 ? ".hi" : ".lo") + types + " d, a, b, c;", [=](U a, U b, U c) {
          std::int64_t sum = c;
          for (int i = 0; i < 2; ++i) sum += part(a, i, 16, sa) * part(b, 2 * half + i, 8, sb);
          return static_cast<U>(sum);
        });
    }
  batch.run();
}

// The last lane's distance from the first fits 64 bits without a sign, in gangs of 8, 16 and 32.
TEST_F(IntegerProduct, HighProductsOfIndicesWithLargeStrides) {
  constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15u;
  for (const std::uint64_t stride : {0x1800000000000000u, 0x0a00000000000000u, 0x0500000000000000u}) {
    const std::string text =
        kernel_text(own_element(8) + "cvt.u64.u32 %d0, %t; mul.lo.u64 %d0, %d0, " + std::to_string(stride) +
                    "; mul.hi.u64 %d1, %d0, " + std::to_string(kFactor) + "; st.global.b64 [%d31], %d1;");
    std::vector<std::uint64_t> expected(64);
    for (std::uint64_t i = 0; i < expected.size(); ++i) expected[i] = high_product(i * stride, kFactor);
    EXPECT_EQ(run_kernel(text, std::vector<std::uint64_t>(64), {.block_x = 64}), expected) << stride;
  }
}

}  // namespace
}  // namespace ptx_test
