// The memory resources that are there once per process.
#pragma once

#include <cuprum/buffer.hpp>
#include <cuprum/memory_resource.hpp>
#include <cuprum/stream.hpp>
#include <memory>

namespace cuprum::core {

/// A device's memory from its current pool, or one by one where there are no pools.
std::shared_ptr<MemoryResource::Interface> default_device_memory(int device);

/// Page-locked host memory from the driver's current pool, or one by one.
std::shared_ptr<MemoryResource::Interface> default_pinned_memory();

/// What Device::memory_resource() gives.
MemoryResource memory_resource_of(int device);
void set_memory_resource_of(int device, MemoryResource resource);

/// What Device::allocate() does: allocates from that.
Buffer allocate_on(int device, std::size_t size, const Stream& stream);

/// The default stream of the resource's device, or of the current one.
Stream default_stream_of(const MemoryResource& resource);

}  // namespace cuprum::core
