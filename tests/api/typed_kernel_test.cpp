// Kernels with known parameter types. What must not compile is in tests/bad_use.
#include "api/fixture.hpp"

namespace cuprum::tests {
namespace {

using ::testing::HasSubstr;

using Scale = TypedKernel<void(float*, float, std::size_t)>;

class TypedKernelTest : public ApiTest {
 protected:
  Stream stream = device.create_stream();
  Kernel untyped = compile(scale_source, "scale");
  Scale scale{untyped};
  Buffer data = upload(std::vector<float>{1, 2, 3, 4}, stream);
  const LaunchConfig config{.grid = 1, .block = 4};

  std::vector<float> result() { return download<float>(data, stream); }
};

TEST_F(TypedKernelTest, Launches) {
  launch(stream, config, scale, data, 2.0f, std::size_t{4});
  EXPECT_EQ(result(), (std::vector<float>{2, 4, 6, 8}));
}

TEST_F(TypedKernelTest, ArgumentsWhoseSizesWereComparedAreCountedAllTheSame) {
  void* addresses[] = {nullptr, nullptr};
  EXPECT_THAT(error_of<InvalidArgument>(
                  [&] { detail::launch(stream, {.grid = 1, .block = 1}, scale.kernel(), {addresses, nullptr, 2}); }),
              HasSubstr("it takes 3 arguments of 8, 4, 8 bytes; 2 were given"));
}

TEST_F(TypedKernelTest, ConvertsNumbersAsACallDoes) {
  launch(stream, config, scale, data, 3, 2);
  EXPECT_EQ(result(), (std::vector<float>{3, 6, 3, 4}));
}

TEST_F(TypedKernelTest, TakesPointers) {
  launch(stream, config, scale, reinterpret_cast<float*>(data.handle()) + 3, 2.0f, 1u);
  EXPECT_EQ(result(), (std::vector<float>{1, 2, 3, 8}));
}

TEST_F(TypedKernelTest, TakesSpans) {
  const std::span<float> lower(reinterpret_cast<float*>(data.handle()), 2);
  launch(stream, config, scale, lower, 2.0f, lower.size());
  EXPECT_EQ(result(), (std::vector<float>{2, 4, 3, 4}));
}

TEST_F(TypedKernelTest, TakesNullPointers) {
  launch(stream, config, scale, nullptr, 2.0f, 0);
  stream.sync();
}

TEST_F(TypedKernelTest, APointerToConstTakesBoth) {
  Kernel copy = compile("extern \"C\" __global__ void copy(const int* from, int* to) { *to = *from; }", "copy");
  TypedKernel<void(const int*, int*)> typed(copy);
  Buffer from = upload(std::vector<int>{42}, stream);
  Buffer to = upload(std::vector<int>{0}, stream);
  launch(stream, {.grid = 1, .block = 1}, typed, reinterpret_cast<int*>(from.handle()), to);
  EXPECT_EQ(download<int>(to, stream).front(), 42);
  launch(stream, {.grid = 1, .block = 1}, typed, std::span<const int>(reinterpret_cast<const int*>(from.handle()), 1),
         to);
  stream.sync();
}

struct Segment {
  int first;
  int length;
};

TEST_F(TypedKernelTest, TakesStructsAndEnums) {
  Kernel mark = compile(R"(
struct Segment { int first, length; };
enum class Mark : unsigned char { none, cross = 88 };
extern "C" __global__ void mark(char* text, Segment segment, Mark mark) {
  for (int i = 0; i < segment.length; ++i) text[segment.first + i] = char(mark);
})",
                        "mark");
  enum class Mark : unsigned char { none, cross = 88 };
  TypedKernel<void(char*, Segment, Mark)> typed(mark);
  Buffer text = upload(std::vector<char>{'.', '.', '.', '.'}, stream);
  launch(stream, {.grid = 1, .block = 1}, typed, text, {1, 2}, Mark::cross);
  EXPECT_EQ(download<char>(text, stream), (std::vector<char>{'.', 'X', 'X', '.'}));
}

TEST_F(TypedKernelTest, NeedsNoParameters) {
  TypedKernel<void()> nothing(compile("extern \"C\" __global__ void nothing() {}", "nothing"));
  launch(stream, {.grid = 1, .block = 1}, nothing);
  stream.sync();
}

TEST_F(TypedKernelTest, RefusesAnotherNumberOfParameters) {
  EXPECT_THAT(error_of<InvalidArgument>([&] { TypedKernel<void(float*, float)>{untyped}; }),
              HasSubstr("naming the parameters of kernel scale: it takes 3 arguments of 8, 4, 8 bytes; 2 were given"));
}

TEST_F(TypedKernelTest, RefusesAParameterOfAnotherSize) {
  EXPECT_THAT(error_of<InvalidArgument>([&] { TypedKernel<void(float*, double, std::size_t)>{untyped}; }),
              HasSubstr("argument 2 of 3 has 8 bytes, but the kernel's parameter has 4"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { TypedKernel<void(float*, float, int)>{untyped}; }),
              HasSubstr("argument 3 of 3 has 4 bytes, but the kernel's parameter has 8"));
}

TEST_F(TypedKernelTest, ChecksTheShapeAtEachLaunch) {
  EXPECT_THAT(error_of<InvalidArgument>([&] { launch(stream, {.grid = 1, .block = 0}, scale, data, 1, 1); }),
              HasSubstr("launching kernel scale: block.x is 0"));
}

TEST_F(TypedKernelTest, RefusesAClosedBuffer) {
  Buffer closed = device.allocate(16, stream);
  closed.close();
  EXPECT_THAT(error_of<InvalidArgument>([&] { launch(stream, config, scale, closed, 1, 1); }),
              HasSubstr("this buffer is closed"));
}

TEST_F(TypedKernelTest, IsEqualWhenTheKernelIs) {
  EXPECT_EQ(scale, Scale(untyped));
  EXPECT_EQ(scale.kernel(), untyped);
}

TEST_F(TypedKernelTest, KeepsTheKernelAlive) {
  Scale kept(compile(scale_source, "scale"));
  launch(stream, config, kept, data, 2, 4);
  EXPECT_EQ(result().back(), 8.0f);
}

// What the compiler accepts, as far as it can be asked.
template <typename Argument>
concept ScalesFirst = requires(Stream& s, const Scale& k, Argument a) { launch(s, LaunchConfig{}, k, a, 1.0f, 1); };
template <typename Argument>
concept ScalesSecond = requires(Stream& s, const Scale& k, Argument a) { launch(s, LaunchConfig{}, k, nullptr, a, 1); };

static_assert(ScalesFirst<float*> && ScalesFirst<Buffer> && ScalesFirst<std::nullptr_t>);
static_assert(ScalesFirst<std::span<float>> && ScalesFirst<std::span<float, 4>>);
static_assert(!ScalesFirst<double*> && !ScalesFirst<const float*> && !ScalesFirst<void*>);
static_assert(!ScalesFirst<int> && !ScalesFirst<DevicePointer> && !ScalesFirst<std::vector<float>>);
static_assert(!ScalesFirst<std::span<const float>> && !ScalesFirst<float (&)[4]>);
static_assert(ScalesSecond<float> && ScalesSecond<int> && ScalesSecond<double>);
static_assert(!ScalesSecond<float*> && !ScalesSecond<Buffer> && !ScalesSecond<const char*>);

}  // namespace
}  // namespace cuprum::tests
