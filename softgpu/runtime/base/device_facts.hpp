// What a device is, without anything that it has: what libcuda.so.1 and libnvidia-ml.so.1 tell of it alike.
#pragma once

#include <cuda.h>

#include <optional>
#include <string>

#include "softgpu/runtime/base/profile.hpp"

namespace softgpu::runtime {

struct Config;

class DeviceFacts {
 public:
  // `config` is complete: see completed().
  DeviceFacts(int ordinal, const Config& config);

  int ordinal() const { return ordinal_; }
  // Which of the machine's devices it is: its ordinal, until the process is restored on other devices.
  int unit() const { return unit_; }
  const std::string& name() const { return name_; }
  const Profile& profile() const { return profile_; }
  unsigned compute_capability() const { return compute_capability_; }
  int multiprocessors() const { return multiprocessors_; }
  bool has_memory_pools() const { return has_memory_pools_; }
  std::size_t memory_bytes() const { return memory_bytes_; }  // of the device of this ordinal
  CUuuid uuid() const { return uuid_of(unit()); }
  static CUuuid uuid_of(int unit);
  std::string pci_bus_id() const;
  // Empty for a number that is no attribute.
  std::optional<int> attribute(CUdevice_attribute attribute) const;

 protected:
  // Only while no call is in the driver.
  void set_unit(int unit) { unit_ = unit; }

 private:
  const int ordinal_;
  int unit_;
  const unsigned compute_capability_;
  const Profile& profile_;
  const int multiprocessors_;
  const bool has_memory_pools_;
  const int cuda_version_;
  const std::size_t memory_bytes_;
  const std::string name_;
};

}  // namespace softgpu::runtime
