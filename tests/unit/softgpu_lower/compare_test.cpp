// setp, set, selp, slct.
#include <limits>

#include "unit/softgpu_lower/snippet_checks.hpp"

namespace softgpu::test {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s32 = std::int32_t;

struct IntegerCase {
  const char* name;
  bool (*as_signed)(s32, s32);
  bool (*as_unsigned)(u32, u32);
};

const IntegerCase kIntegerCases[] = {
    {"eq", [](s32 a, s32 b) { return a == b; }, [](u32 a, u32 b) { return a == b; }},
    {"ne", [](s32 a, s32 b) { return a != b; }, [](u32 a, u32 b) { return a != b; }},
    {"lt", [](s32 a, s32 b) { return a < b; }, [](u32 a, u32 b) { return a < b; }},
    {"le", [](s32 a, s32 b) { return a <= b; }, [](u32 a, u32 b) { return a <= b; }},
    {"gt", [](s32 a, s32 b) { return a > b; }, [](u32 a, u32 b) { return a > b; }},
    {"ge", [](s32 a, s32 b) { return a >= b; }, [](u32 a, u32 b) { return a >= b; }},
};

TEST(LowerCompare, Integers) {
  const auto rows = pairs(integers(32), integers(32));
  for (const IntegerCase& c : kIntegerCases) {
    const std::string name = c.name;
    check_rows({"setp." + name + ".s32 p, a, b; selp.u32 d, 1, 0, p;", "b32", "b32"}, rows,
               [&](Row r) { return c.as_signed(static_cast<s32>(r.a), static_cast<s32>(r.b)); });
    check_rows({"set." + name + ".u32.u32 d, a, b;", "b32", "b32"}, rows,
               [&](Row r) { return c.as_unsigned(static_cast<u32>(r.a), static_cast<u32>(r.b)) ? 0xffffffff : 0; });
  }
  check_rows({"setp.lo.u32 p, a, b; selp.u32 d, 1, 0, p;", "b32", "b32"}, rows, [](Row r) { return r.a < r.b; });
  check_rows({"setp.hs.u32 p, a, b; selp.u32 d, 1, 0, p;", "b32", "b32"}, rows, [](Row r) { return r.a >= r.b; });
}

struct FloatCase {
  const char* name;
  bool (*compare)(float, float);
};

bool unordered(float a, float b) { return std::isnan(a) || std::isnan(b); }

const FloatCase kFloatCases[] = {
    {"eq", [](float a, float b) { return a == b; }},
    {"ne", [](float a, float b) { return !unordered(a, b) && a != b; }},
    {"lt", [](float a, float b) { return a < b; }},
    {"le", [](float a, float b) { return a <= b; }},
    {"gt", [](float a, float b) { return a > b; }},
    {"ge", [](float a, float b) { return a >= b; }},
    {"equ", [](float a, float b) { return unordered(a, b) || a == b; }},
    {"neu", [](float a, float b) { return a != b; }},
    {"ltu", [](float a, float b) { return !(a >= b); }},
    {"leu", [](float a, float b) { return !(a > b); }},
    {"gtu", [](float a, float b) { return !(a <= b); }},
    {"geu", [](float a, float b) { return !(a < b); }},
    {"num", [](float a, float b) { return !unordered(a, b); }},
    {"nan", [](float a, float b) { return unordered(a, b); }},
};

TEST(LowerCompare, Floats) {
  const auto rows = pairs(floats<float>(4), floats<float>(4));
  for (const FloatCase& c : kFloatCases) {
    const std::string name = c.name;
    check_rows({"setp." + name + ".f32 p|q, a, b; selp.u32 d, 1, 0, p; selp.u32 r0, 2, 0, q; or.b32 d, d, r0;", "b32",
                "f32", "f32"},
               rows, [&](Row r) { return c.compare(as<float>(r.a), as<float>(r.b)) ? 1 : 2; });
    check_rows({"set." + name + ".f32.f32 d, a, b;", "b32", "f32", "f32"}, rows,
               [&](Row r) { return c.compare(as<float>(r.a), as<float>(r.b)) ? 0x3f800000 : 0; });
  }
}

TEST(LowerCompare, FlushedOperandsCompareEqual) {
  check_rows({"setp.eq.ftz.f32 p, a, b; selp.u32 d, 1, 0, p;", "b32", "f32", "f32"},
             {{1, 0}, {0x80000001, 0}, {0x800000, 0}}, [](Row r) { return (r.a & 0x7fffffff) < 0x800000; });
}

TEST(LowerCompare, CombinesWithAPredicate) {
  const auto rows = triples({0, 1, 2}, {0, 1, 2}, {0, 1});
  const auto check = [&](const std::string& operation, const char* operand, auto reference) {
    check_rows({"setp.ne.u32 q, c, 0; setp.lt." + operation + ".u32 p, a, b, " + operand + "; selp.u32 d, 1, 0, p;",
                "b32", "b32"},
               rows, [&](Row r) { return reference(r.a < r.b, r.c != 0); });
  };
  check("and", "q", [](bool x, bool c) { return x && c; });
  check("or", "q", [](bool x, bool c) { return x || c; });
  check("xor", "q", [](bool x, bool c) { return x != c; });
  check("and", "!q", [](bool x, bool c) { return x && !c; });
}

TEST(LowerCompare, HalvesInPairs) {
  // 1.0 = 0x3c00, 2.0 = 0x4000, NaN = 0x7fff
  const std::string code = "setp.lt.f16x2 p|q, a, b; selp.u32 d, 1, 0, p; selp.u32 r0, 2, 0, q; or.b32 d, d, r0;";
  const std::vector<Row> rows = {{0x3c004000, 0x40003c00}, {0x3c003c00, 0x40004000}, {0x7fff3c00, 0x7fff4000}};
  const std::vector<u64> expected = {2, 3, 1};
  EXPECT_EQ(evaluate({code, "b32", "b32"}, rows), expected);
  EXPECT_EQ(evaluate({"set.lt.u32.f16x2 d, a, b;", "b32", "b32"}, rows),
            (std::vector<u64>{0xffff0000, 0xffffffff, 0x0000ffff}));
  EXPECT_EQ(evaluate({"set.lt.f16x2.f16x2 d, a, b;", "b32", "b32"}, rows),
            (std::vector<u64>{0x3c000000, 0x3c003c00, 0x00003c00}));
}

TEST(LowerCompare, Selection) {
  check_rows({"slct.u32.s32 d, a, b, c;", "b32", "b32"}, triples({1}, {2}, {0, 1, 0x80000000, 0xffffffff, 0x7fffffff}),
             [](Row r) { return static_cast<s32>(r.c) >= 0 ? r.a : r.b; });
  check_rows({"slct.u32.f32 d, a, b, c;", "b32", "b32", "b32", "f32"}, triples({1}, {2}, floats<float>(0)),
             [](Row r) { return as<float>(r.c) >= 0 ? r.a : r.b; });
  check_rows({"slct.ftz.u32.f32 d, a, b, c;", "b32", "b32", "b32", "f32"}, {{1, 2, 0x80000001}, {1, 2, 0x80800000}},
             [](Row r) { return r.c == 0x80000001 ? 1 : 2; });
}

TEST(LowerCompare, GuardKeepsTheOldValue) {
  check_rows({"mov.u32 d, 7; setp.lt.u32 p, a, b; @p add.u32 d, a, b; @!p mov.u32 r0, d;", "b32", "b32"},
             pairs({1, 2, 3}, {1, 2, 3}), [](Row r) { return r.a < r.b ? r.a + r.b : 7; });
}

}  // namespace
}  // namespace softgpu::test
