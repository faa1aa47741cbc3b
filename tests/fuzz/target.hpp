// What a fuzz target consists of: a function for any bytes, in the form that libFuzzer calls, and bytes to begin with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

/// What the target takes as it should be; altered copies of these are tried.
std::vector<std::string> good_inputs();

namespace cuprum::tests {

inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "not so: %s\n", what);
  std::abort();
}

}  // namespace cuprum::tests
