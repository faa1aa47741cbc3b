#include "core/memory/managed_pools.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

#include "core/memory/memory_pool.hpp"
#include "driver/usable.hpp"
#include "support/text.hpp"

namespace cuprum::core {
namespace {

using driver::Api;
using driver::Doing;
using support::text;

struct ManagedPool {
  CUmemLocation location;
  CUmemoryPool handle;
  bool is_idle;
};

struct ManagedPools {
  std::mutex mutex;
  std::vector<ManagedPool> pools;
};

// Never destroyed, because memory resources in static variables may outlive it otherwise.
ManagedPools& managed_pools() {
  static ManagedPools& the_pools = *new ManagedPools;
  return the_pools;
}

// Buffers may outlive the resource that they are from; their pool can't pass for a new one.
bool has_buffers(CUmemoryPool pool) {
  cuuint64_t bytes = 0;
  driver::call<&Api::cuMemPoolGetAttribute>(
      Doing{[] { return "asking whether a pool of managed memory can be used again"; }}, pool,
      CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &bytes);
  return bytes != 0;
}

template <typename T>
void set(CUmemoryPool pool, CUmemPool_attribute attribute, T value) {
  driver::call<&Api::cuMemPoolSetAttribute>(
      Doing{[] { return "setting a pool of managed memory back to how a new one is"; }}, pool, attribute, &value);
}

void make_as_new(CUmemoryPool pool) {
  for (const CUmemPool_attribute policy :
       {CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC,
        CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES}) {
    set<int>(pool, policy, 1);
  }
  for (const CUmemPool_attribute number :
       {CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, CU_MEMPOOL_ATTR_USED_MEM_HIGH}) {
    set<cuuint64_t>(pool, number, 0);
  }
}

// Where it fails, an idle pool keeps some memory: nobody needs to know.
void keep_nothing(CUmemoryPool pool) noexcept {
  const Api* api = driver::usable_api();
  cuuint64_t threshold = 0;
  if (api) api->cuMemPoolSetAttribute.function(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold);
}

ManagedPool* find_idle(std::vector<ManagedPool>& pools, const CUmemLocation& location) {
  const auto found = std::ranges::find_if(pools, [&](const ManagedPool& pool) {
    return pool.is_idle && pool.location.type == location.type && pool.location.id == location.id &&
           !has_buffers(pool.handle);
  });
  return found == pools.end() ? nullptr : &*found;
}

CUmemoryPool create(const CUmemPoolProps& properties) {
  CUmemoryPool pool = nullptr;
  driver::call<&Api::cuMemPoolCreate>(
      Doing{[&] { return text("creating a pool of ", PoolPlace{properties.location, properties.allocType}); }}, &pool,
      &properties);
  return pool;
}

}  // namespace

CUmemoryPool acquire_managed_pool(const CUmemPoolProps& properties) {
  std::lock_guard lock(managed_pools().mutex);
  auto& pools = managed_pools().pools;
  ManagedPool* pool = find_idle(pools, properties.location);
  if (pool) {
    make_as_new(pool->handle);
  } else {
    pools.reserve(pools.size() + 1);
    pools.push_back({properties.location, create(properties), true});
    pool = &pools.back();
  }
  pool->is_idle = false;
  return pool->handle;
}

void give_back_managed_pool(CUmemoryPool pool) noexcept {
  keep_nothing(pool);
  std::lock_guard lock(managed_pools().mutex);
  auto& pools = managed_pools().pools;
  const auto found = std::ranges::find(pools, pool, &ManagedPool::handle);
  if (found != pools.end()) found->is_idle = true;
}

}  // namespace cuprum::core
