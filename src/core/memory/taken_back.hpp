#pragma once

namespace cuprum::core {

/// Base of memory resources that wait for a stream before they take memory back, which can't be done on a stream that
/// is being captured. Others make it part of the graph when the memory is of a graph.
class WaitsBeforeTakingBack {
 protected:
  WaitsBeforeTakingBack() = default;
  WaitsBeforeTakingBack(const WaitsBeforeTakingBack&) = default;
  WaitsBeforeTakingBack& operator=(const WaitsBeforeTakingBack&) = default;
  virtual ~WaitsBeforeTakingBack() = default;
};

/// Base of those that take memory back which they did not allocate: to the user, the buffer has no memory resource.
class OnlyTakesBack {
 protected:
  OnlyTakesBack() = default;
  OnlyTakesBack(const OnlyTakesBack&) = default;
  OnlyTakesBack& operator=(const OnlyTakesBack&) = default;
  virtual ~OnlyTakesBack() = default;
};

}  // namespace cuprum::core
