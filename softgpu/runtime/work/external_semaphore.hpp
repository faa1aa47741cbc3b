// Semaphores from outside of CUDA that streams signal and wait for (cuImportExternalSemaphore).
//
// Vulkan, Direct3D and NvSci have no software device to share theirs with. What Linux itself lets processes pass on to
// each other are the two kinds that there are here: an eventfd (EventfdSemaphore), and a counter in shared memory
// (TimelineSemaphore).
#pragma once

#include <cuda.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <utility>

namespace softgpu::runtime {

class Context;
struct WorkServices;

// Thread-safe.
class ExternalSemaphore : public std::enable_shared_from_this<ExternalSemaphore> {
 public:
  // Takes the descriptor over when it succeeds. Throws CUDA_ERROR_NOT_SUPPORTED for kinds that there are not here,
  // CUDA_ERROR_INVALID_HANDLE for a descriptor that is not open for such a semaphore.
  static std::shared_ptr<ExternalSemaphore> import(std::shared_ptr<Context> context, CUexternalSemaphoreHandleType type,
                                                   int descriptor);
  virtual ~ExternalSemaphore() = default;
  ExternalSemaphore(const ExternalSemaphore&) = delete;
  ExternalSemaphore& operator=(const ExternalSemaphore&) = delete;

  // The context it was imported in.
  Context& context() const { return *context_; }

  // The value is for timelines. Neither blocks; both throw CUDA_ERROR_EXTERNAL_DEVICE.
  virtual void signal(std::uint64_t value) = 0;
  // Whether a wait is over: takes a signal, or sees that the value has been reached.
  virtual bool take(std::uint64_t value) = 0;

  // Calls `done` once `holds()`, which is asked whenever the semaphore may have been signalled and some times more, so
  // that it can look at other things, too. Both are called on a thread that the semaphore has while something waits for
  // it. Throws std::system_error when there are no more threads.
  void wait(std::function<bool()> holds, std::function<void()> done);

 protected:
  explicit ExternalSemaphore(std::shared_ptr<Context> context) : context_(std::move(context)) {}

  // Sleeping: what the semaphore is like, and until it is no longer like that, a while at most.
  virtual std::uint32_t state() const = 0;
  virtual void sleep(std::uint32_t state, std::chrono::microseconds limit) const = 0;

 private:
  struct Wait {
    std::function<bool()> holds;
    std::function<void()> done;
  };
  static void serve(std::shared_ptr<ExternalSemaphore> self);
  std::list<Wait> take_over(bool& any_left);

  const std::shared_ptr<Context> context_;
  std::mutex mutex_;
  std::list<Wait> waits_;
  bool has_thread_ = false;
};

// When a context goes: the semaphores that were imported in it lose their handles.
void drop_semaphores_of(WorkServices& services, const Context& context);

}  // namespace softgpu::runtime
