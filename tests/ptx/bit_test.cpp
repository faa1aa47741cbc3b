// Logic, shifts, bit fields and counting.
#include <bit>

#include "ptx/batch.hpp"
#include "ptx/run_kernel.hpp"

namespace ptx_test {
namespace {

template <typename T>
class Bitwise : public PtxTest {};
using BitTypes = testing::Types<std::uint16_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(Bitwise, BitTypes);

TYPED_TEST(Bitwise, Logic) {
  using T = TypeParam;
  const std::string type = ".b" + std::to_string(8 * sizeof(T));
  Batch<T, T, T> batch(edge_values<T>(), edge_values<T>());
  batch.add("and" + type + " d, a, b;", [](T a, T b) { return static_cast<T>(a & b); });
  batch.add("or" + type + " d, a, b;", [](T a, T b) { return static_cast<T>(a | b); });
  batch.add("xor" + type + " d, a, b;", [](T a, T b) { return static_cast<T>(a ^ b); });
  batch.add("not" + type + " d, a;", [](T a, T) { return static_cast<T>(~a); });
  batch.add("cnot" + type + " d, a;", [](T a, T) { return static_cast<T>(a == 0 ? 1 : 0); });
  batch.add("and" + type + " d, a, 0xff;", [](T a, T) { return static_cast<T>(a & 0xff); });
  batch.run();
}

TYPED_TEST(Bitwise, Shifts) {
  using T = TypeParam;
  using S = std::make_signed_t<T>;
  using U = std::uint32_t;
  constexpr U kWidth = 8 * sizeof(T);
  const std::string width = std::to_string(kWidth);
  Batch<T, T, U> batch(edge_values<T>(),
                       {0, 1, 7, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 256, 0x80000000, 0xffffffff});
  batch.add("shl.b" + width + " d, a, b;",
            [](T a, U b) { return static_cast<T>(b < kWidth ? std::uint64_t{a} << b : 0); });
  batch.add("shr.u" + width + " d, a, b;", [](T a, U b) { return static_cast<T>(b < kWidth ? a >> b : 0); });
  batch.add("shr.b" + width + " d, a, b;", [](T a, U b) { return static_cast<T>(b < kWidth ? a >> b : 0); });
  batch.add("shr.s" + width + " d, a, b;",
            [](T a, U b) { return static_cast<T>(static_cast<S>(a) >> std::min(b, kWidth - 1)); });
  batch.add("shl.b" + width + " d, a, 3;", [](T a, U) { return static_cast<T>(a << 3); });
  batch.run();
}

using Predicates = PtxTest;

TEST_F(Predicates, HaveLogicToo) {
  using U = std::uint32_t;
  Batch<U, U, U> batch({0, 1}, {0, 1});
  const std::string set = "setp.ne.u32 p, a, 0; setp.ne.u32 q, b, 0; ", get = " selp.u32 d, 1, 0, p;";
  batch.add(set + "and.pred p, p, q;" + get, [](U a, U b) { return a & b; });
  batch.add(set + "or.pred p, p, q;" + get, [](U a, U b) { return a | b; });
  batch.add(set + "xor.pred p, p, q;" + get, [](U a, U b) { return a ^ b; });
  batch.add(set + "not.pred p, q;" + get, [](U, U b) { return b ^ 1; });
  batch.add(set + "and.pred p, p, !q;" + get, [](U a, U b) { return a & (b ^ 1); });
  batch.add(set + "mov.pred p, q;" + get, [](U, U b) { return b; });
  batch.add(set + "mov.pred p, -1;" + get, [](U, U) { return 1u; });
  batch.add(set + "mov.u32 d, 5; @p mov.u32 d, 6; @!q add.u32 d, d, 10;",
            [](U a, U b) { return (a != 0 ? 6 : 5) + (b != 0 ? 0u : 10u); });
  batch.run();
}

using U = std::uint32_t;
using L = std::uint64_t;
using BitCount = PtxTest;

TEST_F(BitCount, In32And64Bits) {
  Batch<U, U> batch(edge_values<U>());
  batch.add("popc.b32 d, a;", [](U a) { return static_cast<U>(std::popcount(a)); });
  batch.add("clz.b32 d, a;", [](U a) { return static_cast<U>(std::countl_zero(a)); });
  batch.add("bfind.u32 d, a;", [](U a) { return static_cast<U>(31 - std::countl_zero(a)); });
  batch.add("bfind.shiftamt.u32 d, a;", [](U a) { return a == 0 ? ~0u : static_cast<U>(std::countl_zero(a)); });
  const auto significant = [](U a) { return a >> 31 != 0 ? ~a : a; };  // the bits that differ from the sign
  batch.add("bfind.s32 d, a;", [=](U a) { return static_cast<U>(31 - std::countl_zero(significant(a))); });
  batch.add("bfind.shiftamt.s32 d, a;",
            [=](U a) { return significant(a) == 0 ? ~0u : static_cast<U>(std::countl_zero(significant(a))); });
  batch.run();
  Batch<U, L> wide(edge_values<L>());
  wide.add("popc.b64 d, a;", [](L a) { return static_cast<U>(std::popcount(a)); });
  wide.add("clz.b64 d, a;", [](L a) { return static_cast<U>(std::countl_zero(a)); });
  wide.add("bfind.u64 d, a;", [](L a) { return static_cast<U>(63 - std::countl_zero(a)); });
  wide.add("bfind.s64 d, a;", [](L a) { return static_cast<U>(63 - std::countl_zero(a >> 63 != 0 ? ~a : a)); });
  wide.run();
}

template <typename T>
T reversed(T value) {
  T result = 0;
  for (std::size_t i = 0; i < 8 * sizeof(T); ++i) result = static_cast<T>(result << 1 | (value >> i & 1));
  return result;
}

TEST_F(BitCount, Reverses) {
  Batch<U, U> batch(edge_values<U>());
  batch.add("brev.b32 d, a;", [](U a) { return reversed(a); });
  batch.run();
  Batch<L, L> wide(edge_values<L>());
  wide.add("brev.b64 d, a;", [](L a) { return reversed(a); });
  wide.run();
}

TEST_F(BitCount, FindsTheNthBit) {
  Batch<U, U, U, int> batch(edge_values<U>(), {0, 1, 5, 16, 30, 31}, {-40, -3, -2, -1, 0, 1, 2, 3, 20});
  batch.add("fns.b32 d, a, b, c;", [](U mask, U base, int offset) {
    int position = static_cast<int>(base), left = offset;
    if (offset == 0) return mask >> base & 1 ? base : ~0u;
    const int step = offset > 0 ? 1 : -1;
    for (left = std::abs(offset); position >= 0 && position < 32; position += step)
      if ((mask >> position & 1) != 0 && --left == 0) return static_cast<U>(position);
    return ~0u;
  });
  batch.run();
}

// PTX: position and length count to 255; bits beyond the top are the sign.
template <typename T>
T extracted(T value, U position, U length) {
  using B = Bits<T>;
  constexpr U kWidth = 8 * sizeof(T);
  position &= 255;
  length &= 255;
  const bool sign = std::is_signed_v<T> && length != 0 &&
                    (static_cast<B>(value) >> std::min(position + length - 1, kWidth - 1) & 1) != 0;
  B result = 0;
  for (U i = 0; i < kWidth; ++i) {
    const bool inside = i < length && position + i < kWidth;
    const bool bit = inside ? (static_cast<B>(value) >> (position + i) & 1) != 0 : sign;
    result |= static_cast<B>(static_cast<B>(bit) << i);
  }
  return static_cast<T>(result);
}

template <typename T>
T inserted(T field, T base, U position, U length) {
  constexpr U kWidth = 8 * sizeof(T);
  position &= 255;
  length &= 255;
  for (U i = 0; i < length && position + i < kWidth; ++i) {
    const T bit = T{1} << (position + i);
    base = (field >> i & 1) != 0 ? base | bit : base & ~bit;
  }
  return base;
}

const std::vector<U> kPositions = {0, 1, 4, 8, 16, 31, 32, 33, 63, 64, 255};

template <typename T>
void check_extraction(const std::string& type) {
  Batch<T, T, U, U> batch(some_of(edge_values<T>(), 12), kPositions, kPositions);
  batch.add("bfe" + type + " d, a, b, c;", [](T a, U b, U c) { return extracted(a, b, c); });
  batch.add("bfe" + type + " d, a, 5, 9;", [](T a, U, U) { return extracted(a, 5, 9); });
  batch.run();
}

using BitField = PtxTest;

TEST_F(BitField, IsExtracted) {
  check_extraction<std::uint32_t>(".u32");
  check_extraction<std::int32_t>(".s32");
  check_extraction<std::uint64_t>(".u64");
  check_extraction<std::int64_t>(".s64");
}

TEST_F(BitField, IsInserted) {
  Batch<U, U, U, U, U> batch(some_of(edge_values<U>(), 6), some_of(edge_values<U>(), 6), kPositions, kPositions);
  batch.add("bfi.b32 d, a, b, c, e;", [](U a, U b, U c, U e) { return inserted(a, b, c, e); });
  batch.run();
  Batch<L, L, L, U, U> wide(some_of(edge_values<L>(), 6), some_of(edge_values<L>(), 6), kPositions, kPositions);
  wide.add("bfi.b64 d, a, b, c, e;", [](L a, L b, U c, U e) { return inserted(a, b, c, e); });
  wide.run();
}

TEST_F(BitField, IsMaskedAndExtended) {
  Batch<U, U, U> batch({0, 1, 5, 16, 31, 32, 40, 255, 0xffffffff}, {0, 1, 5, 16, 31, 32, 33, 40, 0xffffffff});
  const auto mask = [](U position, U length) {
    const L ones = length >= 32 ? 0xffffffff : (L{1} << length) - 1;
    return position >= 32 ? 0 : static_cast<U>(ones << position);
  };
  batch.add("bmsk.clamp.b32 d, a, b;", [=](U a, U b) { return mask(a, b); });
  batch.add("bmsk.wrap.b32 d, a, b;", [=](U a, U b) { return mask(a & 31, b & 31); });
  batch.run();

  Batch<U, U, U> extend(edge_values<U>(), {0, 1, 5, 16, 31, 32, 33, 255});
  const auto low = [](U value, U width, bool is_signed) {
    if (width >= 32) return value;
    if (width == 0) return 0u;
    const U field = value & ((1u << width) - 1);
    return is_signed && (field >> (width - 1)) != 0 ? field | ~((1u << width) - 1) : field;
  };
  extend.add("szext.clamp.u32 d, a, b;", [=](U a, U b) { return low(a, b, false); });
  extend.add("szext.clamp.s32 d, a, b;", [=](U a, U b) { return low(a, b, true); });
  extend.add("szext.wrap.u32 d, a, b;", [=](U a, U b) { return low(a, b & 31, false); });
  extend.add("szext.wrap.s32 d, a, b;", [=](U a, U b) { return low(a, b & 31, true); });
  extend.run();
}

using FunnelShift = PtxTest;

TEST_F(FunnelShift, TakesTheMiddleOfTwoWords) {
  Batch<U, U, U, U> batch(some_of(edge_values<U>(), 10), some_of(edge_values<U>(), 10),
                          {0, 1, 8, 16, 31, 32, 33, 64, 0xffffffff});
  const auto whole = [](U low, U high) { return L{high} << 32 | low; };
  batch.add("shf.l.wrap.b32 d, a, b, c;", [=](U a, U b, U c) { return static_cast<U>(whole(a, b) << (c & 31) >> 32); });
  batch.add("shf.r.wrap.b32 d, a, b, c;", [=](U a, U b, U c) { return static_cast<U>(whole(a, b) >> (c & 31)); });
  batch.add("shf.l.clamp.b32 d, a, b, c;",
            [=](U a, U b, U c) { return static_cast<U>(c >= 32 ? a : whole(a, b) << c >> 32); });
  batch.add("shf.r.clamp.b32 d, a, b, c;",
            [=](U a, U b, U c) { return static_cast<U>(whole(a, b) >> std::min(c, 32u)); });
  batch.run();
}

U permuted(U a, U b, U selector) {
  const L bytes = L{b} << 32 | a;
  U result = 0;
  for (int i = 0; i < 4; ++i) {
    const U nibble = selector >> (4 * i) & 15;
    U byte = static_cast<U>(bytes >> (8 * (nibble & 7))) & 255;
    if (nibble & 8) byte = byte & 128 ? 255 : 0;
    result |= byte << (8 * i);
  }
  return result;
}

using Permute = PtxTest;

TEST_F(Permute, PicksBytes) {
  Batch<U, U, U, U> batch(some_of(edge_values<U>(), 8), some_of(edge_values<U>(), 8),
                          {0x3210, 0x7654, 0x0123, 0xba98, 0xfedc, 0x5410, 0x8040, 0, 1, 2, 3, 0xffff7777});
  const auto chosen = [](const U(&selectors)[4], U c) { return selectors[c & 3]; };
  batch.add("prmt.b32 d, a, b, c;", permuted);
  batch.add("prmt.b32.f4e d, a, b, c;",
            [=](U a, U b, U c) { return permuted(a, b, chosen({0x3210, 0x4321, 0x5432, 0x6543}, c)); });
  batch.add("prmt.b32.b4e d, a, b, c;",
            [=](U a, U b, U c) { return permuted(a, b, chosen({0x5670, 0x6701, 0x7012, 0x0123}, c)); });
  batch.add("prmt.b32.rc8 d, a, b, c;",
            [=](U a, U b, U c) { return permuted(a, b, chosen({0x0000, 0x1111, 0x2222, 0x3333}, c)); });
  batch.add("prmt.b32.ecl d, a, b, c;",
            [=](U a, U b, U c) { return permuted(a, b, chosen({0x3210, 0x3211, 0x3222, 0x3333}, c)); });
  batch.add("prmt.b32.ecr d, a, b, c;",
            [=](U a, U b, U c) { return permuted(a, b, chosen({0x0000, 0x1110, 0x2210, 0x3210}, c)); });
  batch.add("prmt.b32.rc16 d, a, b, c;",
            [=](U a, U b, U c) { return permuted(a, b, chosen({0x1010, 0x3232, 0x1010, 0x3232}, c)); });
  batch.run();
}

U looked_up(U a, U b, U c, U table) {
  U result = 0;
  for (int i = 0; i < 32; ++i) result |= (table >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)) & 1) << i;
  return result;
}

using LogicTable = PtxTest;

TEST_F(LogicTable, OfThreeInputs) {
  const auto values = some_of(edge_values<U>(), 10);
  Batch<U, U, U, U> batch(values, values, values);
  for (const U table : {0x00u, 0x01u, 0x3cu, 0x80u, 0x96u, 0xcau, 0xe8u, 0xf0u, 0xfeu, 0xffu})
    batch.add("lop3.b32 d, a, b, c, " + std::to_string(table) + ";",
              [=](U a, U b, U c) { return looked_up(a, b, c, table); });
  batch.add("setp.eq.u32 q, a, b; lop3.or.b32 d|p, a, b, c, 0x96, q; @p add.u32 d, d, 1;", [](U a, U b, U c) {
    const U result = looked_up(a, b, c, 0x96);
    return result + (result != 0 || a == b ? 1 : 0);
  });
  batch.add("setp.eq.u32 q, a, b; lop3.and.b32 d|p, a, b, c, 0x96, q; @p add.u32 d, d, 1;", [](U a, U b, U c) {
    const U result = looked_up(a, b, c, 0x96);
    return result + (result != 0 && a == b ? 1 : 0);
  });
  batch.run();
}

TEST_F(BitField, IsInsertedUnderACondition) {
  const auto result = run_threads(
      "mul.lo.u32 %r0, %t, 2654435761; mad.lo.u32 %r1, %r0, 7, 12345; mov.u32 %r2, %r1; and.b32 %r3, %t, 5; "
      "setp.ne.u32 %p0, %r3, 0; @%p0 bfi.b32 %r1, %r0, %r1, 16, 14; @!%p0 bfi.b32 %r2, %r2, %r0, 3, 9; "
      "xor.b32 %r1, %r1, %r2;" +
          store("%r1"),
      64);
  EXPECT_EQ(result, each_thread(64, [](unsigned t) {
              const unsigned a = t * 2654435761U, b = a * 7 + 12345;
              const unsigned first = (t & 5) != 0 ? (b & 0xC000FFFF) | (a << 16 & 0x3FFF0000) : b;
              const unsigned second = (t & 5) == 0 ? (a & ~(511U << 3)) | (b << 3 & 511U << 3) : b;
              return first ^ second;
            }));
}

}  // namespace
}  // namespace ptx_test
