// A list of a few small values that lives in its owner, without memory of its own.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace softgpu::ptx {

template <typename T, std::size_t Capacity>
class ShortList {
 public:
  ShortList() = default;
  ShortList(std::initializer_list<T> values) {
    for (const T& value : values) push_back(value);
  }

  void push_back(T value) {
    assert(size_ < Capacity);
    values_[size_++] = value;
  }

  static constexpr std::size_t capacity() { return Capacity; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const T* begin() const { return values_.data(); }
  const T* end() const { return values_.data() + size_; }
  const T& operator[](std::size_t i) const {
    assert(i < size_);
    return values_[i];
  }
  const T& front() const { return (*this)[0]; }
  const T& back() const { return (*this)[size_ - 1u]; }

  friend bool operator==(const ShortList& a, const ShortList& b) {
    if (a.size_ != b.size_) return false;
    for (std::size_t i = 0; i < a.size_; ++i)
      if (a[i] != b[i]) return false;
    return true;
  }

 private:
  std::array<T, Capacity> values_{};
  std::uint8_t size_ = 0;
};

}  // namespace softgpu::ptx
