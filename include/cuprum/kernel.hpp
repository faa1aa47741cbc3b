// Kernels: functions that run on a device.
#pragma once

#include <cstddef>
#include <cuprum/detail/cuda_handles.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/detail/shared.hpp>
#include <cuprum/device.hpp>
#include <iosfwd>
#include <string>
#include <vector>

namespace cuprum {

/// Typed accessors for what the driver knows of a kernel on a device; <cuda.h> says what each means.
class CUPRUM_API KernelAttributes {
 public:
#define CUPRUM_KERNEL_ATTRIBUTE(type, name, attribute) type name() const;
#include <cuprum/detail/kernel_attributes.def>

 private:
  friend class Kernel;
  KernelAttributes(std::shared_ptr<detail::KernelResource> kernel, Device device)
      : kernel_(std::move(kernel)), device_(device) {}
  std::shared_ptr<detail::KernelResource> kernel_;
  Device device_;
};

struct MaxPotentialBlockSize {
  int min_grid_size;   ///< blocks that fill the device
  int max_block_size;  ///< threads of a block
};

/// How many blocks of a kernel a device runs at once.
class CUPRUM_API KernelOccupancy {
 public:
  int max_active_blocks_per_multiprocessor(int block_size, std::size_t dynamic_shared_memory_size) const;
  /// The block size with the best occupancy; a limit of 0 is none.
  MaxPotentialBlockSize max_potential_block_size(std::size_t dynamic_shared_memory_needed, int block_size_limit) const;
  std::size_t available_dynamic_shared_memory_per_block(int num_blocks_per_multiprocessor, int block_size) const;

 private:
  friend class Kernel;
  KernelOccupancy(std::shared_ptr<detail::KernelResource> kernel, Device device)
      : kernel_(std::move(kernel)), device_(device) {}
  std::shared_ptr<detail::KernelResource> kernel_;
  Device device_;
};

/// Where a parameter lies among a kernel's arguments.
struct ParameterInfo {
  std::size_t offset;
  std::size_t size;
  bool operator==(const ParameterInfo&) const = default;
};

/// A cheap handle: copies share one kernel, which keeps the code it belongs to loaded. Threads may share it. Made by
/// ObjectCode::get_kernel; started by launch().
class CUPRUM_API Kernel {
 public:
  /// Wraps a kernel of a library that somebody else keeps loaded.
  static Kernel from_handle(CUkern_st* handle);

  KernelAttributes attributes(Device device = Device()) const { return {resource_, device}; }
  KernelOccupancy occupancy(Device device = Device()) const { return {resource_, device}; }

  /// Throws NotSupported with drivers older than CUDA 12.4, which don't tell.
  std::size_t num_arguments() const { return arguments_info().size(); }
  const std::vector<ParameterInfo>& arguments_info() const;

  /// The symbol in the object code.
  const std::string& name() const;
  CUkern_st* handle() const;

  friend bool operator==(const Kernel& a, const Kernel& b) { return a.handle() == b.handle(); }

 private:
  friend struct detail::Access;
  explicit Kernel(std::shared_ptr<detail::KernelResource> resource) : resource_(std::move(resource)) {}
  std::shared_ptr<detail::KernelResource> resource_;
};

CUPRUM_API std::ostream& operator<<(std::ostream& out, const Kernel& kernel);

}  // namespace cuprum
