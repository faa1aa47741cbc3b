// What the tests of the public API share. They run unchanged on any driver: CUPRUM_DRIVER decides.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cuprum/cuprum.hpp>
#include <numeric>
#include <span>
#include <string>
#include <vector>

namespace cuprum::tests {

/// data[i] *= factor, for i < n.
inline constexpr const char* scale_source = R"(
extern "C" __global__ void scale(float* data, float factor, size_t n) {
  size_t i = threadIdx.x + size_t(blockIdx.x) * blockDim.x;
  if (i < n) data[i] *= factor;
}
)";

/// Keeps a device busy for a while: `rounds` dependent steps in one thread.
inline constexpr const char* spin_source = R"(
extern "C" __global__ void spin(unsigned* out, unsigned rounds) {
  unsigned x = rounds;
  for (unsigned i = 0; i < rounds; ++i) x = x * 1664525u + 1013904223u;
  *out = x;
}
)";

inline Kernel compile(const char* source, const char* kernel) {
  return Program(source).compile(Target::cubin).get_kernel(kernel);
}

/// After every test (see fixture.cpp) nothing may be left alive.
class ApiTest : public ::testing::Test {
 protected:
  ApiTest() { device.set_current(); }

  /// 0, 1, 2…
  static std::vector<float> numbers(std::size_t count) {
    std::vector<float> values(count);
    std::iota(values.begin(), values.end(), 0.0f);
    return values;
  }

  /// A device buffer with these contents; the copy is queued.
  template <typename T>
  Buffer upload(const std::vector<T>& values, const Stream& stream) {
    Buffer buffer = device.allocate(values.size() * sizeof(T), stream);
    buffer.copy_from(std::span(values), stream);
    return buffer;
  }

  template <typename T>
  static std::vector<T> download(const Buffer& buffer, const Stream& stream) {
    std::vector<T> values(buffer.size() / sizeof(T));
    buffer.copy_to(std::span(values), stream);
    stream.sync();
    return values;
  }

  Device device{0};
};

/// The text of the E that `statement` throws; fails the test when it throws something else or nothing.
template <typename E, typename Statement>
std::string error_of(Statement&& statement) {
  try {
    statement();
  } catch (const E& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another exception than expected: " << error.what();
    return {};
  }
  ADD_FAILURE() << "no exception";
  return {};
}

}  // namespace cuprum::tests
