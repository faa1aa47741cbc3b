// The context of a device that all parts of a program share.
#pragma once

#include <cuda.h>

#include <mutex>

namespace softgpu::runtime {

class Device;
struct WorkServices;

// Keeps its handle for the life of the process; the context is there from the first retain to the last release, or to a
// reset. Thread-safe.
class PrimaryContext {
 public:
  PrimaryContext(WorkServices& services, Device& device) : services_(services), device_(device) {}

  CUcontext retain();
  void release();  // throws CUDA_ERROR_INVALID_CONTEXT when nobody has retained it
  void reset();
  bool active() const;
  unsigned flags() const;
  void set_flags(unsigned flags);

 private:
  void deactivate(std::unique_lock<std::mutex>& lock, bool cancel);

  WorkServices& services_;
  Device& device_;
  mutable std::mutex mutex_;
  CUcontext handle_ = nullptr;
  unsigned flags_ = CU_CTX_SCHED_AUTO;
  unsigned uses_ = 0;
  bool active_ = false;
};

}  // namespace softgpu::runtime
