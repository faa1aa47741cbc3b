// Pools of managed memory, which are never destroyed.
#pragma once

#include <cuprum/driver.hpp>

namespace cuprum::core {

/// A pool with these properties for one user: one that nobody uses any more, set back to how a new one is, or a new
/// one. Threads may call it.
///
/// Destroying a pool of managed memory is not safe with NVIDIA's driver 580: it can wait for work that is queued, and
/// later calls crash. So there are as many of them as were ever in use at once.
CUmemoryPool acquire_managed_pool(const CUmemPoolProps& properties);

/// The user is done with it. Memory that is in use stays valid; the rest goes back to the system.
void give_back_managed_pool(CUmemoryPool pool) noexcept;

}  // namespace cuprum::core
