// Kernels: functions that run on a device.
#pragma once

#include <cstddef>
#include <cuprum/detail/cuda_handles.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/detail/shared.hpp>
#include <cuprum/device.hpp>
#include <functional>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cuprum::inline CUPRUM_ABI {

struct LaunchConfig;
class ObjectCode;

/// Typed accessors for what the driver knows of a kernel on a device; <cuda.h> says what each means. Those with a set_
/// function change it for all later launches on that device, whichever handle of the kernel they use; don't set while
/// another thread launches it. They throw InvalidArgument for values out of range, DriverError for what else the driver
/// refuses. (A launch that needs more dynamic shared memory than max_dynamic_shared_size_bytes raises that itself.)
class CUPRUM_API KernelAttributes {
 public:
#define CUPRUM_KERNEL_ATTRIBUTE(type, name, attribute) type name() const;
#define CUPRUM_SETTABLE_KERNEL_ATTRIBUTE(type, name, attribute) \
  type name() const;                                            \
  void set_##name(type value) const;
#include <cuprum/detail/kernel_attributes.def>

 private:
  friend class Kernel;
  KernelAttributes(std::shared_ptr<detail::KernelResource> kernel, Device device)
      : kernel_(std::move(kernel)), device_(device) {}
  std::shared_ptr<detail::KernelResource> kernel_;
  Device device_;
};

/// What KernelOccupancy::max_potential_block_size finds.
struct MaxPotentialBlockSize {
  int min_grid_size;   ///< blocks that fill the device
  int max_block_size;  ///< threads of a block
};

/// How many blocks of a kernel a device runs at once. All functions only compute.
class CUPRUM_API KernelOccupancy {
 public:
  /// Blocks of `block_size` threads, with that many bytes of dynamic shared memory each, that one multiprocessor runs
  /// at once; 0 when it can't run any.
  int max_active_blocks_per_multiprocessor(int block_size, std::size_t dynamic_shared_memory_size) const;
  /// The block size with the best occupancy; a limit of 0 is none.
  MaxPotentialBlockSize max_potential_block_size(std::size_t dynamic_shared_memory_needed, int block_size_limit) const;
  /// The same where the dynamic shared memory depends on the block size. The function is called several times, before
  /// this returns and on this thread; what it throws comes out here.
  MaxPotentialBlockSize max_potential_block_size(
      const std::function<std::size_t(int block_size)>& dynamic_shared_memory_needed, int block_size_limit) const;
  /// Bytes of dynamic shared memory that each block may have when this many blocks of `block_size` threads are to share
  /// a multiprocessor.
  std::size_t available_dynamic_shared_memory_per_block(int num_blocks_per_multiprocessor, int block_size) const;

  /// The blocks of the largest cluster that a launch like this on `stream` can have; its own `cluster` is ignored.
  int max_potential_cluster_size(const LaunchConfig& config, const Stream& stream) const;
  /// How many of the launch's clusters the device runs at once.
  int max_active_clusters(const LaunchConfig& config, const Stream& stream) const;

 private:
  friend class Kernel;
  KernelOccupancy(std::shared_ptr<detail::KernelResource> kernel, Device device)
      : kernel_(std::move(kernel)), device_(device) {}
  std::shared_ptr<detail::KernelResource> kernel_;
  Device device_;
};

/// Where a parameter lies among a kernel's arguments.
struct ParameterInfo {
  std::size_t offset;  ///< bytes from the first argument
  std::size_t size;    ///< in bytes
  bool operator==(const ParameterInfo&) const = default;
};

/// A cheap handle: copies share one kernel, which keeps the code it belongs to loaded. Threads may share it. Made by
/// ObjectCode::get_kernel; started by launch().
class CUPRUM_API Kernel {
 public:
  /// An empty handle, for a variable that gets its value later; to use it before throws InvalidArgument.
  Kernel() = default;

  /// Wraps a kernel of a library that somebody else keeps loaded; `owner` is kept alive as long as the kernel.
  static Kernel from_handle(CUkern_st* handle, std::shared_ptr<void> owner = nullptr);
  /// Wraps a kernel of `code`, which it keeps loaded. Throws InvalidArgument when the kernel is of another library.
  static Kernel from_handle(CUkern_st* handle, const ObjectCode& code);

  /// What the driver knows of it on a device.
  KernelAttributes attributes(Device device = Device()) const { return {resource(), device}; }
  /// How many of its blocks a device runs at once.
  KernelOccupancy occupancy(Device device = Device()) const { return {resource(), device}; }

  /// How many parameters it declares. Throws NotSupported with drivers older than CUDA 12.4, which don't tell.
  std::size_t num_arguments() const { return arguments_info().size(); }
  /// Where each parameter lies, in the order of the declaration. Throws like num_arguments(). Valid as long as the
  /// kernel.
  const std::vector<ParameterInfo>& arguments_info() const;

  /// The same where an exception would be in the way: none with drivers that don't tell. Valid as long as the kernel.
  std::optional<std::span<const ParameterInfo>> known_arguments_info() const;

  /// Loads the kernel for the context that functions of `device` use on this thread, so that its first launch there
  /// need not do that; otherwise the driver may put it off, and compiling PTX with it. Does nothing more when it is
  /// loaded. Throws DriverError when the driver can't.
  void load(const Device& device = Device()) const;

  /// The symbol in the object code.
  const std::string& name() const;
  /// Null for an empty handle.
  CUkern_st* handle() const;

  /// By handle; empty ones are equal.
  friend bool operator==(const Kernel& a, const Kernel& b) { return a.handle() == b.handle(); }

 private:
  friend struct detail::Access;
  const std::shared_ptr<detail::KernelResource>& resource() const;
  explicit Kernel(std::shared_ptr<detail::KernelResource> resource) : resource_(std::move(resource)) {}
  std::shared_ptr<detail::KernelResource> resource_;
};

/// Prints "kernel scale", by the symbol, or "an empty kernel".
CUPRUM_API std::ostream& operator<<(std::ostream& out, const Kernel& kernel);

}  // namespace cuprum::inline CUPRUM_ABI

/// By handle, as kernels are compared.
template <>
struct std::hash<cuprum::Kernel> {
  std::size_t operator()(const cuprum::Kernel& kernel) const { return std::hash<CUkern_st*>{}(kernel.handle()); }
};
