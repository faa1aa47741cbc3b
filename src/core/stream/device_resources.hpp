// Resources of devices, as the driver has them: CUdevResource, and what newer headers than CUDA 13.0's say of it.
#pragma once

#include <bit>
#include <cuprum/device_resources.hpp>
#include <cuprum/driver.hpp>
#include <span>
#include <vector>

#include "core/stream/resources.hpp"

namespace cuprum::inline CUPRUM_ABI::detail {

/// What copies of an SMResource share; never changes.
class SMResourceState {
 public:
  enum class Use { usable, trial, empty };

  /// How finely multiprocessors can be divided. Drivers leave it out of what they have divided, and take no resource in
  /// which it was filled in.
  struct Granularity {
    unsigned smallest, alignment;
  };

  SMResourceState(const CUdevResource& the_resource, const Granularity& the_granularity, int the_device, Use the_use)
      : resource(the_resource), granularity(the_granularity), device(the_device), use(the_use) {}

  static SMResource make(const CUdevResource& resource, const Granularity& granularity, int device, Use use);
  /// As the driver gave it.
  static SMResource make(const CUdevResource& resource, int device);
  /// Null for nothing.
  static const SMResourceState* of(const SMResource& resource) { return resource.state_.get(); }
  /// Throws InvalidArgument for nothing.
  static const SMResourceState& required(const SMResource& resource);

  const CUdevResource resource;  ///< whole and unchanged: the driver compares it with what it made
  const Granularity granularity;
  const int device;
  const Use use;  ///< of what a trial has made, or has no multiprocessors, no context can be made
};

/// The driver's configuration of workqueues, which CUdevResource holds since CUDA 13.1.
struct WorkqueueConfig {
  CUdevice device;
  unsigned concurrency_limit;
  int sharing_scope;
};

/// What copies of a WorkqueueResource share.
class WorkqueueResourceState {
 public:
  WorkqueueResourceState(const CUdevResource& the_resource) : resource(the_resource) {}

  static WorkqueueResource make(const CUdevResource& resource);
  /// Throws InvalidArgument for nothing.
  static WorkqueueResourceState& required(const WorkqueueResource& resource);

  WorkqueueConfig config() const;
  void set_config(const WorkqueueConfig& config);

  CUdevResource resource;
};

/// Where resources are asked for: a device, or a context.
class ResourceSource {
 public:
  ResourceSource(int the_device, Kept<ContextResource> the_context)
      : device(the_device), context(std::move(the_context)) {}

  static DeviceResources make(int device, Kept<ContextResource> context);
  CUdevResource ask(CUdevResourceType type, const char* what) const;

  const int device;
  const Kept<ContextResource> context;  ///< nothing: the device
};

}  // namespace cuprum::inline CUPRUM_ABI::detail

namespace cuprum::core {

/// CU_DEV_RESOURCE_TYPE_WORKQUEUE_CONFIG, in <cuda.h> since CUDA 13.1.
inline CUdevResourceType workqueue_config_type() { return std::bit_cast<CUdevResourceType>(1000U); }

/// What a device has.
DeviceResources resources_of(int device);
/// What a context was given.
DeviceResources resources_of(detail::Kept<detail::ContextResource> context);

/// As the driver takes them for a green context. Throws InvalidArgument for those of another device, of a trial, and
/// for nothing.
std::vector<CUdevResource> checked_resources(int device, std::span<const DeviceResource> resources);

}  // namespace cuprum::core
