// What streams and events hold. How each is released is settled when it is made, and works from any thread,
// with any or no context current, and while the process exits.
#pragma once

#include <atomic>
#include <cuprum/driver.hpp>
#include <memory>
#include <thread>

#include "core/base/closable.hpp"
#include "core/base/context.hpp"
#include "support/counted.hpp"

namespace cuprum::inline CUPRUM_ABI::detail {

enum class Ownership { ours, foreign };

// Constructors acquire, so that there is a place for a handle before there is a handle.

/// A context that we created. It is destroyed when nothing that was made in it is left.
struct OwnedContext : support::Counted<OwnedContext> {
  /// Throws InvalidArgument for options that make no sense together, or on this device.
  OwnedContext(int device, const ContextOptions& options);
  OwnedContext(const OwnedContext&) = delete;
  OwnedContext& operator=(const OwnedContext&) = delete;
  ~OwnedContext();

  const core::ContextRecord& context;
};

/// A context that a Context stands for.
struct ContextResource {
  std::uint64_t number() const noexcept { return reinterpret_cast<std::uintptr_t>(&context); }

  const core::ContextRecord& context;
  const std::shared_ptr<OwnedContext> owned = context.owner.lock();  ///< when it is one that we created
};

struct StreamResource : support::Counted<StreamResource> {
  /// Creates a stream. The context must be current.
  StreamResource(const core::ContextRecord& the_context, const StreamOptions& options);
  /// Wraps one; `owner` is kept as long.
  StreamResource(const core::ContextChoice& the_context, CUstream the_handle, std::shared_ptr<const void> owner = {});
  /// A default stream that is never destroyed.
  struct Permanent {};
  StreamResource(const core::ContextChoice& the_context, CUstream the_handle, Permanent) noexcept
      : Counted(Uncounted()), ownership(Ownership::foreign), handle(the_handle), context_(the_context) {}
  StreamResource(const StreamResource&) = delete;
  StreamResource& operator=(const StreamResource&) = delete;
  ~StreamResource();

  std::uint64_t number() const noexcept { return reinterpret_cast<std::uintptr_t>(handle); }

  /// Where its work is done. A ContextGuard takes this; default streams find out at each use.
  const core::ContextChoice& context() const noexcept { return context_; }

  const Ownership ownership;
  const CUstream handle;
  const std::thread::id maker = std::this_thread::get_id();  ///< says whose a per-thread default stream is

 private:
  const core::ContextChoice context_;
  const std::shared_ptr<const void> parent_;  ///< the context, when it is one that we created, or a foreign owner
};

struct EventResource : support::Counted<EventResource> {
  /// Creates an event. The context must be current.
  EventResource(const core::ContextRecord& the_context, const EventOptions& the_options);
  /// Wraps one.
  EventResource(const core::ContextRecord& the_context, const EventOptions& the_options, CUevent the_handle,
                Ownership the_ownership = Ownership::foreign);
  /// Opens one of another process. The context must be current.
  EventResource(const core::ContextRecord& the_context, const IPCEventDescriptor& descriptor);
  EventResource(const EventResource&) = delete;
  EventResource& operator=(const EventResource&) = delete;
  ~EventResource();

  std::uint64_t number() const noexcept { return reinterpret_cast<std::uintptr_t>(handle); }

  const core::ContextRecord& context;
  const Ownership ownership;
  const EventOptions options;
  const CUevent handle;
  std::atomic<bool> recorded{false};                         ///< only to say what is wrong when time can't be measured
  const std::optional<IPCEventDescriptor> imported_by = {};  ///< for one of another process

 private:
  const std::shared_ptr<const void> parent_;  ///< the context, when it is one that we created
};

}  // namespace cuprum::inline CUPRUM_ABI::detail

namespace cuprum::core {

/// A handle for a context; it shares the ownership of one that we created.
Context context_handle(const ContextRecord& context);

}  // namespace cuprum::core
