// Stream-ordered memory: blocks that are freed in a stream and used again without going back to the system.
//
// The pool knows streams as numbers, and the place of a free in its stream as another. A freed block may be used again
//  - by the same stream at once, because what comes later there is behind the free;
//  - by a stream that already comes after the free, through events or the default stream (follow_event_dependencies);
//  - by any stream once the free has been reached (opportunistic), or, where that is not wanted, once a host thread has
//    synchronised after it;
//  - by a stream that is made to wait for the free, when there is no other memory (internal_dependencies).
// Memory above the release threshold goes back when a stream, an event or a context is synchronised.
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

// Which of the rules above hold beside the first one.
struct ReuseRules {
  bool follow_event_dependencies = true;
  bool opportunistic = true;
  bool internal_dependencies = true;
};

// Thread-safe.
class OrderedPool {
 public:
  using Stream = std::uint64_t;
  using Position = std::uint64_t;  // in a stream: larger is later
  using Ticket = std::uint64_t;    // one free that is under way

  // The stream that wants memory.
  class Client {
   public:
    virtual Stream stream() const = 0;
    // Whether what the stream does next is ordered after that point of another stream.
    virtual bool comes_after(Stream other, Position position) const = 0;
    // What it does next has to wait for this free, which has not been reached: what place() was given.
    virtual void wait_for(void* free) = 0;

   protected:
    ~Client() = default;
  };

  // `limit` of 0: as much as the heap has.
  OrderedPool(std::shared_ptr<Heap> heap, std::size_t limit);
  ~OrderedPool();
  OrderedPool(const OrderedPool&) = delete;
  OrderedPool& operator=(const OrderedPool&) = delete;

  // Throws OutOfMemory. The client is asked under the pool's lock: it must not use the pool.
  std::byte* allocate(std::size_t bytes, Client& client);
  // Memory that is the heap's already counts as allocated from here on.
  void adopt(std::byte* base, std::size_t bytes);

  // The block's last use is ordered before a point of `stream` that follows: say with `place` where it is (`free` is
  // for Client::wait_for and stays valid until the point is reached), and with `reached` when it is reached.
  Ticket free(std::byte* base, Stream stream);
  void place(Ticket ticket, Position position, void* free);
  void reached(Ticket ticket);
  // The block is not in use any more, on any stream.
  void free_now(std::byte* base);

  // A host thread has synchronised: who frees that have been reached belong to does not matter any more.
  void synchronized();
  // Gives free memory back, but keeps at least so many bytes reserved.
  void trim(std::size_t bytes_to_keep);
  // Gives free memory back until no more than the threshold is reserved.
  void trim_to_threshold();
  // From now on memory goes back as soon as it is free: nobody will allocate any more.
  void retire();

  std::uint64_t release_threshold() const;
  void set_release_threshold(std::uint64_t bytes);
  ReuseRules reuse_rules() const;
  void set_reuse_rule(bool ReuseRules::* rule, bool value);

  PoolUsage usage() const;
  void reset_reserved_high();
  void reset_used_high();

 private:
  using Available = std::multimap<std::size_t, std::byte*>;
  struct Block {
    std::byte* base = nullptr;
    std::size_t bytes = 0;  // whole pages
  };
  struct Freed {
    Block block;
    Stream stream = 0;
    Position position = kUnplaced;
    void* free = nullptr;
    bool reached = false;
  };
  static constexpr Position kUnplaced = ~Position{0};

  Block find_block(std::size_t bytes, Client& client);
  Block take_own(std::size_t bytes, Stream stream);
  Block take_available(std::size_t bytes);
  Block take_freed(std::size_t bytes, const Client& client);
  Block take_by_waiting(std::size_t bytes, Client& client);
  Block grow(std::size_t bytes);
  Block take_freed_block(Ticket ticket);
  Block take_block_in_use(std::byte* base);
  void make_available(Block block);
  void release(Block block);
  void trim_locked(std::size_t bytes_to_keep);
  Available::iterator release_available(Available::iterator block);
  void promote_reached();

  const std::shared_ptr<Heap> heap_;
  const std::size_t limit_;
  mutable std::mutex mutex_;
  std::unordered_map<std::byte*, std::size_t> in_use_;
  Available available_;                      // by size, for every stream
  std::unordered_map<Ticket, Freed> freed_;  // for some streams
  std::map<std::pair<Stream, std::size_t>, std::map<Ticket, std::byte*>> freed_by_stream_;
  std::map<std::pair<std::size_t, Ticket>, Freed*> freed_by_size_;
  Ticket next_ticket_ = 1;
  std::uint64_t release_threshold_ = 0;
  ReuseRules rules_;
  bool retired_ = false;
  PoolUsage usage_;
};

}  // namespace softgpu::memory
