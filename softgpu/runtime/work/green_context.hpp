// A green context: some of a device's multiprocessors, for streams of the device's primary context.
//
// Memory, code and events are the primary context's. What is a green context's own are its streams, the default stream
// among them: their kernels run on the seats that stand for its multiprocessors, and nowhere else.
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "softgpu/exec/seat_set.hpp"
#include "softgpu/runtime/base/handles.hpp"
#include "softgpu/runtime/base/multiprocessors.hpp"
#include "softgpu/runtime/work/gate.hpp"

namespace softgpu::runtime {

class Context;
class Stream;

// Thread-safe.
class GreenContext : public std::enable_shared_from_this<GreenContext> {
 public:
  // With its default stream, which is why a constructor does not do.
  static std::shared_ptr<GreenContext> create(std::shared_ptr<Context> primary, MultiprocessorSet multiprocessors,
                                              PartitionRules rules);

  Context& context() const { return *context_; }
  std::uint64_t id() const { return id_; }
  const MultiprocessorSet& multiprocessors() const { return multiprocessors_; }
  PartitionRules rules() const { return rules_; }
  // Where its kernels run.
  const std::shared_ptr<const exec::SeatSet>& seats() const { return seats_; }

  Stream& default_stream() const { return *default_stream_; }
  std::shared_ptr<Stream> shared_default_stream();
  Gate& gate() { return gate_; }

  // Blocks until everything in its streams is done.
  void wait_idle();

  // It, and the context that it is converted to.
  CUgreenCtx handle() const { return handle_; }
  CUcontext context_handle() const { return context_handle_; }

  // Its streams are of no use any more.
  bool destroyed() const { return destroyed_.load(); }
  void set_destroyed() { destroyed_ = true; }

 private:
  friend class GreenContexts;
  GreenContext(std::shared_ptr<Context> primary, MultiprocessorSet multiprocessors, PartitionRules rules);

  const std::shared_ptr<Context> context_;
  const std::uint64_t id_;
  const MultiprocessorSet multiprocessors_;
  const PartitionRules rules_;
  const std::shared_ptr<const exec::SeatSet> seats_;
  Gate gate_;
  std::atomic<bool> destroyed_{false};
  CUgreenCtx handle_ = nullptr;
  CUcontext context_handle_ = nullptr;
  std::unique_ptr<Stream> default_stream_;
};

// All green contexts, by their handles and by those of the contexts that they are converted to. Most programs have
// none, which the count says without a lock. Thread-safe.
class GreenContexts {
 public:
  explicit GreenContexts(HandleTable<CUcontext, Context>& contexts) : contexts_(contexts) {}

  void add(const std::shared_ptr<GreenContext>& green);
  // Null for what is not, or no longer, a green context.
  std::shared_ptr<GreenContext> find(CUgreenCtx handle) const { return handles_.find(handle); }
  std::shared_ptr<GreenContext> find(CUcontext converted) const;
  // Its handles are no longer valid. False when somebody else has removed it.
  bool remove(GreenContext& green);
  // Those of a context that ends. Returns how many there were.
  unsigned remove_all_of(const Context& context);

 private:
  HandleTable<CUcontext, Context>& contexts_;
  HandleTable<CUgreenCtx, GreenContext> handles_;
  std::atomic<std::size_t> count_{0};
  mutable std::mutex mutex_;
  std::unordered_map<CUcontext, std::shared_ptr<GreenContext>> by_context_;
};

}  // namespace softgpu::runtime
