// Floating-point arithmetic in all rounding modes, against the processor's.
#include <cfenv>

#include "unit/softgpu_lower/snippet_checks.hpp"

namespace softgpu::test {
namespace {

struct Mode {
  const char* name;
  int host;
};
const Mode kModes[] = {{"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};

// Runs `operation` in a rounding mode of the processor; volatile keeps the compiler from folding it.
template <typename Float, typename Operation>
Float in_mode(int mode, Operation operation) {
  std::fesetround(mode);
  volatile Float result = operation();
  std::fesetround(FE_TONEAREST);
  return result;
}

template <typename Float>
void check_modes(const std::string& name, const std::string& operands, const std::vector<Row>& rows,
                 Float (*operation)(volatile Float&, volatile Float&, volatile Float&)) {
  const std::string type = sizeof(Float) == 4 ? "f32" : "f64";
  for (const Mode& mode : kModes)
    check_floats<Float>({name + "." + mode.name + "." + type + " " + operands + ";", type, type, type, type}, rows,
                        [&](Row r) {
                          volatile Float a = as<Float>(r.a), b = as<Float>(r.b), c = as<Float>(r.c);
                          return in_mode<Float>(mode.host, [&] { return operation(a, b, c); });
                        });
}

template <typename Float>
class LowerFloat : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(LowerFloat, Floats);

TYPED_TEST(LowerFloat, SumsInAllModes) {
  using F = TypeParam;
  const auto rows = pairs(floats<F>(), floats<F>());
  check_modes<F>("add", "d, a, b", rows, [](volatile F& a, volatile F& b, volatile F&) -> F { return a + b; });
  check_modes<F>("sub", "d, a, b", rows, [](volatile F& a, volatile F& b, volatile F&) -> F { return a - b; });
}

TYPED_TEST(LowerFloat, ProductsInAllModes) {
  using F = TypeParam;
  const auto rows = pairs(floats<F>(), floats<F>());
  check_modes<F>("mul", "d, a, b", rows, [](volatile F& a, volatile F& b, volatile F&) -> F { return a * b; });
}

TYPED_TEST(LowerFloat, QuotientsInAllModes) {
  using F = TypeParam;
  const auto rows = pairs(floats<F>(), floats<F>());
  check_modes<F>("div", "d, a, b", rows, [](volatile F& a, volatile F& b, volatile F&) -> F { return a / b; });
  check_modes<F>("rcp", "d, a", rows, [](volatile F& a, volatile F&, volatile F&) -> F { return F{1} / a; });
}

TYPED_TEST(LowerFloat, RootsInAllModes) {
  using F = TypeParam;
  check_modes<F>("sqrt", "d, a", pairs(floats<F>(200), {0}),
                 [](volatile F& a, volatile F&, volatile F&) -> F { return std::sqrt(F{a}); });
}

TYPED_TEST(LowerFloat, FusedMultiplyAddInAllModes) {
  using F = TypeParam;
  const auto values = floats<F>(5);
  check_modes<F>("fma", "d, a, b, c", triples(values, values, values),
                 [](volatile F& a, volatile F& b, volatile F& c) -> F { return std::fma(F{a}, F{b}, F{c}); });
}

TYPED_TEST(LowerFloat, MinMaxPreferNumbersAndOrderZeros) {
  using F = TypeParam;
  const std::string type = sizeof(F) == 4 ? "f32" : "f64";
  const auto rows = pairs(floats<F>(4), floats<F>(4));
  const auto smaller = [](F a, F b) {
    if (std::isnan(a)) return b;
    if (std::isnan(b)) return a;
    if (a == b) return std::signbit(a) ? a : b;
    return a < b ? a : b;
  };
  const auto larger = [&](F a, F b) { return std::isnan(a) || std::isnan(b) ? smaller(a, b) : -smaller(-a, -b); };
  check_floats<F>({"min." + type + " d, a, b;", type, type, type}, rows,
                  [&](Row r) { return smaller(as<F>(r.a), as<F>(r.b)); });
  check_floats<F>({"max." + type + " d, a, b;", type, type, type}, rows,
                  [&](Row r) { return larger(as<F>(r.a), as<F>(r.b)); });
  for (F constant : {F{0}, -F{0}, F{1.5}}) {
    char text[40];
    if (sizeof(F) == 4)
      std::snprintf(text, sizeof(text), "0f%08X", static_cast<unsigned>(bits_of(constant)));
    else
      std::snprintf(text, sizeof(text), "0d%016llX", static_cast<unsigned long long>(bits_of(constant)));
    check_floats<F>({"min." + type + " d, a, " + text + ";", type, type, type}, rows,
                    [&](Row r) { return smaller(as<F>(r.a), constant); });
    check_floats<F>({"max." + type + " d, " + text + ", a;", type, type, type}, rows,
                    [&](Row r) { return larger(as<F>(r.a), constant); });
  }
}

TEST(LowerFloat32, MinMaxVariants) {
  const auto rows = pairs(floats<float>(4), floats<float>(4));
  check_floats<float>({"min.NaN.f32 d, a, b;", "f32", "f32", "f32"}, rows, [](Row r) {
    const float a = as<float>(r.a), b = as<float>(r.b);
    if (std::isnan(a) || std::isnan(b)) return NAN;
    return a == b ? (std::signbit(a) ? a : b) : std::fmin(a, b);
  });
  check_floats<float>({"max.xorsign.abs.f32 d, a, b;", "f32", "f32", "f32"}, rows, [](Row r) {
    const float a = as<float>(r.a), b = as<float>(r.b);
    const float sign = std::signbit(a) != std::signbit(b) ? -1.0f : 1.0f;
    return std::copysign(std::fmax(std::fabs(a), std::fabs(b)), sign);
  });
}

float flushed(float x) { return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x; }

TEST(LowerFloat32, FlushToZero) {
  const auto rows = pairs(floats<float>(), floats<float>());
  check_floats<float>({"add.ftz.f32 d, a, b;", "f32", "f32", "f32"}, rows,
                      [](Row r) { return flushed(flushed(as<float>(r.a)) + flushed(as<float>(r.b))); });
  check_floats<float>({"mul.ftz.f32 d, a, b;", "f32", "f32", "f32"}, rows,
                      [](Row r) { return flushed(flushed(as<float>(r.a)) * flushed(as<float>(r.b))); });
  check_floats<float>({"abs.ftz.f32 d, a;", "f32", "f32"}, rows,
                      [](Row r) { return std::fabs(flushed(as<float>(r.a))); });
  check_floats<float>({"neg.ftz.f32 d, a;", "f32", "f32"}, rows, [](Row r) { return -flushed(as<float>(r.a)); });
  check_floats<float>({"sqrt.rn.ftz.f32 d, a;", "f32", "f32"}, rows,
                      [](Row r) { return std::sqrt(flushed(as<float>(r.a))); });
}

TEST(LowerFloat32, WhatIsFlushedIsNotFlushedAgain) {
  const std::string text = module(R"(.visible .entry k(.param .u64 x) {
    .reg .f32 a, b; .reg .b64 at; .reg .pred p; ld.param.u64 at, [x]; ld.global.f32 a, [at]; mov.f32 b, 0f3F800000;
    loop: mul.ftz.f32 b, b, a; add.ftz.f32 b, b, b; neg.ftz.f32 b, b; setp.lt.ftz.f32 p, b, 0f42000000; @p bra loop;
    st.global.f32 [at], b; ret; })");
  const std::string ir = Kernel(text).ir();
  // Once for what was loaded, once for each result of mul and add.
  int flushes = 0;
  for (std::size_t at = ir.find("call float @llvm.copysign"); at != std::string::npos;
       at = ir.find("call float @llvm.copysign", at + 1))
    ++flushes;
  EXPECT_EQ(flushes, 3) << ir;
  EXPECT_EQ(ir.find("softgpu.flush"), std::string::npos) << ir;
}

TEST(LowerFloat32, Saturation) {
  check_rows({"add.sat.f32 d, a, b;", "f32", "f32", "f32"}, pairs(floats<float>(), floats<float>()), [](Row r) {
    const float sum = as<float>(r.a) + as<float>(r.b);
    return std::isnan(sum) || sum <= 0 ? 0 : bits_of(std::fmin(sum, 1.0f));
  });
}

TEST(LowerFloat32, SignsAndProperties) {
  const auto rows = pairs(floats<float>(), floats<float>(2));
  check_floats<float>({"copysign.f32 d, a, b;", "f32", "f32", "f32"}, rows,
                      [](Row r) { return std::copysign(as<float>(r.b), as<float>(r.a)); });
  const auto check = [&](const std::string& property, auto reference) {
    check_rows({"testp." + property + ".f32 p, a; selp.u32 d, 1, 0, p;", "b32", "f32"}, rows,
               [&](Row r) { return reference(as<float>(r.a)); });
  };
  check("finite", [](float x) { return std::isfinite(x); });
  check("infinite", [](float x) { return std::isinf(x); });
  check("number", [](float x) { return !std::isnan(x); });
  check("notanumber", [](float x) { return std::isnan(x); });
  check("normal", [](float x) { return std::isnormal(x) || x == 0; });
  check("subnormal", [](float x) { return std::fpclassify(x) == FP_SUBNORMAL; });
  // The sign of a NaN changes too.
  EXPECT_EQ(evaluate({"neg.f32 d, a;", "f32", "f32"}, {{0x7fc00001}}), (std::vector<std::uint64_t>{0xffc00001}));
}

}  // namespace
}  // namespace softgpu::test
