// Integers of all sizes that wrap, above all where neighbouring threads' values go up by a fixed step.
#include <algorithm>
#include <bit>
#include <numeric>

#include "kernels/fixture.hpp"

namespace cuprum::tests {
namespace {

__extension__ typedef __int128 Wide;
__extension__ typedef unsigned __int128 UnsignedWide;

constexpr const char* source = R"(
KERNEL(multiplicative_hash)(uint32_t* out, uint32_t buckets) {
  uint32_t i = threadIdx.x + blockIdx.x * blockDim.x;
  out[i] = __umulhi(i * 2654435761u, buckets);
}

KERNEL(shifted_out_then_widened)(uint64_t* out) {
  uint32_t t = threadIdx.x;
  out[t] = (uint64_t)(t << 30) + ((uint64_t)(int)(t << 29) >> 3);
}

KERNEL(index_of_16_bits_wraps)(int* out, const int* in, uint16_t start) {
  uint16_t t = threadIdx.x, i = start + t;
  out[t] = in[i];
}

KERNEL(index_of_8_bits_wraps)(int* out, const int* in, uint8_t start) {
  uint8_t t = threadIdx.x;
  uint8_t up = start + t, down = start - t, apart = t * 5 + start;
  out[threadIdx.x] = in[up] + 1000 * in[down] + 1000000 * in[apart];
}

KERNEL(index_of_32_bits_wraps)(int* out, const int* in, uint32_t start) {
  uint32_t t = threadIdx.x, i = start + t * 2;
  out[t] = in[i & 0xffffffffull & 255] + in[(i >> 1) & 255];
}

KERNEL(signed_bytes)(int* out, const signed char* in) {
  int t = threadIdx.x;
  signed char a = in[t], b = in[t + 1], sum = a + b, product = a * b, half = a >> 1;
  unsigned char quotient = (unsigned char)a / (unsigned char)(b | 1);
  out[t] = sum * 65536 + product * 256 + (unsigned char)half + quotient * 7;
}

KERNEL(bytes_in_words)(uint32_t* out, const uint32_t* in) {
  int t = threadIdx.x;
  uint32_t a = in[t], b = in[t + 1];
  uint32_t mean = (a & b) + (((a ^ b) & 0xfefefefeu) >> 1);
  out[t] = __vadd4(a, b) ^ __vmaxu4(a, mean) ^ __byte_perm(a, b, 0x1674) ^ __vcmpgtu4(b, mean);
}

KERNEL(sixty_four_bits)(uint64_t* out, const uint64_t* in) {
  int t = threadIdx.x;
  uint64_t a = in[t], b = in[t + 1] | 1;
  int64_t s = (int64_t)a, d = (int64_t)b;
  uint64_t x = a * b + (a << (b & 63)) + __umul64hi(a, b);
  x ^= (uint64_t)(s >> (t & 63)) + (uint64_t)__mul64hi(s, d);
  x += a / b + a % (b >> 32 | 1);
  x ^= (uint64_t)(s / (d >> 20 | 1)) - (uint64_t)(s % (d >> 40 | 1));
  out[t] = x;
}

KERNEL(bits)(uint32_t* out, const uint32_t* in) {
  int t = threadIdx.x;
  uint32_t a = in[t], b = in[t + 1];
  out[t] = __popc(a) + (__clz(b) << 6) + (__ffs(a) << 12) + (__brev(a ^ b) & 0xfffc0000u) +
           __funnelshift_l(a, b, t) + __funnelshift_rc(a, b, t);
}

KERNEL(division_by_an_atomic)(uint64_t* out, uint64_t* counter) {
  uint64_t t = threadIdx.x;
  uint64_t before = atomicAdd(counter + t, 3ull);
  out[t] = 1000000007ull * (t + 1) / before + (uint64_t)((int64_t)(t * 12345) % (int64_t)before);
}

KERNEL(power_modulo)(uint64_t* out, const uint64_t* in) {
  uint64_t t = threadIdx.x, base = in[t] % 1000003, result = 1;
  for (unsigned e = (unsigned)(in[t] >> 50); e != 0; e >>= 1, base = base * base % 1000003)
    if (e & 1) result = result * base % 1000003;
  out[t] = result;
}

KERNEL(greatest_common_divisor)(uint32_t* out, const uint32_t* in) {
  uint32_t t = threadIdx.x, a = in[t], b = in[t + 1];
  while (b != 0) { uint32_t r = a % b; a = b; b = r; }
  out[t] = a;
}

KERNEL(xorshift)(uint64_t* out, int rounds) {
  uint64_t x = threadIdx.x * 0x9e3779b97f4a7c15ull + 1;
  for (int i = 0; i < rounds + (int)(threadIdx.x & 3); ++i) { x ^= x << 13; x ^= x >> 7; x ^= x << 17; }
  out[threadIdx.x] = x;
}

KERNEL(crc)(uint32_t* out, const uint8_t* text, int length) {
  uint32_t c = ~0u;
  for (int i = 0; i < length; ++i) {
    c ^= text[(i + threadIdx.x) % length];
    for (int k = 0; k < 8; ++k) c = c & 1 ? c >> 1 ^ 0xedb88320u : c >> 1;
  }
  out[threadIdx.x] = ~c;
}

KERNEL(wide_quotients)(uint64_t* out, const uint64_t* in) {
  int t = threadIdx.x;
  unsigned __int128 a = (unsigned __int128)in[t] << 64 | in[t + 1];
  unsigned __int128 b = ((unsigned __int128)(in[t + 2] >> t % 64) << (t * 5 % 64)) + 1;
  __int128 s = (__int128)a >> t % 100, d = (__int128)in[t + 2] - (__int128)in[t] * 7 | 1;
  unsigned __int128 x = a / b + a % b * 3, y = (unsigned __int128)(s / d) ^ (unsigned __int128)(s % d);
  out[4 * t] = (uint64_t)x; out[4 * t + 1] = (uint64_t)(x >> 64);
  out[4 * t + 2] = (uint64_t)y; out[4 * t + 3] = (uint64_t)(y >> 64);
}

KERNEL(wide_products)(uint64_t* out, const uint32_t* in) {
  // 128 bits by hand: the carries are what is tested.
  int t = threadIdx.x;
  uint32_t a[4] = {in[t], in[t + 1], in[t + 2], in[t + 3]}, b[4] = {in[t + 3], in[t], in[t + 2], in[t + 1]}, r[4] = {};
  for (int i = 0; i < 4; ++i) {
    uint64_t carry = 0;
    for (int j = 0; i + j < 4; ++j) {
      carry += (uint64_t)a[i] * b[j] + r[i + j];
      r[i + j] = (uint32_t)carry;
      carry >>= 32;
    }
  }
  out[2 * t] = (uint64_t)r[1] << 32 | r[0];
  out[2 * t + 1] = (uint64_t)r[3] << 32 | r[2];
}
)";

class Integers : public KernelsTest {
 protected:
  Integers() : KernelsTest(source) {}

  static std::vector<std::uint32_t> words(int count) {
    return each<std::uint32_t>(count, [](int i) { return scrambled(static_cast<std::uint32_t>(i) + 77); });
  }
  static std::vector<std::uint64_t> long_words(int count) {
    return each<std::uint64_t>(count, [](int i) {
      const auto n = static_cast<std::uint32_t>(i);
      return std::uint64_t{scrambled(n + 5)} << 32 | scrambled(n + 1000);
    });
  }
};

TEST_F(Integers, MultiplicativeHashes) {
  EXPECT_SAME(run("multiplicative_hash", {.grid = 2, .block = 128}, zeros<std::uint32_t>(256), 1000u),
              each<std::uint32_t>(
                  256, [](int i) { return std::uint64_t{static_cast<std::uint32_t>(i) * 2654435761u} * 1000u >> 32; }));
}

TEST_F(Integers, ShiftedOutOf32BitsThenWidened) {
  EXPECT_SAME(run("shifted_out_then_widened", {.block = 64}, zeros<std::uint64_t>(64)),
              each<std::uint64_t>(64, [](int i) {
                const auto t = static_cast<std::uint32_t>(i);
                return std::uint64_t{t << 30} +
                       (static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(t << 29))) >> 3);
              }));
}

TEST_F(Integers, IndicesOf16BitsThatWrap) {
  const std::vector<int> in = scrambled_numbers(65536, 100000);
  EXPECT_SAME(run("index_of_16_bits_wraps", {.block = 256}, zeros<int>(256), in, std::uint16_t{65500}),
              each<int>(256, [&](int t) { return at(in, (65500 + t) % 65536); }));
}

TEST_F(Integers, IndicesOf8BitsThatWrap) {
  const std::vector<int> in = scrambled_numbers(256, 1000);
  EXPECT_SAME(run("index_of_8_bits_wraps", {.block = 512}, zeros<int>(512), in, std::uint8_t{201}),
              each<int>(512, [&](int t) {
                return at(in, (201 + t) & 255) + 1000 * at(in, (201 - t) & 255) + 1000000 * at(in, (t * 5 + 201) & 255);
              }));
}

TEST_F(Integers, IndicesOf32BitsThatWrap) {
  const std::vector<int> in = scrambled_numbers(256, 100000);
  EXPECT_SAME(run("index_of_32_bits_wraps", {.block = 128}, zeros<int>(128), in, 0xffffffd0u),
              each<int>(128, [&](int t) {
                const std::uint32_t i = 0xffffffd0u + static_cast<std::uint32_t>(t) * 2;
                return in[i & 255] + in[(i >> 1) & 255];
              }));
}

TEST_F(Integers, SignedBytes) {
  const auto in = each<std::int8_t>(129, [](int i) { return scrambled(static_cast<std::uint32_t>(i)); });
  EXPECT_SAME(run("signed_bytes", {.block = 128}, zeros<int>(128), in), each<int>(128, [&](int t) {
                const std::int8_t a = at(in, t), b = at(in, t + 1);
                const auto sum = static_cast<std::int8_t>(a + b), product = static_cast<std::int8_t>(a * b);
                const int quotient = static_cast<std::uint8_t>(a) / static_cast<std::uint8_t>(b | 1);
                return sum * 65536 + product * 256 + static_cast<std::uint8_t>(a >> 1) + quotient * 7;
              }));
}

/// The four bytes of f(byte of a, byte of b).
template <typename Function>
std::uint32_t by_bytes(std::uint32_t a, std::uint32_t b, Function f) {
  std::uint32_t result = 0;
  for (unsigned shift = 0; shift < 32; shift += 8)
    result |= (static_cast<std::uint32_t>(f((a >> shift) & 255, (b >> shift) & 255)) & 255) << shift;
  return result;
}

TEST_F(Integers, FourBytesInAWord) {
  const std::vector<std::uint32_t> in = words(65);
  EXPECT_SAME(run("bytes_in_words", {.block = 64}, zeros<std::uint32_t>(64), in), each<std::uint32_t>(64, [&](int t) {
                const std::uint32_t a = at(in, t), b = at(in, t + 1);
                const auto mean = by_bytes(a, b, [](auto x, auto y) { return (x + y) / 2; });
                const auto byte = [&](unsigned k) { return (k < 4 ? a >> 8 * k : b >> 8 * (k - 4)) & 255; };
                return by_bytes(a, b, [](auto x, auto y) { return x + y; }) ^
                       by_bytes(a, mean, [](auto x, auto y) { return std::max(x, y); }) ^
                       (byte(1) << 24 | byte(6) << 16 | byte(7) << 8 | byte(4)) ^
                       by_bytes(b, mean, [](auto x, auto y) { return x > y ? 255 : 0; });
              }));
}

TEST_F(Integers, SixtyFourBitsWithDivisions) {
  const std::vector<std::uint64_t> in = long_words(129);
  EXPECT_SAME(
      run("sixty_four_bits", {.block = 128}, zeros<std::uint64_t>(128), in), each<std::uint64_t>(128, [&](int t) {
        const std::uint64_t a = at(in, t), b = at(in, t + 1) | 1;
        const auto s = static_cast<std::int64_t>(a), d = static_cast<std::int64_t>(b);
        std::uint64_t x = a * b + (a << (b & 63));
        x += static_cast<std::uint64_t>(static_cast<UnsignedWide>(a) * b >> 64);
        x ^= static_cast<std::uint64_t>(s >> (t & 63)) + static_cast<std::uint64_t>(static_cast<Wide>(s) * d >> 64);
        x += a / b + a % (b >> 32 | 1);
        return x ^ (static_cast<std::uint64_t>(s / (d >> 20 | 1)) - static_cast<std::uint64_t>(s % (d >> 40 | 1)));
      }));
}

std::uint32_t bits(std::uint32_t a, std::uint32_t b, int t) {
  std::uint32_t reversed = 0;
  for (unsigned i = 0; i < 32; ++i) reversed |= ((a ^ b) >> i & 1) << (31 - i);
  const std::uint64_t both = std::uint64_t{b} << 32 | a;
  const auto left = static_cast<std::uint32_t>(both << (t & 31) >> 32);
  const auto right = static_cast<std::uint32_t>(both >> std::min(t, 32));
  return static_cast<std::uint32_t>(std::popcount(a) + (std::countl_zero(b) << 6) +
                                    ((a == 0 ? 0 : std::countr_zero(a) + 1) << 12)) +
         (reversed & 0xfffc0000u) + left + right;
}

TEST_F(Integers, CountedAndReversedBits) {
  const std::vector<std::uint32_t> in = words(65);
  EXPECT_SAME(run("bits", {.block = 64}, zeros<std::uint32_t>(64), in),
              each<std::uint32_t>(64, [&](int t) { return bits(at(in, t), at(in, t + 1), t); }));
}

TEST_F(Integers, DivisionByWhatAnAtomicReturned) {
  const auto counters = each<std::uint64_t>(64, [](int t) { return t * t + 1; });
  EXPECT_SAME(run("division_by_an_atomic", {.block = 64}, zeros<std::uint64_t>(64), counters),
              each<std::uint64_t>(64, [&](int t) {
                const auto n = static_cast<std::uint64_t>(t);
                return 1000000007ull * (n + 1) / at(counters, t) + n * 12345 % at(counters, t);
              }));
}

TEST_F(Integers, PowersModuloANumber) {
  const std::vector<std::uint64_t> in = long_words(64);
  EXPECT_SAME(run("power_modulo", {.block = 64}, zeros<std::uint64_t>(64), in), each<std::uint64_t>(64, [&](int t) {
                std::uint64_t result = 1;
                for (std::uint64_t i = 0; i < at(in, t) >> 50; ++i) result = result * (at(in, t) % 1000003) % 1000003;
                return result;
              }));
}

TEST_F(Integers, GreatestCommonDivisors) {
  const auto in = each<std::uint32_t>(65, [](int i) { return (scrambled(static_cast<std::uint32_t>(i)) % 500) * 12; });
  EXPECT_SAME(run("greatest_common_divisor", {.block = 64}, zeros<std::uint32_t>(64), in),
              each<std::uint32_t>(64, [&](int t) { return std::gcd(at(in, t), at(in, t + 1)); }));
}

TEST_F(Integers, RandomNumbersByShifts) {
  EXPECT_SAME(run("xorshift", {.block = 64}, zeros<std::uint64_t>(64), 50), each<std::uint64_t>(64, [](int t) {
                std::uint64_t x = static_cast<std::uint64_t>(t) * 0x9e3779b97f4a7c15ull + 1;
                for (int i = 0; i < 50 + (t & 3); ++i) {
                  x ^= x << 13;
                  x ^= x >> 7;
                  x ^= x << 17;
                }
                return x;
              }));
}

TEST_F(Integers, Checksums) {
  const std::string words = "the quick brown fox jumps over the lazy dog";
  const std::vector<std::uint8_t> text(words.begin(), words.end());
  const auto length = static_cast<int>(text.size());
  EXPECT_SAME(run("crc", {.block = 40}, zeros<std::uint32_t>(40), text, length), each<std::uint32_t>(40, [&](int t) {
                std::uint32_t c = ~0u;
                for (int i = 0; i < length; ++i) {
                  c ^= at(text, (i + t) % length);
                  for (int k = 0; k < 8; ++k) c = (c & 1) != 0 ? c >> 1 ^ 0xedb88320u : c >> 1;
                }
                return ~c;
              }));
}

TEST_F(Integers, QuotientsOf128Bits) {
  const std::vector<std::uint64_t> in = long_words(130);
  EXPECT_SAME(run("wide_quotients", {.block = 128}, zeros<std::uint64_t>(512), in),
              each<std::uint64_t>(512, [&](int i) {
                const int t = i / 4;
                const UnsignedWide a = static_cast<UnsignedWide>(at(in, t)) << 64 | at(in, t + 1);
                const UnsignedWide b = (static_cast<UnsignedWide>(at(in, t + 2) >> t % 64) << (t * 5 % 64)) + 1;
                const Wide s = static_cast<Wide>(a) >> t % 100;
                const Wide d = (static_cast<Wide>(at(in, t + 2)) - static_cast<Wide>(at(in, t)) * 7) | 1;
                const UnsignedWide x = a / b + a % b * 3;
                const UnsignedWide y = static_cast<UnsignedWide>(s / d) ^ static_cast<UnsignedWide>(s % d);
                return (i % 4 < 2 ? x : y) >> (i % 2 * 64);
              }));
}

TEST_F(Integers, ProductsOf128Bits) {
  const std::vector<std::uint32_t> in = words(67);
  EXPECT_SAME(run("wide_products", {.block = 64}, zeros<std::uint64_t>(128), in), each<std::uint64_t>(128, [&](int i) {
                const int t = i / 2;
                const auto wide = [&](int a, int b, int c, int d) {
                  return static_cast<UnsignedWide>(std::uint64_t{at(in, t + d)} << 32 | at(in, t + c)) << 64 |
                         (std::uint64_t{at(in, t + b)} << 32 | at(in, t + a));
                };
                const auto product = wide(0, 1, 2, 3) * wide(3, 0, 2, 1);
                return i % 2 == 0 ? product : product >> 64;
              }));
}

}  // namespace
}  // namespace cuprum::tests
