// What streams, events and buffers hold. How each is released is settled when it is made, and works from any thread,
// with any or no context current, and while the process exits.
#pragma once

#include <atomic>
#include <cuprum/driver.hpp>
#include <cuprum/memory_resource.hpp>
#include <memory>

#include "core/closable.hpp"
#include "core/context.hpp"
#include "support/counted.hpp"

namespace cuprum::detail {

enum class Ownership { ours, foreign };

// Constructors acquire, so that there is a place for a handle before there is a handle.

struct StreamResource : support::Counted<StreamResource> {
  /// Creates a stream.
  StreamResource(const core::Context& the_context, const StreamOptions& options);
  /// Wraps one.
  StreamResource(const core::Context& the_context, CUstream the_handle) noexcept
      : context(the_context), ownership(Ownership::foreign), handle(the_handle) {}
  StreamResource(const StreamResource&) = delete;
  StreamResource& operator=(const StreamResource&) = delete;
  ~StreamResource();

  const core::Context& context;
  const Ownership ownership;
  const CUstream handle;
};

struct EventResource : support::Counted<EventResource> {
  /// Creates an event.
  EventResource(const core::Context& the_context, const EventOptions& the_options);
  /// Wraps one.
  EventResource(const core::Context& the_context, const EventOptions& the_options, CUevent the_handle) noexcept
      : context(the_context), ownership(Ownership::foreign), options(the_options), handle(the_handle) {}
  EventResource(const EventResource&) = delete;
  EventResource& operator=(const EventResource&) = delete;
  ~EventResource();

  const core::Context& context;
  const Ownership ownership;
  const EventOptions options;
  const CUevent handle;
  std::atomic<bool> recorded{false};  ///< only to say what is wrong when time can't be measured
};

struct BufferResource : support::Counted<BufferResource> {
  BufferResource(DevicePointer the_pointer, std::size_t the_size) noexcept : pointer(the_pointer), size(the_size) {}
  BufferResource(const BufferResource&) = delete;
  BufferResource& operator=(const BufferResource&) = delete;
  ~BufferResource();

  const DevicePointer pointer;
  const std::size_t size;
  std::shared_ptr<MemoryResource::Interface> memory;  ///< takes the memory back; null for a wrapped buffer
  std::shared_ptr<StreamResource> stream;             ///< in whose order it is taken back
  std::shared_ptr<void> owner;                        ///< of a wrapped buffer
  std::atomic<bool> reached{false};  ///< the stream is known to have reached the allocation, so the host may touch it
};

}  // namespace cuprum::detail
