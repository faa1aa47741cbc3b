#include "core/memory/pool_registry.hpp"

#include <map>
#include <mutex>

#include "core/memory/memory_pool.hpp"

namespace cuprum::core {
namespace {

struct Pools {
  std::mutex mutex;
  std::map<Uuid, std::weak_ptr<detail::PoolMemory>> pools;
};

// Never destroyed, because memory resources in static variables may outlive it otherwise.
Pools& all_pools() {
  static Pools& all = *new Pools;
  return all;
}

std::shared_ptr<detail::PoolMemory> find(const Pools& all, const Uuid& uuid) {
  const auto found = all.pools.find(uuid);
  if (found == all.pools.end()) return nullptr;
  auto pool = found->second.lock();
  return pool && pool->is_open() ? pool : nullptr;
}

}  // namespace

std::shared_ptr<detail::PoolMemory> find_registered(const Uuid& uuid) {
  std::lock_guard lock(all_pools().mutex);
  return find(all_pools(), uuid);
}

std::shared_ptr<detail::PoolMemory> register_pool(const Uuid& uuid, const std::shared_ptr<detail::PoolMemory>& pool) {
  std::lock_guard lock(all_pools().mutex);
  if (auto known = find(all_pools(), uuid)) return known;
  std::erase_if(all_pools().pools, [](const auto& entry) { return entry.second.expired(); });
  all_pools().pools.insert_or_assign(uuid, pool);
  return pool;
}

}  // namespace cuprum::core
