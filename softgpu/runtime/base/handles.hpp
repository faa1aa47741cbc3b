// The handles that programs hold: CUstream, CUevent and so on.
//
// A handle is the address of a slot in a table that stays where it is, so that any value can be checked without
// being followed. Slots of destroyed objects are used again as late as possible, which makes it likely that a stale
// handle is told from a live one.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "softgpu/runtime/base/error.hpp"
#include "softgpu/runtime/base/spin_lock.hpp"

namespace softgpu::runtime {

// Thread-safe. Handle is the C API's pointer type.
template <typename Handle, typename Object>
class HandleTable {
 public:
  // So large a block is fresh pages, which cost nothing until a slot in them is made. From the heap rather than mapped
  // here, so that leak checkers see what the slots hold.
  HandleTable() : slots_(static_cast<Slot*>(::operator new(kSlots * sizeof(Slot), kAlignment))) {}
  HandleTable(const HandleTable&) = delete;
  HandleTable& operator=(const HandleTable&) = delete;
  ~HandleTable() {
    for (std::size_t i = 0; i < made_; ++i) slots_[i].~Slot();
    ::operator delete(slots_, kAlignment);
  }

  Handle add(std::shared_ptr<Object> object) {
    Slot& slot = unused_slot();
    const std::scoped_lock lock(slot.lock);
    slot.object = std::move(object);
    return reinterpret_cast<Handle>(&slot);
  }

  // Null for what is not, or no longer, a handle of this kind.
  std::shared_ptr<Object> find(Handle handle) const {
    Slot* slot = slot_of(handle);
    if (slot == nullptr) return nullptr;
    const std::scoped_lock lock(slot->lock);
    return slot->object;
  }

  // `read(object)` for what a short look can tell, without sharing the object; false when the handle is not valid.
  template <typename Read>
  bool peek(Handle handle, Read&& read) const {
    Slot* slot = slot_of(handle);
    if (slot == nullptr) return false;
    const std::scoped_lock lock(slot->lock);
    if (slot->object == nullptr) return false;
    read(std::as_const(*slot->object));
    return true;
  }

  // As find(), and the handle is no longer valid.
  std::shared_ptr<Object> remove(Handle handle) {
    Slot* slot = slot_of(handle);
    if (slot == nullptr) return nullptr;
    std::shared_ptr<Object> object;
    {
      const std::scoped_lock lock(slot->lock);
      object = std::move(slot->object);
    }
    if (object != nullptr) {
      const std::scoped_lock lock(mutex_);
      free_.push_back(slot);
    }
    return object;
  }

  // Gives the handle another object; null: the handle stays taken, but is not valid for now. Returns the old one.
  std::shared_ptr<Object> replace(Handle handle, std::shared_ptr<Object> object) {
    Slot* slot = slot_of(handle);
    if (slot == nullptr) return nullptr;
    const std::scoped_lock lock(slot->lock);
    return std::exchange(slot->object, std::move(object));
  }

  // Gives up a handle that has no object any more (see replace).
  void discard(Handle handle) {
    Slot* slot = slot_of(handle);
    const std::scoped_lock lock(mutex_);
    free_.push_back(slot);
  }

  // Removes all objects that `matches(object)`.
  template <typename Predicate>
  void remove_if(Predicate&& matches) {
    std::vector<std::shared_ptr<Object>> removed;  // destroyed without a lock held
    const std::scoped_lock lock(mutex_);
    for (std::size_t i = 0; i < made_; ++i) {
      const std::scoped_lock slot_lock(slots_[i].lock);
      if (slots_[i].object == nullptr || !matches(*slots_[i].object)) continue;
      removed.push_back(std::move(slots_[i].object));
      slots_[i].object = nullptr;
      free_.push_back(&slots_[i]);
    }
  }

  std::vector<std::shared_ptr<Object>> all() const {
    const std::scoped_lock lock(mutex_);
    std::vector<std::shared_ptr<Object>> objects;
    for (std::size_t i = 0; i < made_; ++i) {
      const std::scoped_lock slot_lock(slots_[i].lock);
      if (slots_[i].object != nullptr) objects.push_back(slots_[i].object);
    }
    return objects;
  }

 private:
  struct alignas(32) Slot {
    SpinLock lock;
    std::shared_ptr<Object> object;
  };

  static constexpr std::size_t kSlots = std::size_t{1} << 20;
  static constexpr std::align_val_t kAlignment{alignof(Slot)};
  static constexpr std::size_t kReuseAfter = 1024;  // keep this many freed slots out of use

  Slot* slot_of(Handle handle) const {
    const auto address = reinterpret_cast<std::uintptr_t>(handle);
    const auto first = reinterpret_cast<std::uintptr_t>(slots_);
    if (address < first || (address - first) % sizeof(Slot) != 0) return nullptr;
    return (address - first) / sizeof(Slot) < made_.load(std::memory_order_acquire) ? reinterpret_cast<Slot*>(address)
                                                                                    : nullptr;
  }

  Slot& unused_slot() {
    const std::scoped_lock lock(mutex_);
    const std::size_t made = made_.load(std::memory_order_relaxed);
    if (free_.size() > kReuseAfter || (made == kSlots && !free_.empty())) {
      Slot& slot = *free_.front();
      free_.pop_front();
      return slot;
    }
    if (made == kSlots) throw Failure(CUDA_ERROR_OUT_OF_MEMORY, "too many objects of one kind are alive");
    Slot* slot = new (&slots_[made]) Slot;
    made_.store(made + 1, std::memory_order_release);
    return *slot;
  }

  mutable std::mutex mutex_;
  Slot* slots_ = nullptr;
  std::atomic<std::size_t> made_{0};
  std::deque<Slot*> free_;
};

}  // namespace softgpu::runtime
