// Stream-ordered memory: blocks that are freed in a stream and used again without going back to the system.
//
// The pool knows streams and operations only as numbers. The rules of reuse:
//  - a block freed in a stream may be used at once by a later allocation in the same stream, which is behind it;
//  - another stream may use it once the free has been reached, which the caller reports with `reached`.
// Memory above the release threshold goes back at the next `trim_to_threshold`, which the driver does
// whenever a stream, an event or a context is synchronised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "softgpu/memory/heap.hpp"

namespace softgpu::memory {

struct PoolUsage {
  std::uint64_t reserved = 0, reserved_high = 0;  // bytes taken from the heap
  std::uint64_t used = 0, used_high = 0;          // bytes handed out
};

// Thread-safe.
class Pool {
 public:
  using Stream = std::uint64_t;
  using Ticket = std::uint64_t;  // one free that is under way

  // `limit` of 0: as much as the heap has.
  Pool(std::shared_ptr<Heap> heap, std::size_t limit);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // Throws OutOfMemory.
  std::byte* allocate(std::size_t bytes, Stream stream);
  // Memory that is the heap's already counts as allocated from here on.
  void adopt(std::byte* base, std::size_t bytes);

  // The block's last use is ordered before this point of `stream`. Call `reached` when the point is reached.
  Ticket free(std::byte* base, Stream stream);
  void reached(Ticket ticket);
  // The block is not in use any more, on any stream.
  void free_now(std::byte* base);

  void trim(std::size_t bytes_to_keep);
  void trim_to_threshold();
  std::uint64_t release_threshold() const;
  void set_release_threshold(std::uint64_t bytes);

  PoolUsage usage() const;
  void reset_reserved_high();
  void reset_used_high();

 private:
  struct Block {
    std::byte* base = nullptr;
    std::size_t bytes = 0;  // whole pages
  };
  struct Waiting {
    Block block;
    Stream stream = 0;
  };

  Block take_reusable(std::size_t bytes, Stream stream);
  void make_available(Block block);
  Block take_block_in_use(std::byte* base);

  const std::shared_ptr<Heap> heap_;
  const std::size_t limit_;
  mutable std::mutex mutex_;
  std::unordered_map<std::byte*, std::size_t> in_use_;
  std::multimap<std::size_t, std::byte*> available_;  // by size
  std::unordered_map<Ticket, Waiting> waiting_;
  std::map<std::pair<Stream, std::size_t>, std::map<Ticket, Block>> waiting_by_stream_;
  Ticket next_ticket_ = 1;
  std::uint64_t release_threshold_ = 0;
  PoolUsage usage_;
};

}  // namespace softgpu::memory
