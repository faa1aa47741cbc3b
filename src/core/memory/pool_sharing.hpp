// What makes a memory pool one that processes share.
#pragma once

#include <mutex>

#include "core/ipc/resources.hpp"
#include "core/memory/pool_imports.hpp"

namespace cuprum::core {

struct PoolPlace;

class PoolSharing {
 public:
  PoolSharing(std::shared_ptr<const support::FileDescriptor> descriptor, const PoolIdentity& identity, bool is_mapped)
      : descriptor_(std::move(descriptor)),
        identity_(identity),
        imports_(is_mapped ? std::make_unique<PoolImports>() : nullptr) {}

  /// Whether the pool is another process's. Only then there are imports.
  bool is_mapped() const { return imports_ != nullptr; }
  PoolImports& imports() const { return *imports_; }

  PoolIdentity identity() const {
    std::lock_guard lock(mutex_);
    return identity_;
  }

  /// Gives it a name if it has none; returns the name it has then.
  Uuid name(const Uuid& uuid) {
    std::lock_guard lock(mutex_);
    if (!identity_.uuid) identity_.uuid = uuid;
    return *identity_.uuid;
  }

  /// A new handle to the pool. Closing it does not close the one here.
  IPCAllocationHandle handle() const {
    std::lock_guard lock(mutex_);
    return detail::Access::make<IPCAllocationHandle, detail::AllocationHandleResource>(
        detail::AllocationHandleResource{descriptor_, identity_});
  }

  /// The pool is closed. Handles to it stay good, and so do imports.
  void close() noexcept {
    std::lock_guard lock(mutex_);
    descriptor_.reset();
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const support::FileDescriptor> descriptor_;
  PoolIdentity identity_;
  const std::unique_ptr<PoolImports> imports_;
};

/// Exports a pool of this process.
std::unique_ptr<PoolSharing> share_pool(CUmemoryPool pool, const PoolPlace& place);

}  // namespace cuprum::core
