// What is known of pages, kept as ranges: a value for each page, the default one where nothing was said.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>

#include "softgpu/memory/address_space.hpp"

namespace softgpu::memory {

// Thread-safe. Ranges are given in bytes and reach from the page of the first to the page of the last one.
template <typename Value>
class PageRanges {
 public:
  // Calls change(Value&) for every part of the range whose pages have the same value.
  template <typename Change>
  void update(const void* begin, std::size_t bytes, Change&& change) {
    const auto [first, end] = pages(begin, bytes);
    const std::scoped_lock lock(mutex_);
    split_at(first);
    split_at(end);
    for (auto it = starts_.find(first); it->first != end; ++it) change(it->second);
  }

  // As update(), but visit(const Value&) changes nothing.
  template <typename Visit>
  void visit(const void* begin, std::size_t bytes, Visit&& visit) const {
    const auto [first, end] = pages(begin, bytes);
    const std::scoped_lock lock(mutex_);
    for (auto it = std::prev(starts_.upper_bound(first)); it != starts_.end() && it->first < end; ++it)
      visit(it->second);
  }

  // The pages have the default value again.
  void forget(const void* begin, std::size_t bytes) {
    const auto [first, end] = pages(begin, bytes);
    const std::scoped_lock lock(mutex_);
    split_at(end);
    split_at(first);
    starts_.erase(starts_.upper_bound(first), starts_.find(end));
    starts_.at(first) = Value{};
    join_at(end);
    join_at(first);
  }

 private:
  struct Pages {
    std::uintptr_t first, end;
  };

  static Pages pages(const void* begin, std::size_t bytes) {
    const auto address = reinterpret_cast<std::uintptr_t>(begin);
    return {address / kPageBytes * kPageBytes, round_up(address + bytes, kPageBytes)};
  }

  void split_at(std::uintptr_t address) {
    const auto before = std::prev(starts_.upper_bound(address));
    if (before->first != address) starts_.emplace(address, before->second);
  }

  // Keeps the map small where memory comes and goes.
  void join_at(std::uintptr_t address) {
    const auto it = starts_.find(address);
    if (it != starts_.begin() && std::prev(it)->second == it->second) starts_.erase(it);
  }

  mutable std::mutex mutex_;
  std::map<std::uintptr_t, Value> starts_{{0, Value{}}};  // the value holds from here to the next one
};

}  // namespace softgpu::memory
