// Logic, shifts, bit fields and carry chains against the ISA's own definitions in C++.
#include <algorithm>

#include "unit/softgpu_lower/snippet_checks.hpp"

namespace softgpu::test {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

const std::vector<u64> kAmounts = {0, 1, 5, 8, 15, 16, 31, 32, 33, 63, 64, 65, 255, 256, 0xffffffff};

TEST(LowerBits, ShiftsClampTheirAmount) {
  const auto rows32 = pairs(integers(32), kAmounts);
  const auto rows64 = pairs(integers(64), kAmounts);
  check_rows({"shl.b32 d, a, b;", "b32", "b32"}, rows32,
             [](Row r) { return r.b > 31 ? 0 : static_cast<u32>(r.a << r.b); });
  check_rows({"shr.u32 d, a, b;", "b32", "b32"}, rows32, [](Row r) { return r.b > 31 ? 0 : r.a >> r.b; });
  check_rows({"shr.s32 d, a, b;", "b32", "b32"}, rows32,
             [](Row r) { return static_cast<u32>(static_cast<s32>(r.a) >> std::min<u64>(r.b, 31)); });
  check_rows({"shl.b64 d, a, b;", "b64", "b64"}, rows64, [](Row r) { return r.b > 63 ? 0 : r.a << r.b; });
  check_rows({"shr.s64 d, a, b;", "b64", "b64"}, rows64,
             [](Row r) { return static_cast<s64>(r.a) >> std::min<u64>(r.b, 63); });
  check_rows({"shr.s16 d, a, b;", "b16", "b16"}, pairs(integers(16), kAmounts), [](Row r) {
    return static_cast<std::uint16_t>(static_cast<std::int16_t>(r.a) >> std::min<u64>(r.b, 15));
  });
}

TEST(LowerBits, FunnelShifts) {
  const auto rows = triples(integers(32), {0, 1, 0x80000000, 0xdeadbeef, 0xffffffff}, kAmounts);
  const auto left = [](Row r, u64 n) { return static_cast<u32>(((r.b << 32 | r.a) << n) >> 32); };
  const auto right = [](Row r, u64 n) { return static_cast<u32>((r.b << 32 | r.a) >> n); };
  check_rows({"shf.l.wrap.b32 d, a, b, c;", "b32", "b32"}, rows, [&](Row r) { return left(r, r.c & 31); });
  check_rows({"shf.r.wrap.b32 d, a, b, c;", "b32", "b32"}, rows, [&](Row r) { return right(r, r.c & 31); });
  check_rows({"shf.l.clamp.b32 d, a, b, c;", "b32", "b32"}, rows,
             [&](Row r) { return left(r, std::min<u64>(r.c, 32)); });
  check_rows({"shf.r.clamp.b32 d, a, b, c;", "b32", "b32"}, rows,
             [&](Row r) { return right(r, std::min<u64>(r.c, 32)); });
}

TEST(LowerBits, Counts) {
  const auto rows32 = pairs(integers(32), {0});
  const auto rows64 = pairs(integers(64), {0});
  check_rows({"popc.b32 d, a;", "b32", "b32"}, rows32, [](Row r) { return std::popcount(r.a); });
  check_rows({"popc.b64 d, a;", "b32", "b64"}, rows64, [](Row r) { return std::popcount(r.a); });
  check_rows({"clz.b32 d, a;", "b32", "b32"}, rows32, [](Row r) { return std::countl_zero(static_cast<u32>(r.a)); });
  check_rows({"clz.b64 d, a;", "b32", "b64"}, rows64, [](Row r) { return std::countl_zero(r.a); });
  check_rows({"brev.b64 d, a;", "b64", "b64"}, rows64, [](Row r) {
    u64 reversed = 0;
    for (int i = 0; i < 64; ++i) reversed |= (r.a >> i & 1) << (63 - i);
    return reversed;
  });
  check_rows({"cnot.b32 d, a;", "b32", "b32"}, rows32, [](Row r) { return r.a == 0; });
}

u64 find(u64 a, int width, bool is_signed, bool shift_amount) {
  if (is_signed && (a >> (width - 1) & 1)) a = ~a & (width == 64 ? ~0ull : (1ull << width) - 1);
  for (int i = width - 1; i >= 0; --i)
    if (a >> i & 1) return static_cast<u64>(shift_amount ? width - 1 - i : i);
  return 0xffffffff;
}

TEST(LowerBits, FindsTheHighestBit) {
  const auto rows32 = pairs(integers(32), {0});
  const auto rows64 = pairs(integers(64), {0});
  check_rows({"bfind.u32 d, a;", "b32", "b32"}, rows32, [](Row r) { return find(r.a, 32, false, false); });
  check_rows({"bfind.s32 d, a;", "b32", "b32"}, rows32, [](Row r) { return find(r.a, 32, true, false); });
  check_rows({"bfind.shiftamt.s32 d, a;", "b32", "b32"}, rows32, [](Row r) { return find(r.a, 32, true, true); });
  check_rows({"bfind.u64 d, a;", "b32", "b64"}, rows64, [](Row r) { return find(r.a, 64, false, false); });
  check_rows({"bfind.shiftamt.s64 d, a;", "b32", "b64"}, rows64, [](Row r) { return find(r.a, 64, true, true); });
}

// The loop that the ISA gives.
u64 extract(Row r, int msb, bool is_signed) {
  const int pos = r.b & 0xff, len = r.c & 0xff;
  const bool sign = is_signed && len && (r.a >> std::min(pos + len - 1, msb) & 1);
  u64 d = 0;
  for (int i = 0; i <= msb; ++i) d |= static_cast<u64>((i < len && pos + i <= msb) ? r.a >> (pos + i) & 1 : sign) << i;
  return d;
}

TEST(LowerBits, ExtractsFields) {
  const auto rows32 = triples(integers(32), kAmounts, kAmounts);
  const auto rows64 = triples(integers(64), kAmounts, kAmounts);
  check_rows({"bfe.u32 d, a, b, c;", "b32", "b32"}, rows32, [](Row r) { return extract(r, 31, false); });
  check_rows({"bfe.s32 d, a, b, c;", "b32", "b32"}, rows32, [](Row r) { return extract(r, 31, true); });
  check_rows({"bfe.u64 d, a, b, c;", "b64", "b64"}, rows64, [](Row r) { return extract(r, 63, false); });
  check_rows({"bfe.s64 d, a, b, c;", "b64", "b64"}, rows64, [](Row r) { return extract(r, 63, true); });
}

u64 insert(u64 into, Row r, int msb) {
  const int pos = r.b & 0xff, len = r.c & 0xff;
  for (int i = 0; i < len && pos + i <= msb; ++i) into = (into & ~(1ull << (pos + i))) | (r.a >> i & 1) << (pos + i);
  return into;
}

TEST(LowerBits, InsertsFields) {
  check_rows({"bfi.b32 d, a, 0x12345678, b, c;", "b32", "b32"}, triples(integers(32), kAmounts, kAmounts),
             [](Row r) { return insert(0x12345678, r, 31); });
  check_rows({"bfi.b64 d, a, 0x123456789abcdef, b, c;", "b64", "b64"}, triples(integers(64), kAmounts, kAmounts),
             [](Row r) { return insert(0x123456789abcdef, r, 63); });
}

u64 mask_of(u64 a, u64 b, bool clamp) {
  const u32 a1 = a & 31, b1 = b & 31, sum = a1 + b1;
  u32 mask0 = ~0u << a1, mask1 = sum >= 32 ? 0 : ~0u << sum;
  const bool width_overflow = clamp && b >= 32;
  if (clamp && a >= 32) mask0 = 0;
  if (sum >= 32 || (clamp && a >= 32) || width_overflow)
    mask1 = 0;
  else if (b1 == 0)
    mask1 = ~0u;
  return mask0 & ~mask1;
}

TEST(LowerBits, MasksAndExtensions) {
  const auto rows = pairs(integers(32), kAmounts);
  check_rows({"bmsk.clamp.b32 d, a, b;", "b32", "b32"}, rows, [](Row r) { return mask_of(r.a, r.b, true); });
  check_rows({"bmsk.wrap.b32 d, a, b;", "b32", "b32"}, rows, [](Row r) { return mask_of(r.a, r.b, false); });
  const auto extended = [](Row r, bool clamp, bool is_signed) {
    const u32 b1 = r.b & 31;
    const bool too_large = r.b >= 32 && clamp;
    const u32 mask = too_large ? 0 : ~0u << b1;
    const bool sign = is_signed && b1 && !too_large && (r.a >> ((b1 - 1) & 31) & 1);
    return (static_cast<u32>(r.a) & ~mask) | (sign ? mask : 0);
  };
  check_rows({"szext.clamp.s32 d, a, b;", "b32", "b32"}, rows, [&](Row r) { return extended(r, true, true); });
  check_rows({"szext.wrap.s32 d, a, b;", "b32", "b32"}, rows, [&](Row r) { return extended(r, false, true); });
  check_rows({"szext.clamp.u32 d, a, b;", "b32", "b32"}, rows, [&](Row r) { return extended(r, true, false); });
}

u64 nth_set(u32 mask, int base, s32 offset) {
  if (offset == 0) return mask >> base & 1 ? static_cast<u64>(base) : 0xffffffff;
  u32 count = (offset < 0 ? 0u - static_cast<u32>(offset) : static_cast<u32>(offset)) - 1;
  for (int pos = base; pos >= 0 && pos < 32; pos += offset > 0 ? 1 : -1)
    if (mask >> pos & 1 && count-- == 0) return static_cast<u64>(pos);
  return 0xffffffff;
}

TEST(LowerBits, FindsTheNthSetBit) {
  std::vector<u64> bases, offsets;
  for (u64 base = 0; base < 32; base += 3) bases.push_back(base);
  for (s32 offset : {0, 1, 2, 3, 10, 31, 32, 33, -1, -2, -3, -17, -32, -40})
    offsets.push_back(static_cast<u32>(offset));
  check_rows({"fns.b32 d, a, b, c;", "b32", "b32"}, triples(integers(32), bases, offsets),
             [](Row r) { return nth_set(static_cast<u32>(r.a), static_cast<int>(r.b), static_cast<s32>(r.c)); });
}

u64 permute(Row r, const u32 (&selectors)[4]) {
  const u64 bytes = r.b << 32 | r.a;
  u64 d = 0;
  for (int i = 0; i < 4; ++i) d |= (bytes >> (selectors[i] & 7) * 8 & 0xff) << (8 * i);
  return d;
}

TEST(LowerBits, PermutesBytes) {
  const std::vector<u64> words = {0x03020100, 0x87654321, 0x80ff7f00};
  const std::vector<u64> selectors = {0x3210, 0x7654, 0x4213, 0xffff, 0x8b9a, 0x0123, 0xdec0, 0x12345, 0xffff7777};
  check_rows({"prmt.b32 d, a, b, c;", "b32", "b32"}, triples(words, words, selectors), [](Row r) {
    const u64 bytes = r.b << 32 | r.a;
    u64 d = 0;
    for (int i = 0; i < 4; ++i) {
      const u64 selector = r.c >> (4 * i) & 15;
      u64 byte = bytes >> (selector & 7) * 8 & 0xff;
      if (selector & 8) byte = byte & 0x80 ? 0xff : 0;
      d |= byte << (8 * i);
    }
    return d;
  });
  const auto rows = triples(words, words, {0, 1, 2, 3, 6, 0xffffffff});
  check_rows({"prmt.b32.f4e d, a, b, c;", "b32", "b32"}, rows, [](Row r) {
    const u32 c = r.c & 3;
    return permute(r, {c, c + 1, c + 2, c + 3});
  });
  check_rows({"prmt.b32.b4e d, a, b, c;", "b32", "b32"}, rows, [](Row r) {
    const u32 c = r.c & 3;
    return permute(r, {c, c + 7, c + 6, c + 5});
  });
  check_rows({"prmt.b32.rc8 d, a, b, c;", "b32", "b32"}, rows, [](Row r) {
    const u32 c = r.c & 3;
    return permute(r, {c, c, c, c});
  });
  check_rows({"prmt.b32.ecl d, a, b, c;", "b32", "b32"}, rows, [](Row r) {
    const u32 c = r.c & 3;
    return permute(r, {std::max(c, 0u), std::max(c, 1u), std::max(c, 2u), 3});
  });
  check_rows({"prmt.b32.ecr d, a, b, c;", "b32", "b32"}, rows, [](Row r) {
    const u32 c = r.c & 3;
    return permute(r, {0, std::min(c, 1u), std::min(c, 2u), c});
  });
  check_rows({"prmt.b32.rc16 d, a, b, c;", "b32", "b32"}, rows, [](Row r) {
    const u32 c = r.c & 1;
    return permute(r, {2 * c, 2 * c + 1, 2 * c, 2 * c + 1});
  });
}

TEST(LowerBits, Lop3IsEveryFunctionOfThreeVariables) {
  const std::vector<Row> rows = {{0xf0f0f0f0, 0xcccccccc, 0xaaaaaaaa}, {0x12345678, 0x9abcdef0, 0x0fedcba9}};
  for (u32 table = 0; table < 256; ++table) {
    check_rows({"lop3.b32 d, a, b, c, " + std::to_string(table) + ";", "b32", "b32"}, rows, [&](Row r) {
      u64 d = 0;
      for (int i = 0; i < 32; ++i) {
        const u64 input = (r.a >> i & 1) << 2 | (r.b >> i & 1) << 1 | (r.c >> i & 1);
        d |= static_cast<u64>(table >> input & 1) << i;
      }
      return d;
    });
  }
}

TEST(LowerBits, Lop3WithPredicate) {
  const std::string code =
      "setp.ne.u32 q, c, 0; lop3.or.b32 r0|p, a, b, 0, 0xc0, q; selp.u32 d, 1, 0, p; add.u32 d, d, r0;";
  check_rows({code, "b32", "b32"}, triples({0, 1, 6}, {0, 1, 2}, {0, 1}),
             [](Row r) { return (r.a & r.b) + ((r.a & r.b) != 0 || r.c != 0); });
}

TEST(LowerBits, SumsOfDifferencesAndProducts) {
  check_rows({"sad.u32 d, a, b, c;", "b32", "b32"}, triples(integers(32), integers(32), {0, 7, 0xffffffff}),
             [](Row r) { return static_cast<u32>((r.a < r.b ? r.b - r.a : r.a - r.b) + r.c); });
  const auto byte = [](u64 word, int i, bool is_signed) {
    const auto b = static_cast<std::uint8_t>(word >> (8 * i));
    return is_signed ? s64{static_cast<std::int8_t>(b)} : s64{b};
  };
  const auto rows = triples(integers(32), integers(32), {0, 0x80000000, 123});
  for (bool sa : {false, true})
    for (bool sb : {false, true}) {
      const std::string types = std::string(sa ? ".s32" : ".u32") + (sb ? ".s32" : ".u32");
      check_rows({"dp4a" + types + " d, a, b, c;", "b32", "b32"}, rows, [&](Row r) {
        s64 sum = static_cast<s64>(r.c);
        for (int i = 0; i < 4; ++i) sum += byte(r.a, i, sa) * byte(r.b, i, sb);
        return static_cast<u32>(sum);
      });
      for (bool high : {false, true})
        check_rows({"dp2a" + std::string(high ? ".hi" : ".lo") + types + " d, a, b, c;", "b32", "b32"}, rows,
                   [&](Row r) {
                     s64 sum = static_cast<s64>(r.c);
                     for (int i = 0; i < 2; ++i) {
                       const auto half = static_cast<std::uint16_t>(r.a >> (16 * i));
                       sum += (sa ? s64{static_cast<std::int16_t>(half)} : s64{half}) * byte(r.b, i + 2 * high, sb);
                     }
                     return static_cast<u32>(sum);
                   });
    }
}

TEST(LowerBits, CarryChainsMakeWideArithmetic) {
  const auto rows = pairs(integers(64), integers(64));
  const std::string split = "mov.b64 {r0, r1}, a; mov.b64 {r2, r3}, b; ";
  const std::string join = " mov.b64 d, {r0, r1};";
  check_rows({split + "add.cc.u32 r0, r0, r2; addc.u32 r1, r1, r3;" + join, "b64", "b64", "b64"}, rows,
             [](Row r) { return r.a + r.b; });
  check_rows({split + "sub.cc.u32 r0, r0, r2; subc.u32 r1, r1, r3;" + join, "b64", "b64", "b64"}, rows,
             [](Row r) { return r.a - r.b; });
  const std::string product = split +
                              ".reg .b32 t0, t1; mul.lo.u32 t0, r0, r2; mul.hi.u32 t1, r0, r2; "
                              "mad.lo.cc.u32 t1, r0, r3, t1; mad.lo.u32 t1, r1, r2, t1; mov.b64 d, {t0, t1};";
  check_rows({product, "b64", "b64", "b64"}, rows, [](Row r) { return r.a * r.b; });
  const std::string carries =
      "add.cc.u64 w0, a, b; addc.cc.u64 w1, a, b; addc.u64 d, 0, 0; madc.hi.u64 w2, a, b, w1; add.u64 d, d, w2;";
  check_rows({carries, "b64", "b64", "b64"}, rows, [](Row r) {
    __extension__ using u128 = unsigned __int128;
    const u128 first = static_cast<u128>(r.a) + r.b;
    const u128 second = first + static_cast<u64>(first >> 64);
    const u64 third = static_cast<u64>(second >> 64);  // the second sum's own carry
    const u64 high = static_cast<u64>(static_cast<u128>(r.a) * r.b >> 64);
    return third + high + static_cast<u64>(second) + third;
  });
}

}  // namespace
}  // namespace softgpu::test
