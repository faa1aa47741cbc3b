// Every kind of value that a kernel can take arrives as it was.
#include <complex>
#include <cstring>

#if __has_include(<cuda_fp16.h>)
  #include <cuda_bf16.h>
  #include <cuda_fp16.h>
  #define CUPRUM_TEST_HAS_HALF
#endif

#include "api/fixture.hpp"

namespace cuprum::tests {
namespace {

using ::testing::HasSubstr;

enum Unscoped { zero, one, two };
enum class Scoped : std::uint8_t { low = 1, high = 200 };
enum class Wide : std::int64_t { value = -(std::int64_t{1} << 40) };

struct Point {
  double x;
  int y;
  char z;
};
struct alignas(16) Vector4 {
  float x, y, z, w;
};
struct Matrix {
  float rows[4][4];
};
struct Large {
  int values[200];
};
__extension__ using Int128 = __int128;

/// A value of T, and what the kernel calls its type.
template <typename T>
struct Sample;

#define SAMPLE(type, kernel_type, ...)               \
  template <>                                        \
  struct Sample<type> {                              \
    static type value() { return __VA_ARGS__; }      \
    static constexpr const char* name = kernel_type; \
  }
SAMPLE(bool, "bool", true);
SAMPLE(char, "char", 'x');
SAMPLE(signed char, "signed char", -42);
SAMPLE(unsigned char, "unsigned char", 242);
SAMPLE(short, "short", -1234);
SAMPLE(unsigned short, "unsigned short", 61234);
SAMPLE(int, "int", -123456);
SAMPLE(unsigned, "unsigned", 4000000000u);
SAMPLE(long, "long", -123456789012);
SAMPLE(unsigned long, "unsigned long", 123456789012);
SAMPLE(long long, "long long", -123456789012);
SAMPLE(unsigned long long, "unsigned long long", ~0ull);
SAMPLE(float, "float", 3.14f);
SAMPLE(double, "double", 2.718);
SAMPLE(char16_t, "char16_t", u'\u20ac');
SAMPLE(char32_t, "char32_t", U'\U0001f600');
SAMPLE(Unscoped, "unsigned", two);
SAMPLE(Scoped, "unsigned char", Scoped::high);
SAMPLE(Wide, "long long", Wide::value);
SAMPLE(const char*, "const char*", reinterpret_cast<const char*>(0x1234567890));
SAMPLE(std::complex<float>, "Pair<float>", {1.0f, 2.0f});
SAMPLE(std::complex<double>, "Pair<double>", {-3.0, -4.0});
SAMPLE(Point, "Point", {1.5, 2, 'z'});
SAMPLE(Vector4, "float4", {1, 2, 3, 4});
SAMPLE(Matrix, "Matrix", {{{1, 2, 3, 4}, {5, 6, 7, 8}}});
SAMPLE(Large, "Large", {{1, 2, 3}});
using IntArray = std::array<int, 3>;
SAMPLE(IntArray, "Triple", {7, 8, 9});
SAMPLE(Int128, "ulonglong2", Int128{-5} << 70);
#ifdef CUPRUM_TEST_HAS_HALF
SAMPLE(__half, "unsigned short", __float2half(0.75f));
SAMPLE(__nv_bfloat16, "unsigned short", __float2bfloat16(-1.5f));
#endif

constexpr const char* types_source = R"(
template <typename T> struct Pair { T first, second; };
struct Point { double x; int y; char z; };
struct Matrix { float rows[4][4]; };
struct Large { int values[200]; };
struct Triple { int values[3]; };
template <typename T> __global__ void store(char before, T value, T* out, char* around, char after) {
  *out = value;
  around[0] = before;
  around[1] = after;
}
)";

template <typename T>
class ArgumentOfType : public ApiTest {
 protected:
  Stream stream = device.create_stream();

  Kernel store() {
    const std::string name = std::string("store<") + Sample<T>::name + ">";
    return Program(types_source, {.std = "c++17"})
        .compile(Target::cubin, {.name_expressions = {name}})
        .get_kernel(name);
  }
};

using Types = ::testing::Types<bool, char, signed char, unsigned char, short, unsigned short, int, unsigned, long,
                               unsigned long, long long, unsigned long long, float, double, char16_t, char32_t,
                               Unscoped, Scoped, Wide, const char*, std::complex<float>, std::complex<double>, Point,
                               Vector4, Matrix, Large, IntArray, Int128
#ifdef CUPRUM_TEST_HAS_HALF
                               ,
                               __half, __nv_bfloat16
#endif
                               >;
TYPED_TEST_SUITE(ArgumentOfType, Types);

// Padding has no value, so structs with some are compared by what a copy of them does.
template <typename T>
bool same(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, Point>) return a.x == b.x && a.y == b.y && a.z == b.z;
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

TYPED_TEST(ArgumentOfType, ArrivesBetweenOthers) {
  const TypeParam value = Sample<TypeParam>::value();
  Buffer out = this->device.allocate(sizeof(TypeParam), this->stream);
  Buffer around = this->device.allocate(2, this->stream);
  launch(this->stream, {.grid = 1, .block = 1}, this->store(), 'a', value, out, around, 'b');
  std::vector<char> bytes = this->template download<char>(out, this->stream);
  TypeParam stored;
  std::memcpy(static_cast<void*>(&stored), bytes.data(), sizeof stored);
  EXPECT_TRUE(same(stored, value));
  EXPECT_EQ(this->template download<char>(around, this->stream), (std::vector<char>{'a', 'b'}));
}

class LaunchArgumentsTest : public ApiTest {
 protected:
  Stream stream = device.create_stream();
  Kernel scale = compile(scale_source, "scale");
  Buffer data = upload(std::vector<float>{1, 2, 3, 4}, stream);
  const LaunchConfig config{.grid = 1, .block = 4};
  std::size_t n = 4;
};

TEST_F(LaunchArgumentsTest, TakeLvaluesRvaluesAndConstants) {
  float factor = 2;
  const float constant = 3;
  launch(stream, config, scale, data, factor, n);
  launch(stream, config, scale, data, constant, n);
  launch(stream, config, scale, data, factor + constant, std::size_t{4});
  EXPECT_EQ(download<float>(data, stream), (std::vector<float>{30, 60, 90, 120}));
}

TEST_F(LaunchArgumentsTest, AreReadBeforeLaunchReturns) {
  float factor = 2;
  for (int i = 0; i < 3; ++i) {
    launch(stream, config, scale, data, factor, n);
    factor = 1000;
    factor = 2;
  }
  factor = 1000;
  EXPECT_EQ(download<float>(data, stream).front(), 8.0f);
}

TEST_F(LaunchArgumentsTest, ASpanOfDeviceMemoryIsItsAddress) {
  const std::span<float> upper(reinterpret_cast<float*>(data.handle()) + 2, 2);
  launch(stream, config, scale, upper, 10.0f, upper.size());
  EXPECT_EQ(download<float>(data, stream), (std::vector<float>{1, 2, 30, 40}));
}

TEST_F(LaunchArgumentsTest, SpansOfFixedExtentWorkToo) {
  const std::span<float, 2> lower(reinterpret_cast<float*>(data.handle()), 2);
  launch(stream, config, scale, lower, 10.0f, lower.size());
  EXPECT_EQ(download<float>(data, stream), (std::vector<float>{10, 20, 3, 4}));
}

TEST_F(LaunchArgumentsTest, ATemporaryBufferIsFreedAfterTheKernel) {
  launch(stream, config, scale, device.allocate(16, stream), 2.0f, n);
  stream.sync();
}

TEST_F(LaunchArgumentsTest, SixteenOfThemArriveInOrder) {
  Kernel sum = compile(R"(
extern "C" __global__ void sum(long long* out, int a, short b, char c, long long d, float e, double f, int g, int h, char i, char j,
                               short k, double l, float m, long long n, int o) {
  long long weights[] = {a, b, c, d, (long long)e, (long long)f, g, h, i, j, k, (long long)l, (long long)m, n, o};
  long long total = 0;
  for (int index = 0; index < 15; ++index) total = total * 3 + weights[index];
  *out = total;
})",
                       "sum");
  Buffer out = device.allocate(8, stream);
  launch(stream, {.grid = 1, .block = 1}, sum, out, 1, short{2}, char{3}, 4ll, 5.0f, 6.0, 7, 8, char{9}, char{10},
         short{11}, 12.0, 13.0f, 14ll, 15);
  long long expected = 0;
  for (int value = 1; value <= 15; ++value) expected = expected * 3 + value;
  EXPECT_EQ(download<long long>(out, stream).front(), expected);
}

TEST_F(LaunchArgumentsTest, AHalfIsAHalf) {
  Kernel convert = compile(R"(
extern "C" __global__ void convert(float* out, unsigned short half, unsigned short bfloat) {
  asm("cvt.f32.f16 %0, %1;" : "=f"(out[0]) : "h"(half));
  out[1] = __uint_as_float(unsigned(bfloat) << 16);
})",
                           "convert");
  Buffer out = device.allocate(2 * sizeof(float), stream);
#ifdef CUPRUM_TEST_HAS_HALF
  launch(stream, {.grid = 1, .block = 1}, convert, out, __float2half(0.375f), __float2bfloat16(-2.5f));
#else
  launch(stream, {.grid = 1, .block = 1}, convert, out, std::uint16_t{0x3600}, std::uint16_t{0xc020});
#endif
  EXPECT_EQ(download<float>(out, stream), (std::vector<float>{0.375f, -2.5f}));
}

TEST_F(LaunchArgumentsTest, AWrongSizeNamesTheArgument) {
  EXPECT_THAT(error_of<InvalidArgument>([&] { launch(stream, config, scale, data, 2.0f, 4); }),
              HasSubstr("launching kernel scale: argument 3 of 3 has 4 bytes, but the kernel's parameter has 8"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { launch(stream, config, scale, 'd', 2.0f, n); }),
              HasSubstr("argument 1 of 3 has 1 bytes, but the kernel's parameter has 8"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { launch(stream, config, scale, data, Matrix{}, n); }),
              HasSubstr("argument 2 of 3 has 64 bytes, but the kernel's parameter has 4"));
}

TEST_F(LaunchArgumentsTest, TooManyAreRefused) {
  EXPECT_THAT(error_of<InvalidArgument>([&] { launch(stream, config, scale, data, 2.0f, n, 1); }),
              HasSubstr("it takes 3 arguments of 8, 4, 8 bytes; 4 were given of 8, 4, 8, 4 bytes"));
}

/// A stream of another library.
struct ForeignStream {
  CUstream_st* queue;
  CUstream_st* stream() const { return queue; }
};

TEST_F(LaunchArgumentsTest, TheStreamMayBeAnotherLibrarys) {
  launch(ForeignStream{stream.handle()}, config, scale, data, 2.0f, n);
  launch(stream.handle(), config, scale, data, 2.0f, n);
  const TypedKernel<void(float*, float, std::size_t)> typed(scale);
  launch(ForeignStream{stream.handle()}, config, typed, data, 5, 4);
  EXPECT_EQ(download<float>(data, stream), (std::vector<float>{20, 40, 60, 80}));
}

TEST_F(LaunchArgumentsTest, ADefaultStreamMeansTheCurrentContext) {
  stream.sync();
  launch(Stream::legacy_default(), config, scale, data, 2.0f, n);
  launch(Stream::per_thread_default(), config, scale, data, 2.0f, n);
  PreparedLaunch step = prepare(device.default_stream(), config, scale, data, 2.0f, n);
  step();
  step(Stream::per_thread_default());
  device.sync();
  EXPECT_EQ(download<float>(data, stream).front(), 16.0f);
}

TEST_F(LaunchArgumentsTest, AClosedBufferIsRefused) {
  data.close();
  EXPECT_THAT(error_of<InvalidArgument>([&] { launch(stream, config, scale, data, 2.0f, n); }),
              HasSubstr("this buffer is closed"));
}

TEST_F(LaunchArgumentsTest, AClosedStreamIsRefused) {
  Stream closed = device.create_stream();
  closed.close();
  EXPECT_THAT(error_of<InvalidArgument>([&] { launch(closed, config, scale, data, 2.0f, n); }),
              HasSubstr("this stream is closed"));
}

}  // namespace
}  // namespace cuprum::tests
