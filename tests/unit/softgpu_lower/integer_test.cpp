// Integer arithmetic against the same in C++.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "unit/softgpu_lower/thread_runner.hpp"

namespace softgpu::test {
namespace {

// Checks `code` (with registers of `bits`) against a function of the operands as T, on pairs of interesting values.
template <typename T, typename Reference>
void check_pairs(const std::string& instruction, Reference reference) {
  const unsigned bits = sizeof(T) * 8;
  const std::string type = "b" + std::to_string(bits);
  const std::vector<Row> rows = pairs(integers(bits), integers(bits));
  const auto results = evaluate({instruction + " d, a, b;", type, type, type}, rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const T expected = reference(static_cast<T>(rows[i].a), static_cast<T>(rows[i].b));
    ASSERT_EQ(static_cast<T>(results[i]), expected) << instruction << " of " << rows[i].a << ", " << rows[i].b;
  }
}

template <typename T, typename Reference>
void check_triples(const std::string& instruction, Reference reference) {
  const unsigned bits = sizeof(T) * 8;
  const std::string type = "b" + std::to_string(bits);
  const std::vector<std::uint64_t> thirds = {0, 1, 0x7fffffff, 0xffffffffffffffff, 0x8000000000000000, 12345};
  const std::vector<Row> rows = triples(integers(bits), integers(bits), thirds);
  const auto results = evaluate({instruction + " d, a, b, c;", type, type, type, type}, rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const T expected = reference(static_cast<T>(rows[i].a), static_cast<T>(rows[i].b), static_cast<T>(rows[i].c));
    ASSERT_EQ(static_cast<T>(results[i]), expected)
        << instruction << " of " << rows[i].a << ", " << rows[i].b << ", " << rows[i].c;
  }
}

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
__extension__ using s128 = __int128;
__extension__ using u128 = unsigned __int128;

template <typename T>
using Wide = std::conditional_t<std::is_signed_v<T>, s128, u128>;

template <typename T>
T high(T a, T b) {
  return static_cast<T>(static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b) >> (8 * sizeof(T)));
}

template <typename T>
T clamp(s128 value) {
  return static_cast<T>(std::clamp<s128>(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}

TEST(LowerInteger, AddSubMulWrap) {
  check_pairs<u16>("add.u16", [](u16 a, u16 b) { return static_cast<u16>(a + b); });
  check_pairs<u32>("add.s32", [](u32 a, u32 b) { return a + b; });
  check_pairs<u64>("add.u64", [](u64 a, u64 b) { return a + b; });
  check_pairs<u32>("sub.u32", [](u32 a, u32 b) { return a - b; });
  check_pairs<u64>("sub.s64", [](u64 a, u64 b) { return a - b; });
  check_pairs<u16>("mul.lo.u16", [](u16 a, u16 b) { return static_cast<u16>(u32{a} * b); });
  check_pairs<u32>("mul.lo.s32", [](u32 a, u32 b) { return a * b; });
  check_pairs<u64>("mul.lo.u64", [](u64 a, u64 b) { return a * b; });
}

TEST(LowerInteger, AddSubSaturate) {
  check_pairs<s32>("add.sat.s32", [](s32 a, s32 b) { return clamp<s32>(s128{a} + b); });
  check_pairs<s32>("sub.sat.s32", [](s32 a, s32 b) { return clamp<s32>(s128{a} - b); });
}

TEST(LowerInteger, HighHalvesOfProducts) {
  check_pairs<u16>("mul.hi.u16", high<u16>);
  check_pairs<s16>("mul.hi.s16", high<s16>);
  check_pairs<u32>("mul.hi.u32", high<u32>);
  check_pairs<s32>("mul.hi.s32", high<s32>);
  check_pairs<u64>("mul.hi.u64", high<u64>);
  check_pairs<s64>("mul.hi.s64", high<s64>);
}

TEST(LowerInteger, WideProducts) {
  const std::vector<Row> rows = pairs(integers(32), integers(32));
  const auto as_unsigned = evaluate({"mul.wide.u32 d, a, b;", "b64", "b32", "b32"}, rows);
  const auto as_signed = evaluate({"mul.wide.s32 d, a, b;", "b64", "b32", "b32"}, rows);
  const auto with_sum = evaluate({"mov.u64 w0, 0x123456789; mad.wide.s32 d, a, b, w0;", "b64", "b32", "b32"}, rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const s64 product = s64{static_cast<s32>(rows[i].a)} * static_cast<s32>(rows[i].b);
    ASSERT_EQ(as_unsigned[i], rows[i].a * rows[i].b);
    ASSERT_EQ(static_cast<s64>(as_signed[i]), product);
    ASSERT_EQ(with_sum[i], static_cast<u64>(product) + 0x123456789);
  }
}

TEST(LowerInteger, MultiplyAdd) {
  check_triples<u32>("mad.lo.u32", [](u32 a, u32 b, u32 c) { return a * b + c; });
  check_triples<s32>("mad.hi.s32", [](s32 a, s32 b, s32 c) { return static_cast<s32>(u32(high(a, b)) + u32(c)); });
  check_triples<s32>("mad.hi.sat.s32", [](s32 a, s32 b, s32 c) { return clamp<s32>(s128{high(a, b)} + c); });
  check_triples<u64>("mad.hi.u64", [](u64 a, u64 b, u64 c) { return high(a, b) + c; });
}

s64 low24(s32 a) { return s64{a << 8 >> 8}; }
u64 low24(u32 a) { return a & 0xffffff; }

TEST(LowerInteger, TwentyFourBits) {
  check_pairs<u32>("mul24.lo.u32", [](u32 a, u32 b) { return static_cast<u32>(low24(a) * low24(b)); });
  check_pairs<u32>("mul24.hi.u32", [](u32 a, u32 b) { return static_cast<u32>(low24(a) * low24(b) >> 16); });
  check_pairs<s32>("mul24.lo.s32", [](s32 a, s32 b) { return static_cast<s32>(low24(a) * low24(b)); });
  check_pairs<s32>("mul24.hi.s32", [](s32 a, s32 b) { return static_cast<s32>(low24(a) * low24(b) >> 16); });
  check_triples<s32>("mad24.lo.s32",
                     [](s32 a, s32 b, s32 c) { return static_cast<s32>(u32(low24(a) * low24(b)) + u32(c)); });
  check_triples<s32>("mad24.hi.sat.s32", [](s32 a, s32 b, s32 c) {
    return clamp<s32>(s128{static_cast<s32>(low24(a) * low24(b) >> 16)} + c);
  });
}

template <typename T>
T quotient(T a, T b) {
  if (b == 0) return static_cast<T>(-1);
  return static_cast<T>(static_cast<Wide<T>>(a) / static_cast<Wide<T>>(b));
}

template <typename T>
T remainder(T a, T b) {
  return b == 0 ? a : static_cast<T>(static_cast<Wide<T>>(a) % static_cast<Wide<T>>(b));
}

TEST(LowerInteger, DivisionNeverTraps) {
  check_pairs<u16>("div.u16", quotient<u16>);
  check_pairs<s16>("div.s16", quotient<s16>);
  check_pairs<u32>("div.u32", quotient<u32>);
  check_pairs<s32>("div.s32", quotient<s32>);
  check_pairs<u64>("div.u64", quotient<u64>);
  check_pairs<s64>("div.s64", quotient<s64>);
  check_pairs<u32>("rem.u32", remainder<u32>);
  check_pairs<s32>("rem.s32", remainder<s32>);
  check_pairs<u64>("rem.u64", remainder<u64>);
  check_pairs<s64>("rem.s64", remainder<s64>);
}

TEST(LowerInteger, DivisionByConstants) {
  for (u32 divisor : {1u, 3u, 10u, 0x80000000u, 0xffffffffu}) {
    const std::vector<Row> rows = pairs(integers(32), {0});
    const std::string number = std::to_string(divisor);
    const auto quotients = evaluate({"div.u32 d, a, " + number + ";", "b32", "b32"}, rows);
    const auto remainders = evaluate({"rem.s32 d, a, " + number + ";", "b32", "b32"}, rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      ASSERT_EQ(quotients[i], static_cast<u32>(rows[i].a) / divisor);
      ASSERT_EQ(static_cast<s32>(remainders[i]), remainder(static_cast<s32>(rows[i].a), static_cast<s32>(divisor)));
    }
  }
}

// Quotients just below an integer are where rounding would show.
TEST(LowerInteger, QuotientsNextToIntegers) {
  std::vector<Row> rows;
  for (u64 b : {2ull, 3ull, 7ull, 641ull, 65535ull, 65537ull, 0x7fffffffull, 0xfffffffeull, 0xffffffffull})
    for (u64 q : {1ull, 2ull, 1000ull, 65536ull, 6700417ull, 0xffffffffull})
      for (u64 r : {u64{0}, b - 1})
        if (q * b + r <= 0xffffffff) rows.push_back({q * b + r, b});
  const auto quotients = evaluate({"div.u32 d, a, b;", "b32", "b32"}, rows);
  const auto remainders = evaluate({"rem.u32 d, a, b;", "b32", "b32"}, rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ASSERT_EQ(quotients[i], rows[i].a / rows[i].b) << rows[i].a << " / " << rows[i].b;
    ASSERT_EQ(remainders[i], rows[i].a % rows[i].b);
  }
}

TEST(LowerInteger, MinMaxAbsNeg) {
  check_pairs<u32>("min.u32", [](u32 a, u32 b) { return std::min(a, b); });
  check_pairs<s32>("min.s32", [](s32 a, s32 b) { return std::min(a, b); });
  check_pairs<s64>("max.s64", [](s64 a, s64 b) { return std::max(a, b); });
  check_pairs<u16>("max.u16", [](u16 a, u16 b) { return std::max(a, b); });
  check_pairs<s32>("max.relu.s32", [](s32 a, s32 b) { return std::max({a, b, 0}); });
  check_pairs<s32>("min.relu.s32", [](s32 a, s32 b) { return std::max(std::min(a, b), 0); });
}

TEST(LowerInteger, AbsAndNegWrap) {
  const std::vector<Row> rows = pairs(integers(64), {0});
  const auto sizes = evaluate({"abs.s64 d, a;", "b64", "b64"}, rows);
  const auto negatives = evaluate({"neg.s64 d, a;", "b64", "b64"}, rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ASSERT_EQ(negatives[i], 0 - rows[i].a);
    ASSERT_EQ(sizes[i], static_cast<s64>(rows[i].a) < 0 ? 0 - rows[i].a : rows[i].a);
  }
}

TEST(LowerInteger, PairsOfShorts) {
  const std::vector<Row> rows = pairs(integers(32), integers(32));
  const auto check = [&](const std::string& code, u16 (*reference)(u16, u16)) {
    const auto results = evaluate({code + " d, a, b;", "b32", "b32", "b32"}, rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const u64 low = reference(static_cast<u16>(rows[i].a), static_cast<u16>(rows[i].b));
      const u64 high = reference(static_cast<u16>(rows[i].a >> 16), static_cast<u16>(rows[i].b >> 16));
      ASSERT_EQ(results[i], high << 16 | low) << code;
    }
  };
  check("add.u16x2", [](u16 a, u16 b) { return static_cast<u16>(a + b); });
  check("min.u16x2", [](u16 a, u16 b) { return std::min(a, b); });
  check("max.s16x2", [](u16 a, u16 b) { return static_cast<u16>(std::max(static_cast<s16>(a), static_cast<s16>(b))); });
  check("min.relu.s16x2", [](u16 a, u16 b) {
    return static_cast<u16>(std::max<s16>(std::min(static_cast<s16>(a), static_cast<s16>(b)), 0));
  });
}

}  // namespace
}  // namespace softgpu::test
