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

struct StreamResource : support::Counted<StreamResource> {
  StreamResource(CUstream the_handle, const core::Context& the_context, Ownership the_ownership) noexcept
      : handle(the_handle), context(the_context), ownership(the_ownership) {}
  StreamResource(const StreamResource&) = delete;
  StreamResource& operator=(const StreamResource&) = delete;
  ~StreamResource();

  const CUstream handle;
  const core::Context& context;
  const Ownership ownership;
};

struct EventResource : support::Counted<EventResource> {
  EventResource(CUevent the_handle, const core::Context& the_context, Ownership the_ownership,
                EventOptions the_options) noexcept
      : handle(the_handle), context(the_context), ownership(the_ownership), options(the_options) {}
  EventResource(const EventResource&) = delete;
  EventResource& operator=(const EventResource&) = delete;
  ~EventResource();

  const CUevent handle;
  const core::Context& context;
  const Ownership ownership;
  const EventOptions options;
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

namespace cuprum::core {

std::shared_ptr<detail::EventResource> create_event(const Context& context, const EventOptions& options);
std::shared_ptr<detail::StreamResource> create_stream(const Context& context, const StreamOptions& options);

/// A wrapper of the legacy default stream of a context.
std::shared_ptr<detail::StreamResource> default_stream(const Context& context);

}  // namespace cuprum::core
