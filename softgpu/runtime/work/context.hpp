// A context: streams, memory, modules and the error that ended it.
#pragma once

#include <cuda.h>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "softgpu/exec/device_heap.hpp"
#include "softgpu/exec/grid.hpp"
#include "softgpu/memory/kernel_heap.hpp"
#include "softgpu/runtime/work/gate.hpp"
#include "softgpu/runtime/work/stream_set.hpp"
#include "softgpu/usage/page.hpp"

namespace softgpu::runtime {

class Device;
class GreenContext;
struct WorkServices;

// Of contexts and green contexts: no two have the same.
std::uint64_t next_context_id();

// Thread-safe.
class Context : public std::enable_shared_from_this<Context> {
 public:
  // With its legacy stream, which is why a constructor does not do.
  static std::shared_ptr<Context> create(WorkServices& services, Device& device, unsigned flags, bool primary);

  // What remains valid of it: nothing. Waits for its work; with `cancel`, kernels stop at the next block.
  // Its streams and events lose their handles, and others give up what they hold of it (WorkServices::at_context_end).
  void destroy(bool cancel);

  bool destroyed() const { return destroyed_.load(); }

  WorkServices& work() const { return services_; }
  Device& device() const { return device_; }
  std::uint64_t id() const { return id_; }
  bool primary() const { return primary_; }
  unsigned flags() const { return flags_.load(); }
  void set_flags(unsigned flags) { flags_ = flags; }

  CUcontext handle() const { return handle_; }
  void set_handle(CUcontext handle) { handle_ = handle; }

  // The usage count of cuCtxAttach and cuCtxDetach, 1 at first; detach() returns what is left of it.
  void attach() { ++uses_; }
  unsigned detach() { return --uses_; }

  Stream& legacy_stream() const { return *legacy_stream_; }
  std::shared_ptr<Stream> shared_legacy_stream() { return {shared_from_this(), legacy_stream_.get()}; }
  // The calling thread's default stream, in the context itself or in a green one of it.
  std::shared_ptr<Stream> per_thread_stream(GreenContext* green = nullptr);
  StreamSet& streams() { return streams_; }
  // What later work of all its streams waits for, those of its green contexts included.
  Gate& gate() { return gate_; }

  // Blocks until everything in all streams is done.
  void wait_idle();

  // The sticky error: the first failure of a kernel. Everything afterwards is refused with it.
  CUresult error() const { return error_.load(std::memory_order_acquire); }
  void record_outcome(exec::Outcome outcome, std::string_view reason = {});
  void fail(CUresult error, std::string_view reason = {}) noexcept;
  std::string error_reason() const;  // in words, where there are any
  const std::shared_ptr<std::atomic<bool>>& cancel_flag() const { return cancel_; }

  std::size_t limit(CUlimit limit) const;
  void set_limit(CUlimit limit, std::size_t value);
  // What malloc() and free() of its kernels use. The limit CU_LIMIT_MALLOC_HEAP_SIZE is fixed from here on.
  exec::DeviceHeap& kernel_heap();
  // Contexts of other devices whose memory it may use. False when that is so, or not so, already.
  bool enable_peer(std::uint64_t context_id);
  bool disable_peer(std::uint64_t context_id);
  bool has_peer(std::uint64_t context_id) const;
  // Of peer_access.cpp, which keeps here what it has found out.
  std::atomic<std::uint64_t>& note_of_denied_memory() const { return denied_memory_; }
  // What others see of this process's use of the device.
  usage::DeviceCounters& counters() const;
  CUfunc_cache cache_config() const { return cache_config_; }
  void set_cache_config(CUfunc_cache config) { cache_config_ = config; }

 private:
  Context(WorkServices& services, Device& device, unsigned flags, bool primary);

  class KernelHeap final : public exec::DeviceHeap {
   public:
    KernelHeap(std::shared_ptr<memory::Heap> device, std::size_t limit) : heap_(std::move(device), limit) {}
    void* allocate(std::size_t bytes) noexcept override { return heap_.allocate(bytes); }
    bool release(void* memory) noexcept override { return heap_.release(memory); }

   private:
    memory::KernelHeap heap_;
  };

  WorkServices& services_;
  Device& device_;
  const std::uint64_t id_;
  const bool primary_;
  std::atomic<unsigned> flags_;
  CUcontext handle_ = nullptr;
  std::atomic<unsigned> uses_{1};
  std::atomic<bool> destroyed_{false};
  std::atomic<CUresult> error_{CUDA_SUCCESS};
  const std::shared_ptr<std::atomic<bool>> cancel_ = std::make_shared<std::atomic<bool>>(false);
  std::array<std::atomic<std::size_t>, CU_LIMIT_MAX> limits_;
  std::atomic<CUfunc_cache> cache_config_{CU_FUNC_CACHE_PREFER_NONE};
  mutable std::mutex mutex_;  // peers_, error_reason_, kernel_heap_
  std::set<std::uint64_t> peers_;
  mutable std::atomic<std::uint64_t> denied_memory_{0};
  std::string error_reason_;
  std::unique_ptr<KernelHeap> kernel_heap_;
  StreamSet streams_;
  Gate gate_;
  std::unique_ptr<Stream> legacy_stream_;
};

// The contexts that the calling thread has made current, the innermost last. Handles, because a context may be
// destroyed by another thread while it is on the stack.
namespace context_stack {

CUcontext current();  // null: none
void set_current(CUcontext handle);
void push(CUcontext handle);
CUcontext pop();  // throws CUDA_ERROR_INVALID_CONTEXT when empty

}  // namespace context_stack

// The calling thread's current context, whatever its state. Throws CUDA_ERROR_INVALID_CONTEXT when there is none and
// CUDA_ERROR_CONTEXT_IS_DESTROYED when it is gone.
std::shared_ptr<Context> current_context(const WorkServices& services);

}  // namespace softgpu::runtime
