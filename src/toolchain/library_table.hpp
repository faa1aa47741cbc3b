// Filling the raw tables: what the four libraries have in common.
#pragma once

#include <atomic>
#include <cuprum/detail/library_api.hpp>
#include <mutex>

#include "toolchain/search.hpp"

namespace cuprum::toolchain {

/// A value that is made at the first use, by whichever thread is first. Making it may throw; the next use tries again.
/// It is never destroyed: what comes from a library has no end that could be waited for.
template <typename T>
class MadeOnce {
 public:
  template <typename Make>
  const T& get(Make&& make) {
    if (const T* ready = value_.load(std::memory_order_acquire)) return *ready;
    std::lock_guard lock(mutex_);
    if (!value_.load(std::memory_order_relaxed)) value_.store(new T(make()), std::memory_order_release);
    return *value_.load(std::memory_order_relaxed);
  }

 private:
  std::mutex mutex_;
  std::atomic<const T*> value_{nullptr};
};

template <typename Api>
struct OpenTable {
  Api api;
  LibraryInfo info;
};

/// A library that is opened at the first use, and the table that is called through: its own, or one in its place.
template <typename Opened>
class TableInUse {
 public:
  using Api = decltype(Opened::api);
  using Open = Opened (*)();

  explicit TableInUse(Open open) : open_(open) {}

  const Opened& opened() { return once_.get(open_); }
  const Api& api() {
    const Api* const other = other_.load(std::memory_order_acquire);
    return other ? *other : opened().api;
  }
  const Api& replace(const Api& table) {
    const Api& before = api();
    other_.store(&table, std::memory_order_release);
    return before;
  }

 private:
  const Open open_;
  MadeOnce<Opened> once_;
  std::atomic<const Api*> other_{nullptr};
};

/// Puts the function of that name into its slot; null when the library doesn't have it.
template <typename Slot>
void fill(Slot& slot, const support::SharedLibrary& library, const char* name) {
  slot.function = reinterpret_cast<decltype(slot.function)>(library.symbol(name));
}

inline LibraryInfo info_of(const Located& located) { return {located.path, located.how, 0}; }

/// Opens a library that works with NVRTC's output: those that were found the way NVRTC was come first.
OpenLibrary open_companion_of_nvrtc(const Item& item);

}  // namespace cuprum::toolchain
