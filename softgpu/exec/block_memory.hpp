// The memory of blocks in flight: the shared memory of those that run together, the local memory of threads, and the
// frames of a block's gangs. All are reused from block to block.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "softgpu/abi/kernel.hpp"

namespace softgpu::exec {

// The shared memory of a cluster's blocks, or of one block. Nothing behind a block's part of it is accessible up to the
// part of the next rank, and nothing behind the last one's for 4 GiB, so that every shared-space address (a 32-bit
// offset) beyond the size that was asked for, rounded up to 128 bytes or the alignment, faults.
class SharedMemory {
 public:
  SharedMemory();  // for one block; throws std::bad_alloc
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  static constexpr std::uint32_t kCapacity = 256 * 1024;  // CUDA's largest multiprocessor has 228 KiB

  // Makes room for clusters of this many blocks, at most abi::kMaxClusterBlocks. Throws std::bad_alloc.
  void provide(std::uint32_t blocks);

  // The base for `bytes` of shared memory, at most kCapacity, of the block that has `behind` others behind it in its
  // cluster; a multiple of 128, and of `alignment`, a power of two, up to 4096.
  std::byte* base(std::uint32_t bytes, std::uint32_t alignment, std::uint32_t behind = 0) const {
    const std::uint32_t step = std::clamp(alignment, abi::kSharedAlignment, 4096U);
    return end_ - (std::size_t{behind} << abi::kClusterStrideBits) - (bytes + step - 1) / step * step;
  }

 private:
  std::byte* mapping_;
  std::byte* end_;  // of the last block's
  std::uint32_t provided_ = 0;
};

// Pieces of memory of a few sizes that are free to be used again. Those of other sizes are lost until all is reset.
class ReleasedPieces {
 public:
  void put(void* memory, std::size_t bytes, std::size_t alignment = 0) noexcept;
  void* take(std::size_t bytes, std::size_t alignment = 0) noexcept;  // null: there is none

 private:
  // Each has the address of the next one in its first word.
  struct Kind {
    std::size_t bytes = 0, alignment = 0;
    void* first = nullptr;
  };
  std::array<Kind, 8> kinds_;
};

// Local memory of threads. Nothing for 4 GiB before and behind it is accessible: an index out of range faults, or meets
// the local memory of a neighbour, but never what the host lives on. Mapped on first use.
class LocalMemory {
 public:
  LocalMemory() = default;
  ~LocalMemory();
  LocalMemory(const LocalMemory&) = delete;
  LocalMemory& operator=(const LocalMemory&) = delete;

  static constexpr std::size_t kCapacity = std::size_t{1} << 30;  // 1024 threads at CUDA's limit of 512 KiB, twice
  static constexpr std::size_t kAlignment = 64;

  // In front of what was allocated before, the first right at the inaccessible range; null when there is no more.
  void* allocate(std::size_t bytes) noexcept;
  // Gives back what was allocated last.
  void release(std::size_t bytes) noexcept { used_ -= rounded(bytes); }
  // Keeps what need not have been allocated last for the next one of this size.
  void release(void* memory, std::size_t bytes) noexcept { released_.put(memory, rounded(bytes)); }
  void reset() noexcept {
    used_ = 0;
    released_ = {};
  }

 private:
  static constexpr std::size_t rounded(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

  std::byte* mapping_ = nullptr;
  std::size_t provided_ = 0, used_ = 0;  // at the end of its capacity
  ReleasedPieces released_;
};

// Where gangs keep their values while they are suspended. Frames are freed all at once.
class FrameArena {
 public:
  FrameArena() { chunks_.reserve(64); }  // they double in size: there are never more

  static constexpr std::size_t kCapacity = std::size_t{1} << 30;  // of a chunk, and so nearly of all before it

  // Aligned to `alignment`, a power of two; null when there is no more.
  void* allocate(std::size_t bytes, std::size_t alignment) noexcept;
  // For the next frame of this size and alignment.
  void release(void* frame, std::size_t bytes, std::size_t alignment) noexcept {
    released_.put(frame, bytes, alignment);
  }
  void reset() noexcept;

 private:
  struct FreeChunk {
    void operator()(std::byte*) const noexcept;
  };
  struct Chunk {
    std::unique_ptr<std::byte, FreeChunk> memory;
    std::size_t size;
  };
  std::vector<Chunk> chunks_;
  ReleasedPieces released_;
  std::size_t current_ = 0;  // the chunk that is being filled; those before it are full
  std::size_t used_ = 0;     // of it
};

}  // namespace softgpu::exec
