// Iterating over a set that the driver keeps: over what was in it when the iteration began.
#pragma once

#include <cstddef>
#include <cuprum/detail/export.hpp>
#include <iterator>
#include <memory>
#include <vector>

namespace cuprum::inline CUPRUM_ABI::detail {

struct SnapshotEnd {};

template <typename T>
class SnapshotIterator {
 public:
  using value_type = T;
  using difference_type = std::ptrdiff_t;
  using reference = const T&;
  using pointer = const T*;
  using iterator_category = std::input_iterator_tag;

  SnapshotIterator() = default;
  explicit SnapshotIterator(std::vector<T> values)
      : values_(std::make_shared<const std::vector<T>>(std::move(values))) {}

  const T& operator*() const { return (*values_)[index_]; }
  const T* operator->() const { return &(*values_)[index_]; }
  SnapshotIterator& operator++() {
    ++index_;
    return *this;
  }
  SnapshotIterator operator++(int) {
    SnapshotIterator before = *this;
    ++index_;
    return before;
  }

  friend bool operator==(const SnapshotIterator& a, const SnapshotIterator& b) {
    return a.values_ == b.values_ && a.index_ == b.index_;
  }
  friend bool operator==(const SnapshotIterator& a, SnapshotEnd) { return !a.values_ || a.index_ == a.values_->size(); }

 private:
  std::shared_ptr<const std::vector<T>> values_;
  std::size_t index_ = 0;
};

}  // namespace cuprum::inline CUPRUM_ABI::detail
