// What the tests of whole kernels share. Each file has its kernels in one program, and each case compares what a kernel
// leaves in memory with a plain computation on the host:
//
//   class Loops : public KernelsTest { protected: Loops() : KernelsTest(source) {} };
//
//   TEST_F(Loops, CountTheirRounds) {
//     EXPECT_SAME(run("count", {.block = 64}, zeros<int>(64)), each<int>(64, [](int t) { return t % 7; }));
//   }
//
// Every kernel is legal on any GPU since sm_70 and has one result, whichever threads go first.
#pragma once

#include <cstdint>
#include <type_traits>

#include "api/fixture.hpp"

namespace cuprum::tests {

class KernelsTest : public ApiTest {
 protected:
  /// `source` is CUDA C++; `KERNEL(name)(parameters) {…}` defines a kernel there that run() finds by its name.
  explicit KernelsTest(std::string_view source);

  /// Runs a kernel whose first parameter is an array, and returns what that holds then. Vectors are passed as arrays of
  /// device memory, everything else as it is. Unless the configuration says more it is one block.
  template <typename T, typename... Arguments>
  std::vector<T> run(const char* kernel, LaunchConfig config, const std::vector<T>& array,
                     const Arguments&... arguments) {
    if (config.grid == LaunchConfig().grid) config.grid = 1;
    if (config.block == LaunchConfig().block) config.block = 1;
    const Buffer result = upload(array, stream);
    launch(stream, config, code.get_kernel(kernel), result, argument(arguments)...);
    return download<T>(result, stream);
  }

  Stream stream = device.create_stream();
  ObjectCode code;

 private:
  template <typename T>
  Buffer argument(const std::vector<T>& array) {
    return upload(array, stream);
  }
  template <typename T>
    requires(std::is_trivially_copyable_v<T>)
  static T argument(const T& value) {
    return value;
  }
};

template <typename T>
std::vector<T> zeros(std::size_t count) {
  return std::vector<T>(count);
}

/// value(0), value(1)… as T.
template <typename T, typename Function>
std::vector<T> each(int count, Function value) {
  std::vector<T> values;
  for (int i = 0; i < count; ++i) values.push_back(static_cast<T>(value(i)));
  return values;
}

/// What EXPECT_SAME prints of two arrays: where they differ first, and how often.
template <typename T>
::testing::AssertionResult same_elements(const char* found_text, const char*, const std::vector<T>& found,
                                         const std::vector<T>& expected) {
  if (found == expected) return ::testing::AssertionSuccess();
  ::testing::AssertionResult failure = ::testing::AssertionFailure() << found_text << '\n';
  if (found.size() != expected.size()) return failure << found.size() << " elements instead of " << expected.size();
  std::size_t differences = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i] != expected[i] && ++differences <= 8)
      failure << "element " << i << " is " << ::testing::PrintToString(found[i]) << ", expected was "
              << ::testing::PrintToString(expected[i]) << '\n';
  }
  return failure << differences << " of " << found.size() << " elements are wrong";
}
#define EXPECT_SAME(found, expected) EXPECT_PRED_FORMAT2(::cuprum::tests::same_elements, found, expected)

template <typename T>
T& at(std::vector<T>& values, int index) {
  return values.at(static_cast<std::size_t>(index));
}
template <typename T>
const T& at(const std::vector<T>& values, int index) {
  return values.at(static_cast<std::size_t>(index));
}

/// Numbers without a pattern, the same at every run: the i-th of a sequence.
constexpr std::uint32_t scrambled(std::uint32_t i) {
  i = (i ^ 61) ^ (i >> 16);
  i *= 9;
  i ^= i >> 4;
  i *= 0x27d4eb2d;
  return i ^ (i >> 15);
}

/// `count` of them, each below `limit`.
inline std::vector<int> scrambled_numbers(int count, std::uint32_t limit) {
  return each<int>(count, [limit](int i) { return scrambled(static_cast<std::uint32_t>(i)) % limit; });
}

}  // namespace cuprum::tests
