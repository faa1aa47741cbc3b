// The shared pools that this process knows by name.
#pragma once

#include <cuprum/uuid.hpp>
#include <memory>

namespace cuprum::inline CUPRUM_ABI::detail {
class PoolMemory;
}

namespace cuprum::core {

/// The open pool that is registered by this name; null when there is none. Does not keep pools alive.
std::shared_ptr<detail::PoolMemory> find_registered(const Uuid& uuid);

/// Registers a pool, unless an open one is by this name; returns which is.
std::shared_ptr<detail::PoolMemory> register_pool(const Uuid& uuid, const std::shared_ptr<detail::PoolMemory>& pool);

}  // namespace cuprum::core
