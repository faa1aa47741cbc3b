// One device: what it is, its memory, and its primary context.
#pragma once

#include <cuda.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "softgpu/memory/heap.hpp"
#include "softgpu/runtime/base/profile.hpp"

namespace softgpu::runtime {

class Context;
struct Config;

// Thread-safe.
class Device {
 public:
  Device(int ordinal, const Config& config, unsigned workers, memory::AddressSpace& space);

  int ordinal() const { return ordinal_; }
  const std::string& name() const { return name_; }
  const Profile& profile() const { return profile_; }
  unsigned compute_capability() const { return compute_capability_; }
  int multiprocessors() const { return multiprocessors_; }
  CUuuid uuid() const;
  std::string pci_bus_id() const;
  // Empty for a number that is no attribute.
  std::optional<int> attribute(CUdevice_attribute attribute) const;

  const std::shared_ptr<memory::Heap>& heap() const { return heap_; }

  // The primary context keeps its handle for the life of the process; it is there from the
  // first retain to the last release, or to a reset.
  CUcontext retain_primary();
  void release_primary();
  void reset_primary();
  bool primary_active() const;
  unsigned primary_flags() const;
  void set_primary_flags(unsigned flags);

 private:
  void deactivate_primary(std::unique_lock<std::mutex>& lock, bool cancel);

  const int ordinal_;
  const unsigned compute_capability_;
  const Profile& profile_;
  const int multiprocessors_;
  const std::string name_;
  const std::shared_ptr<memory::Heap> heap_;

  mutable std::mutex mutex_;
  CUcontext primary_ = nullptr;
  unsigned primary_flags_ = CU_CTX_SCHED_AUTO;
  unsigned primary_uses_ = 0;
  bool primary_active_ = false;
};

}  // namespace softgpu::runtime
