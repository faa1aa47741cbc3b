#pragma once

#include <atomic>
#include <cstddef>

namespace cuprum::support {

/// Base of a class whose living objects are counted, so that tests can tell that none is left.
template <typename Derived>
class Counted {
 public:
  static std::size_t alive() noexcept { return count_.load(std::memory_order_relaxed); }

 protected:
  /// For objects that are never destroyed, and so are no leak.
  struct Uncounted {};

  Counted() noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
  explicit Counted(Uncounted) noexcept {}
  Counted(const Counted&) noexcept : Counted() {}
  Counted& operator=(const Counted&) noexcept = default;
  ~Counted() { count_.fetch_sub(1, std::memory_order_relaxed); }

 private:
  static inline std::atomic<std::size_t> count_{0};
};

}  // namespace cuprum::support
