// One device: what it is, and its memory.
#pragma once

#include <cuda.h>

#include <memory>
#include <optional>
#include <string>

#include "softgpu/memory/heap.hpp"
#include "softgpu/runtime/base/profile.hpp"

namespace softgpu::runtime {

struct Config;

class Device {
 public:
  Device(int ordinal, const Config& config, unsigned workers, memory::AddressSpace& space);

  int ordinal() const { return ordinal_; }
  const std::string& name() const { return name_; }
  const Profile& profile() const { return profile_; }
  unsigned compute_capability() const { return compute_capability_; }
  int multiprocessors() const { return multiprocessors_; }
  bool has_memory_pools() const { return has_memory_pools_; }
  CUuuid uuid() const;
  std::string pci_bus_id() const;
  // Empty for a number that is no attribute.
  std::optional<int> attribute(CUdevice_attribute attribute) const;

  const std::shared_ptr<memory::Heap>& heap() const { return heap_; }

 private:
  const int ordinal_;
  const unsigned compute_capability_;
  const Profile& profile_;
  const int multiprocessors_;
  const bool has_memory_pools_;
  const int cuda_version_;
  const std::string name_;
  const std::shared_ptr<memory::Heap> heap_;
};

}  // namespace softgpu::runtime
