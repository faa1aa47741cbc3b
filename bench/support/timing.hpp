// Medians of wall-clock times: what other processes do to a run shows in single times, hardly in their median.
#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

namespace bench {

/// Seconds that `work()` takes.
template <typename Work>
double seconds(Work&& work) {
  auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The middle of `values`, which must not be empty.
inline double median(std::vector<double> values) {
  auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace bench
