// setp and set with all operators, selp, slct.
#include "ptx/batch.hpp"
#include "ptx/reference.hpp"

namespace ptx_test {
namespace {

using U = std::uint32_t;

template <typename T>
struct Comparison {
  const char* name;
  bool (*holds)(T, T);
};

template <typename T>
std::vector<Comparison<T>> integer_comparisons() {
  std::vector<Comparison<T>> list = {{"eq", [](T a, T b) { return a == b; }}, {"ne", [](T a, T b) { return a != b; }},
                                     {"lt", [](T a, T b) { return a < b; }},  {"le", [](T a, T b) { return a <= b; }},
                                     {"gt", [](T a, T b) { return a > b; }},  {"ge", [](T a, T b) { return a >= b; }}};
  if constexpr (std::is_unsigned_v<T>) {
    list.push_back({"lo", [](T a, T b) { return a < b; }});
    list.push_back({"ls", [](T a, T b) { return a <= b; }});
    list.push_back({"hi", [](T a, T b) { return a > b; }});
    list.push_back({"hs", [](T a, T b) { return a >= b; }});
  }
  return list;
}

// Ordered ones are false for NaN, those that end in u are true.
template <typename T>
std::vector<Comparison<T>> float_comparisons() {
  return {{"eq", [](T a, T b) { return a == b; }},
          {"ne", [](T a, T b) { return a < b || a > b; }},
          {"lt", [](T a, T b) { return a < b; }},
          {"le", [](T a, T b) { return a <= b; }},
          {"gt", [](T a, T b) { return a > b; }},
          {"ge", [](T a, T b) { return a >= b; }},
          {"equ", [](T a, T b) { return !(a < b || a > b); }},
          {"neu", [](T a, T b) { return a != b; }},
          {"ltu", [](T a, T b) { return !(a >= b); }},
          {"leu", [](T a, T b) { return !(a > b); }},
          {"gtu", [](T a, T b) { return !(a <= b); }},
          {"geu", [](T a, T b) { return !(a < b); }},
          {"num", [](T a, T b) { return !std::isnan(a) && !std::isnan(b); }},
          {"nan", [](T a, T b) { return std::isnan(a) || std::isnan(b); }}};
}

template <typename T>
std::vector<Comparison<T>> comparisons() {
  if constexpr (std::is_integral_v<T>)
    return integer_comparisons<T>();
  else
    return float_comparisons<T>();
}

template <typename T>
std::string type_name() {
  return (std::is_floating_point_v<T> ? ".f" : std::is_signed_v<T> ? ".s" : ".u") + std::to_string(8 * sizeof(T));
}

template <typename T>
class Compare : public PtxTest {};
using Types = testing::Types<std::int16_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t,
                             float, double>;
TYPED_TEST_SUITE(Compare, Types);

TYPED_TEST(Compare, WithEachOperator) {
  using T = TypeParam;
  const std::string type = type_name<T>();
  const auto values = some_of(edge_values<T>(), 34);
  Batch<U, T, T> batch(values, values);
  for (const auto& [name, holds] : comparisons<T>()) {
    const std::string op = std::string(".") + name;
    batch.add("setp" + op + type + " p, a, b; selp.u32 d, 1, 0, p;", [=](T a, T b) { return U{holds(a, b)}; });
    batch.add("setp" + op + type + " p|q, a, b; selp.u32 d, 1, 0, p; @q add.u32 d, d, 2;",
              [=](T a, T b) { return holds(a, b) ? 1u : 2u; });
    batch.add("set" + op + ".u32" + type + " d, a, b;", [=](T a, T b) { return holds(a, b) ? ~0u : 0u; });
  }
  batch.run();
}

TYPED_TEST(Compare, AndCombine) {
  using T = TypeParam;
  const std::string type = type_name<T>();
  const auto values = some_of(edge_values<T>(), 20);
  Batch<U, T, T> batch(values, values);
  const std::string third = "setp.eq" + type + " q, a, a; ";  // false for NaN only; negated below
  const auto ordered = [](T a) { return a == a; };
  struct Combination {
    const char* name;
    bool (*of)(bool, bool);
  };
  const Combination combinations[] = {{".and", [](bool a, bool b) { return a && b; }},
                                      {".or", [](bool a, bool b) { return a || b; }},
                                      {".xor", [](bool a, bool b) { return a != b; }}};
  for (const auto& [name, combine] : combinations) {
    batch.add(third + "setp.lt" + name + type + " p, a, b, q; selp.u32 d, 1, 0, p;",
              [=](T a, T b) { return U{combine(a < b, ordered(a))}; });
    batch.add(third + "setp.lt" + name + type + " p|q, a, b, !q; selp.u32 d, 1, 0, p; @q add.u32 d, d, 2;",
              [=](T a, T b) { return U{combine(a < b, !ordered(a))} + 2 * U{combine(!(a < b), !ordered(a))}; });
    batch.add(third + "set.gt" + name + ".s32" + type + " d, a, b, !q;",
              [=](T a, T b) { return combine(a > b, !ordered(a)) ? ~0u : 0u; });
  }
  batch.run();
}

TYPED_TEST(Compare, GivesAFloat) {
  using T = TypeParam;
  const auto values = some_of(edge_values<T>(), 20);
  Batch<float, T, T> batch(values, values);
  batch.add("set.le.f32" + type_name<T>() + " d, a, b;", [](T a, T b) { return a <= b ? 1.0f : 0.0f; });
  batch.run();
}

TYPED_TEST(Compare, Selects) {
  using T = TypeParam;
  const std::string type = type_name<T>();
  Batch<T, T, T, std::int32_t> batch(some_of(edge_values<T>(), 10), some_of(edge_values<T>(), 10),
                                     edge_values<std::int32_t>());
  batch.add("setp.lt.s32 p, c, 5; selp" + type + " d, a, b, p;",
            [](T a, T b, std::int32_t c) { return c < 5 ? a : b; });
  batch.add("setp.lt.s32 p, c, 5; selp" + type + " d, a, b, !p;",
            [](T a, T b, std::int32_t c) { return c < 5 ? b : a; });
  batch.add("slct" + type + ".s32 d, a, b, c;", [](T a, T b, std::int32_t c) { return c >= 0 ? a : b; });
  batch.run();
  Batch<T, T, T, float> by_float(some_of(edge_values<T>(), 10), some_of(edge_values<T>(), 10), edge_values<float>());
  by_float.add("slct" + type + ".f32 d, a, b, c;", [](T a, T b, float c) { return c >= 0 ? a : b; });
  by_float.add("slct.ftz" + type + ".f32 d, a, b, c;", [](T a, T b, float c) { return flush(c) >= 0 ? a : b; });
  by_float.run();
}

using CompareBits = PtxTest;

TEST_F(CompareBits, ForEquality) {
  Batch<U, U, U> batch(edge_values<U>(), edge_values<U>());
  batch.add("setp.eq.b32 p, a, b; selp.b32 d, 1, 0, p;", [](U a, U b) { return U{a == b}; });
  batch.add("setp.ne.b32 p, a, b; selp.b32 d, 1, 0, p;", [](U a, U b) { return U{a != b}; });
  batch.run();
}

using CompareFlushed = PtxTest;

TEST_F(CompareFlushed, SubnormalNumbersAreZero) {
  Batch<U, float, float> batch(edge_values<float>(), edge_values<float>());
  batch.add("setp.lt.ftz.f32 p, a, b; selp.u32 d, 1, 0, p;", [](float a, float b) { return U{flush(a) < flush(b)}; });
  batch.add("setp.eq.ftz.f32 p, a, b; selp.u32 d, 1, 0, p;", [](float a, float b) { return U{flush(a) == flush(b)}; });
  batch.add("set.gt.ftz.u32.f32 d, a, b;", [](float a, float b) { return flush(a) > flush(b) ? ~0u : 0u; });
  batch.run();
}

}  // namespace
}  // namespace ptx_test
