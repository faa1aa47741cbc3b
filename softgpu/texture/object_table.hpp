// The objects that handles in kernels stand for: textures and surfaces by number.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

namespace softgpu::texture {

// Thread-safe. A kernel looks a handle up without a lock or a reference. Programs destroy a texture behind the launch
// that uses it, so kernels see it until its number is given to another one, which happens late.
template <typename Object>
class ObjectTable {
 public:
  using Handle = std::uint64_t;

  // 0 when there are too many.
  Handle add(std::shared_ptr<Object> object) {
    const std::scoped_lock lock(mutex_);
    std::size_t slot = owners_.size();
    std::shared_ptr<Object> before;
    if (retired_.size() > kKeep) {
      std::tie(slot, before) = std::move(retired_.front());
      retired_.pop_front();
    } else if (slot == kSlots) {
      return 0;
    } else {
      owners_.emplace_back();
    }
    place_of(slot).store(object.get(), std::memory_order_release);
    owners_[slot] = std::move(object);
    return slot + 1;
  }

  std::shared_ptr<Object> find(Handle handle) const {
    const std::scoped_lock lock(mutex_);
    return handle - 1 < owners_.size() ? owners_[handle - 1] : nullptr;
  }

  // Null when there was none.
  std::shared_ptr<Object> remove(Handle handle) {
    const std::scoped_lock lock(mutex_);
    return handle - 1 < owners_.size() ? retire(handle - 1) : nullptr;
  }

  template <typename Predicate>
  void remove_if(Predicate&& matches) {
    const std::scoped_lock lock(mutex_);
    for (std::size_t slot = 0; slot < owners_.size(); ++slot)
      if (owners_[slot] != nullptr && matches(*owners_[slot])) retire(slot);
  }

  // For kernels: null for what is no handle.
  const Object* operator[](Handle handle) const {
    const std::size_t slot = handle - 1;
    const Chunk* chunk = slot < kSlots ? chunks_[slot / kChunk].load(std::memory_order_acquire) : nullptr;
    return chunk != nullptr ? (*chunk)[slot % kChunk].load(std::memory_order_acquire) : nullptr;
  }

 private:
  static constexpr std::size_t kSlots = std::size_t{1} << 20;  // as many as GPUs have
  static constexpr std::size_t kKeep = 1024;
  static constexpr std::size_t kChunk = 1024;
  using Chunk = std::array<std::atomic<const Object*>, kChunk>;

  std::atomic<const Object*>& place_of(std::size_t slot) {
    std::atomic<Chunk*>& chunk = chunks_[slot / kChunk];
    if (chunk.load(std::memory_order_relaxed) == nullptr)
      chunk.store(owned_chunks_.emplace_back(std::make_unique<Chunk>()).get(), std::memory_order_release);
    return (*chunk.load(std::memory_order_relaxed))[slot % kChunk];
  }

  std::shared_ptr<Object> retire(std::size_t slot) {
    std::shared_ptr<Object> object = std::exchange(owners_[slot], nullptr);
    if (object != nullptr) retired_.emplace_back(slot, object);
    return object;
  }

  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Object>> owners_;
  std::deque<std::pair<std::size_t, std::shared_ptr<Object>>> retired_;
  std::vector<std::unique_ptr<Chunk>> owned_chunks_;
  std::array<std::atomic<Chunk*>, kSlots / kChunk> chunks_{};
};

struct Texture;
struct Surface;
// Those of the process. Never destroyed: kernels may run until it ends.
ObjectTable<Texture>& textures();
ObjectTable<Surface>& surfaces();

}  // namespace softgpu::texture
