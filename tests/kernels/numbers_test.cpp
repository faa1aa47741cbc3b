// Half, bfloat16 and float arithmetic whose results are exact or rounded in one defined way.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "kernels/fixture.hpp"

namespace cuprum::tests {
namespace {

constexpr const char* source = R"(
#include <cuda_bf16.h>
#include <cuda_fp16.h>

KERNEL(halves)(uint16_t* out, const uint16_t* in) {
  int t = threadIdx.x;
  __half a = __ushort_as_half(in[t]), b = __ushort_as_half(in[t + 1]), c = a;
  if (__hlt(a, b)) c = __hadd(a, b); else if (t % 3) c = __hmul(a, b); else c = __hsub(b, a);
  out[t] = __half_as_ushort(c);
}
KERNEL(pairs_of_halves)(uint32_t* out, const uint32_t* in) {
  int t = threadIdx.x;
  __half2 a = *(const __half2*)(in + t), b = *(const __half2*)(in + t + 1);
  __half2 c = __hmax2(__hadd2(a, b), __hneg2(a));
  if (t & 1) c = __lowhigh2highlow(c);
  out[t] = *(uint32_t*)&c;
}
KERNEL(sums_of_halves)(float* out, const uint16_t* in) {
  // Sums of small integers are exact in half precision.
  int t = threadIdx.x;
  __half sum = __float2half(0.0f);
  for (int i = 0; i <= t % 20; ++i) sum = __hadd(sum, __ushort_as_half(in[i]));
  for (int d = 16; d; d /= 2) sum = __hmax(sum, __shfl_xor_sync(0xffffffffu, sum, d));
  out[t] = __half2float(sum);
}
KERNEL(brain_floats)(uint16_t* out, const uint16_t* in) {
  int t = threadIdx.x;
  __nv_bfloat16 a = __ushort_as_bfloat16(in[t]), b = __ushort_as_bfloat16(in[t + 1]), c;
  c = __hgt(a, b) ? __hadd(a, b) : __hmul(a, b);
  out[t] = __bfloat16_as_ushort(c);
}
KERNEL(rounding_to_small_floats)(uint32_t* out, const float* in) {
  int t = threadIdx.x;
  out[t] = (uint32_t)__half_as_ushort(__float2half_rn(in[t])) << 16 | __bfloat16_as_ushort(__float2bfloat16_rn(in[t]));
}
KERNEL(atomic_halves)(uint16_t* out, int n) {
  int t = threadIdx.x + blockIdx.x * blockDim.x;
  if (t < n) atomicAdd((__half*)out + t % 4, __float2half(1.0f));
}

KERNEL(newton)(float* out, const float* in) {
  int t = threadIdx.x, steps = 0;
  float a = in[t], x = a > 1 ? a : 1.0f, last = 0;
  // sqrt by Newton's steps until nothing changes any more or it begins to alternate.
  while (x != last && steps < 40) { float next = __fmul_rn(0.5f, __fadd_rn(x, __fdiv_rn(a, x))); last = x; x = next; ++steps; }
  out[t] = x == last ? x : -x;
}
KERNEL(conversions)(int64_t* out, const double* in) {
  int t = threadIdx.x;
  double d = in[t];
  out[6 * t] = (int)d; out[6 * t + 1] = (unsigned)d; out[6 * t + 2] = (int64_t)d;
  out[6 * t + 3] = __double2int_rn(d); out[6 * t + 4] = __float2int_rd((float)d); out[6 * t + 5] = __double2ll_ru(d);
}
KERNEL(fused)(uint32_t* out, const float* in) {
  int t = threadIdx.x;
  float a = in[t], b = in[t + 1], c = -__fmul_rn(a, b);
  out[2 * t] = __float_as_uint(__fmaf_rn(a, b, c));           // what a product loses when it is rounded
  out[2 * t + 1] = __float_as_uint(__fsqrt_rn(fabsf(a)) + (t & 1 ? truncf(b) : rintf(b)));
}
KERNEL(compensated_sum)(double* out, const double* in, int n) {
  double sum = 0, lost = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    double y = __dadd_rn(in[i], -lost), s = __dadd_rn(sum, y);
    lost = __dadd_rn(__dadd_rn(s, -sum), -y);
    sum = s;
  }
  out[threadIdx.x] = sum;
}
KERNEL(special_values)(int* out, const float* in) {
  int t = threadIdx.x;
  float a = in[t], b = in[(t + 3) % blockDim.x];
  out[t] = (a < b) | (a == b) << 1 | (a != b) << 2 | !(a >= b) << 3 | isnan(a) << 4 | isinf(b) << 5 | signbit(a) << 6 |
           (fminf(a, b) == b) << 7 | (fmaxf(a, b) == a) << 8 | isfinite(a * b) << 9;
}
)";

class Numbers : public KernelsTest {
 protected:
  Numbers() : KernelsTest(source) {}
};

/// The 16-bit float with so many bits of exponent and mantissa nearest to `value`; ties go to the even one.
std::uint16_t rounded(double value, int exponent_bits, int mantissa_bits) {
  const std::uint32_t sign = std::signbit(value) ? 0x8000u : 0;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const std::uint32_t infinity = ((1u << exponent_bits) - 1) << mantissa_bits;
  value = std::fabs(value);
  if (value == 0) return static_cast<std::uint16_t>(sign);
  const int exponent = std::max(std::ilogb(value), 1 - bias);
  const auto units = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(value, mantissa_bits - exponent)));
  // A carry out of the mantissa goes into the exponent, as it should.
  const std::uint32_t bits = units + (static_cast<std::uint32_t>(exponent + bias - 1) << mantissa_bits);
  return static_cast<std::uint16_t>(sign | std::min(bits, infinity));
}
std::uint16_t half(double value) { return rounded(value, 5, 10); }
std::uint16_t brain(double value) { return rounded(value, 8, 7); }

double value_of(std::uint16_t bits, int exponent_bits, int mantissa_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1, exponent = (bits & 0x7fff) >> mantissa_bits;
  const int mantissa = bits & ((1 << mantissa_bits) - 1);
  const double magnitude = exponent == 0 ? std::ldexp(mantissa, 1 - bias - mantissa_bits)
                                         : std::ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}
double of_half(std::uint16_t bits) { return value_of(bits, 5, 10); }
double of_brain(std::uint16_t bits) { return value_of(bits, 8, 7); }

/// Finite halves of all magnitudes.
std::vector<std::uint16_t> some_halves(int count) {
  return each<std::uint16_t>(count, [](int i) { return scrambled(static_cast<std::uint32_t>(i)) & 0xb7ff; });
}

TEST_F(Numbers, Halves) {
  const auto in = some_halves(129);
  EXPECT_SAME(run("halves", {.block = 128}, zeros<std::uint16_t>(128), in), each<std::uint16_t>(128, [&](int t) {
                const double a = of_half(at(in, t)), b = of_half(at(in, t + 1));
                return half(a < b ? a + b : t % 3 != 0 ? a * b : b - a);
              }));
}

TEST_F(Numbers, PairsOfHalves) {
  const auto in = some_halves(130);
  std::vector<std::uint32_t> words(65);
  std::memcpy(words.data(), in.data(), 260);
  EXPECT_SAME(run("pairs_of_halves", {.block = 64}, zeros<std::uint32_t>(64), words),
              each<std::uint32_t>(64, [&](int t) {
                const auto one = [&](int i) {
                  const double a = of_half(at(in, 2 * t + i)), b = of_half(at(in, 2 * t + 2 + i));
                  return std::uint32_t{half(std::max(of_half(half(a + b)), -a))};
                };
                return t % 2 == 1 ? one(0) << 16 | one(1) : one(1) << 16 | one(0);
              }));
}

TEST_F(Numbers, SumsOfHalvesInLoopsAndShuffles) {
  const auto in = each<std::uint16_t>(20, [](int i) { return half(i * 5 % 13 - 4); });
  EXPECT_SAME(run("sums_of_halves", {.block = 32}, zeros<float>(32), in), std::vector<float>(32, [&] {
                double sum = 0, most = -100;
                for (std::uint16_t bits : in) most = std::max(most, sum += of_half(bits));
                return static_cast<float>(most);
              }()));
}

TEST_F(Numbers, BrainFloats) {
  const auto in =
      each<std::uint16_t>(129, [](int i) { return (scrambled(static_cast<std::uint32_t>(i)) & 0x87ff) + 0x3c00; });
  EXPECT_SAME(run("brain_floats", {.block = 128}, zeros<std::uint16_t>(128), in), each<std::uint16_t>(128, [&](int t) {
                const double a = of_brain(at(in, t)), b = of_brain(at(in, t + 1));
                return brain(a > b ? a + b : a * b);
              }));
}

TEST_F(Numbers, RoundingToSmallFloats) {
  const auto in = each<float>(128, [](int i) {
    return std::bit_cast<float>((scrambled(static_cast<std::uint32_t>(i)) & 0x8effffffu) + 0x34000000u);
  });
  EXPECT_SAME(run("rounding_to_small_floats", {.block = 128}, zeros<std::uint32_t>(128), in),
              each<std::uint32_t>(
                  128, [&](int t) { return std::uint32_t{half(double{at(in, t)})} << 16 | brain(double{at(in, t)}); }));
}

TEST_F(Numbers, AtomicHalves) {
  EXPECT_SAME(run("atomic_halves", {.grid = 3, .block = 64}, zeros<std::uint16_t>(4), 150),
              each<std::uint16_t>(4, [](int i) { return half(i < 2 ? 38 : 37); }));
}

TEST_F(Numbers, NewtonsMethod) {
  const auto in = each<float>(64, [](int i) { return static_cast<float>(i * i) * 0.37f + 0.01f; });
  EXPECT_SAME(run("newton", {.block = 64}, zeros<float>(64), in), each<float>(64, [&](int t) {
                const float a = at(in, t);
                float x = std::max(a, 1.0f), last = 0;
                for (int steps = 0; x != last && steps < 40; ++steps) last = std::exchange(x, 0.5f * (x + a / x));
                return x == last ? x : -x;
              }));
}

TEST_F(Numbers, Conversions) {
  const std::vector<double> in = {0.5, 1.5, 2.5, 1e9 + 0.75, 123456.5, 7.999, 0.0, 2147483646.5};
  EXPECT_SAME(run("conversions", {.block = 8}, zeros<std::int64_t>(48), in), each<std::int64_t>(48, [&](int i) {
                const double d = at(in, i / 6);
                switch (i % 6) {
                  case 3: return static_cast<std::int64_t>(std::nearbyint(d));
                  case 4:
                    return std::min(static_cast<std::int64_t>(std::floor(static_cast<float>(d))),
                                    std::int64_t{INT32_MAX});
                  case 5: return static_cast<std::int64_t>(std::ceil(d));
                  default: return static_cast<std::int64_t>(d);
                }
              }));
}

TEST_F(Numbers, FusedOperations) {
  const auto in = each<float>(65, [](int i) {
    return static_cast<float>(static_cast<int>(scrambled(static_cast<std::uint32_t>(i)) % 100000) - 50000) / 64;
  });
  EXPECT_SAME(
      run("fused", {.block = 64}, zeros<std::uint32_t>(128), in), each<std::uint32_t>(128, [&](int i) {
        const float a = at(in, i / 2), b = at(in, i / 2 + 1), product = a * b;
        if (i % 2 == 0) return std::bit_cast<std::uint32_t>(static_cast<float>(double{a} * b - product));
        return std::bit_cast<std::uint32_t>(std::sqrt(std::fabs(a)) + (i / 2 % 2 == 1 ? std::trunc(b) : std::rint(b)));
      }));
}

TEST_F(Numbers, ACompensatedSum) {
  const auto in = each<double>(500, [](int i) { return i % 3 == 0 ? 1e16 : i % 3 == 1 ? 1.25 + i : -1e16; });
  EXPECT_SAME(run("compensated_sum", {.block = 32}, zeros<double>(32), in, 500), each<double>(32, [&](int t) {
                volatile double sum = 0, lost = 0;
                for (int i = t; i < 500; i += 32) {
                  volatile double y = at(in, i) - lost, s = sum + y, difference = s - sum;
                  lost = difference - y;
                  sum = s;
                }
                return sum;
              }));
}

TEST_F(Numbers, SpecialValues) {
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> values = {0.0f, -1.0f, infinity, nan, 1e30f, -infinity, 1e-40f, 5.0f, 5.0f, -1e30f, 3.5f};
  constexpr int n = 44;
  const auto in = each<float>(n, [&](int i) { return at(values, i % 11); });
  EXPECT_SAME(run("special_values", {.block = n}, zeros<int>(n), in), each<int>(n, [&](int t) {
                const float a = at(in, t), b = at(in, (t + 3) % n);
                const bool bits[] = {a < b,
                                     a == b,
                                     a != b,
                                     !(a >= b),
                                     std::isnan(a),
                                     std::isinf(b),
                                     std::signbit(a),
                                     std::fmin(a, b) == b,
                                     std::fmax(a, b) == a,
                                     std::isfinite(a * b)};
                int all = 0;
                for (int i = 0; i < 10; ++i) all |= bits[i] ? 1 << i : 0;
                return all;
              }));
}

}  // namespace
}  // namespace cuprum::tests
