// What the descriptors hold, for the library itself.
#pragma once

#include <cuprum/ipc.hpp>
#include <memory>

#include "core/base/closable.hpp"
#include "core/ipc/wire.hpp"
#include "support/file_descriptor.hpp"

namespace cuprum::core {

/// What is known about a shared pool.
struct PoolIdentity {
  detail::IpcOrigin origin;  ///< zeros when not known
  wire::Place place = wire::Place::unknown;
  std::optional<Uuid> uuid;
};

/// This process as an exporter. Drawn at the first call.
const Uuid& this_process();

}  // namespace cuprum::core

namespace cuprum::inline CUPRUM_ABI::detail {

struct AllocationHandleResource {
  std::shared_ptr<const support::FileDescriptor> descriptor;  ///< shared with the memory resource
  core::PoolIdentity identity;

  std::uint64_t number() const noexcept { return 0; }
};

/// The way into the descriptors, which are plain values.
struct IpcAccess {
  static IPCBufferDescriptor buffer(const IpcOrigin& origin, const Uuid& pool, std::size_t size,
                                    const IpcPayload& payload) {
    IPCBufferDescriptor descriptor;
    descriptor.origin_ = origin;
    descriptor.pool_ = pool;
    descriptor.size_ = size;
    descriptor.payload_ = payload;
    return descriptor;
  }

  static IPCEventDescriptor event(const IpcOrigin& origin, bool blocking_sync, const IpcPayload& payload) {
    IPCEventDescriptor descriptor;
    descriptor.origin_ = origin;
    descriptor.blocking_sync_ = blocking_sync;
    descriptor.payload_ = payload;
    return descriptor;
  }

  template <typename Descriptor>
  static const IpcOrigin& origin(const Descriptor& descriptor) {
    return descriptor.origin_;
  }
  template <typename Descriptor>
  static const IpcPayload& payload(const Descriptor& descriptor) {
    return descriptor.payload_;
  }
};

}  // namespace cuprum::inline CUPRUM_ABI::detail
