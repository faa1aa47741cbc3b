#include <cuprum/memory_pool.hpp>
#include <ostream>

#include "core/base/empty_handle.hpp"
#include "core/memory/memory_pool.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI {
namespace {

using detail::PoolInUse;
using driver::Api;
using driver::Doing;
using support::text;

const PoolInUse& pool_read_from(const std::shared_ptr<const PoolInUse>& pool) {
  return *core::not_empty(pool, "set of a pool's attributes");
}

// Attributes are ints or cuuint64_t, as <cuda.h> says of each.
template <typename T>
T get(const PoolInUse& used, CUmemPool_attribute which, const char* name) {
  T value{};
  driver::call<&Api::cuMemPoolGetAttribute>(
      Doing{[&] { return text("reading ", name, " of a pool of ", used.memory->place()); }}, used.pool.handle, which,
      &value);
  return value;
}

template <typename T>
void set(const PoolInUse& used, CUmemPool_attribute which, const char* name, T value) {
  driver::call<&Api::cuMemPoolSetAttribute>(
      Doing{[&] { return text("setting ", name, " of a pool of ", used.memory->place(), " to ", value); }},
      used.pool.handle, which, &value);
}

}  // namespace

#define CUPRUM_POOL_REUSE_POLICY(name, attribute)                                                            \
  bool MemoryPoolAttributes::name() const { return get<int>(pool_read_from(pool_), attribute, #name) != 0; } \
  void MemoryPoolAttributes::set_##name(bool allowed) const {                                                \
    set<int>(pool_read_from(pool_), attribute, #name, allowed);                                              \
  }

CUPRUM_POOL_REUSE_POLICY(reuse_follow_event_dependencies, CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES)
CUPRUM_POOL_REUSE_POLICY(reuse_allow_opportunistic, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC)
CUPRUM_POOL_REUSE_POLICY(reuse_allow_internal_dependencies, CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES)

#define CUPRUM_POOL_STATISTIC(name, attribute) \
  std::uint64_t MemoryPoolAttributes::name() const { return get<cuuint64_t>(pool_read_from(pool_), attribute, #name); }

CUPRUM_POOL_STATISTIC(reserved_mem_current, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)
CUPRUM_POOL_STATISTIC(reserved_mem_high, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH)
CUPRUM_POOL_STATISTIC(used_mem_current, CU_MEMPOOL_ATTR_USED_MEM_CURRENT)
CUPRUM_POOL_STATISTIC(used_mem_high, CU_MEMPOOL_ATTR_USED_MEM_HIGH)
CUPRUM_POOL_STATISTIC(release_threshold, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)

void MemoryPoolAttributes::set_release_threshold(std::uint64_t bytes) const {
  set<cuuint64_t>(pool_read_from(pool_), CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, "release_threshold", bytes);
}

// The driver takes no other value for the marks than 0, which sets them to what is there now.
void MemoryPoolAttributes::reset_reserved_mem_high() const {
  set<cuuint64_t>(pool_read_from(pool_), CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, "reserved_mem_high", 0);
}

void MemoryPoolAttributes::reset_used_mem_high() const {
  set<cuuint64_t>(pool_read_from(pool_), CU_MEMPOOL_ATTR_USED_MEM_HIGH, "used_mem_high", 0);
}

std::ostream& operator<<(std::ostream& out, const MemoryPoolAttributes& attributes) {
  return out << "reuse_follow_event_dependencies=" << attributes.reuse_follow_event_dependencies()
             << ", reuse_allow_opportunistic=" << attributes.reuse_allow_opportunistic()
             << ", reuse_allow_internal_dependencies=" << attributes.reuse_allow_internal_dependencies()
             << ", release_threshold=" << attributes.release_threshold()
             << ", reserved_mem_current=" << attributes.reserved_mem_current()
             << ", reserved_mem_high=" << attributes.reserved_mem_high()
             << ", used_mem_current=" << attributes.used_mem_current()
             << ", used_mem_high=" << attributes.used_mem_high();
}

}  // namespace cuprum::inline CUPRUM_ABI
