// What is known of types of Python objects, found once for each.
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace cuprum::python {

/// Reading takes no lock, with a GIL or without: a type is put in once and stays. Whoever puts one in keeps it, so that
/// no other takes its place. Meant for few types: those for which there is no room are looked up each time.
template <typename Value>
class TypeTable {
 public:
  constexpr TypeTable() = default;

  const Value* find(PyTypeObject* type) const noexcept {
    for (std::size_t step = 0; step < reach; ++step) {
      const Entry& entry = entries_[place(type, step)];
      PyTypeObject* const there = entry.type.load(std::memory_order_acquire);
      if (there == type) return &entry.value;
      if (!there) return nullptr;
    }
    return nullptr;
  }

  /// False when it is there already, or there is no room.
  bool add(PyTypeObject* type, const Value& value) {
    nanobind::ft_lock_guard lock(mutex_);
    for (std::size_t step = 0; step < reach; ++step) {
      Entry& entry = entries_[place(type, step)];
      PyTypeObject* const there = entry.type.load(std::memory_order_relaxed);
      if (there == type) return false;
      if (there) continue;
      entry.value = value;
      entry.type.store(type, std::memory_order_release);
      return true;
    }
    return false;
  }

 private:
  struct Entry {
    std::atomic<PyTypeObject*> type{nullptr};
    Value value{};
  };
  static constexpr std::size_t size_bits = 9;
  static constexpr std::size_t reach = 8;

  /// Types lie at multiples of 16, often with the same low bits: the product's high bits depend on all of them.
  static std::size_t place(PyTypeObject* type, std::size_t step) noexcept {
    const std::uint64_t mixed = reinterpret_cast<std::uintptr_t>(type) * 0x9e3779b97f4a7c15u;
    return ((mixed >> (64 - size_bits)) + step) % (std::size_t{1} << size_bits);
  }

  std::array<Entry, std::size_t{1} << size_bits> entries_{};
  nanobind::ft_mutex mutex_;
};

}  // namespace cuprum::python
