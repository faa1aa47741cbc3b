#include "core/memory/memory_pool.hpp"

#include <cuprum/error.hpp>
#include <cuprum/stream.hpp>
#include <limits>
#include <ostream>
#include <vector>

#include "core/base/context.hpp"
#include "core/base/device_facts.hpp"
#include "core/base/empty_handle.hpp"
#include "core/memory/buffer_resource.hpp"
#include "core/memory/graph_memory.hpp"
#include "core/memory/managed_pools.hpp"
#include "core/stream/captures.hpp"
#include "core/stream/graph_changes.hpp"
#include "core/stream/queue_call.hpp"
#include "core/stream/resources.hpp"
#include "driver/release.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI {

using core::ContextGuard;
using core::OwnedPool;
using core::PoolPlace;
using core::PoolSharing;
using detail::Access;
using detail::Kept;
using detail::PoolMemory;
using detail::StreamResource;
using driver::Api;
using driver::Doing;
using support::text;

}  // namespace cuprum::inline CUPRUM_ABI

namespace cuprum::core {
namespace {

// By default a pool gives its memory back to the system at every synchronisation. Keeping it is what makes allocating
// cheap; somebody else's setting is left alone.
void keep_memory(CUmemoryPool pool) {
  cuuint64_t threshold = 0;
  driver::call<&Api::cuMemPoolGetAttribute>(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold);
  if (threshold != 0) return;
  threshold = std::numeric_limits<cuuint64_t>::max();
  driver::call<&Api::cuMemPoolSetAttribute>(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold);
}

// A pool of host memory may be accessible from the host only at first.
void open_to_all_devices(CUmemoryPool pool) {
  std::vector<CUmemAccessDesc> missing;
  for (int device = 0; device < device_count(); ++device) {
    CUmemLocation location{CU_MEM_LOCATION_TYPE_DEVICE, device};
    CUmemAccess_flags access = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    driver::call<&Api::cuMemPoolGetAccess>(
        Doing{[&] { return text("asking whether device ", device, " can access a host memory pool"); }}, &access, pool,
        &location);
    if (access != CU_MEM_ACCESS_FLAGS_PROT_READWRITE) missing.push_back({location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE});
  }
  if (missing.empty()) return;
  driver::call<&Api::cuMemPoolSetAccess>(Doing{[&] { return "opening a host memory pool to the devices"; }}, pool,
                                         missing.data(), missing.size());
}

void prepare(CUmemoryPool pool, const PoolPlace& place) {
  const bool is_host_pool = !place.is_managed() && !place.device();
  if (is_host_pool) open_to_all_devices(pool);
  keep_memory(pool);
}

}  // namespace

std::optional<int> PoolPlace::device() const {
  if (location.type != CU_MEM_LOCATION_TYPE_DEVICE) return std::nullopt;
  return location.id;
}

std::ostream& operator<<(std::ostream& out, const PoolPlace& place) {
  if (place.is_managed()) {
    out << "managed memory";
    if (place.location.type == CU_MEM_LOCATION_TYPE_NONE) return out;
    out << " for ";
    if (place.device()) return out << "device " << *place.device();
    if (place.location.type == CU_MEM_LOCATION_TYPE_HOST) return out << "the host";
    return out << "NUMA node " << place.location.id;
  }
  if (place.device()) return out << "memory of device " << *place.device();
  out << "page-locked host memory";
  if (place.location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA) out << " on NUMA node " << place.location.id;
  return out;
}

OwnedPool::OwnedPool(const CUmemPoolProps& properties)
    : is_managed_(properties.allocType == CU_MEM_ALLOCATION_TYPE_MANAGED) {
  if (is_managed_) {
    handle_ = acquire_managed_pool(properties);
    return;
  }
  driver::call<&Api::cuMemPoolCreate>(Doing{[&] {
                                        const PoolPlace place{properties.location, properties.allocType};
                                        return text(
                                            "creating a pool of ", place,
                                            properties.maxSize ? text(", at most ", properties.maxSize, " bytes") : "",
                                            properties.handleTypes ? ", to be shared with other processes" : "");
                                      }},
                                      &handle_, &properties);
}

OwnedPool::~OwnedPool() {
  if (is_managed_) {
    give_back_managed_pool(handle_);
  } else {
    driver::release<&Api::cuMemPoolDestroy>(handle_);
  }
}

std::shared_ptr<PoolMemory> use_pool(CUmemoryPool pool, const PoolPlace& place) {
  prepare(pool, place);
  return std::make_shared<PoolMemory>(pool, place);
}

std::shared_ptr<PoolMemory> create_pool(const PoolPlace& place, std::size_t max_size, bool ipc_enabled) {
  CUmemPoolProps properties{};
  properties.allocType = place.type;
  properties.location = place.location;
  properties.maxSize = max_size;
  if (ipc_enabled) properties.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  primary_context(place.device().value_or(0));  // pools need an initialised device
  auto* made = new detail::Closable<OwnedPool>(std::in_place, properties);
  PoolMemory::Owned pool(made);
  prepare(made->resource.handle(), place);
  std::unique_ptr<PoolSharing> sharing;
  if (ipc_enabled) sharing = share_pool(made->resource.handle(), place);
  return std::make_shared<PoolMemory>(std::move(pool), place, max_size, std::move(sharing));
}

namespace {

PoolMemory::Owned owned_pool(CUmemoryPool handle) {
  try {
    return PoolMemory::Owned(new detail::Closable<OwnedPool>(std::in_place, handle));
  } catch (...) {
    driver::release<&Api::cuMemPoolDestroy>(handle);
    throw;
  }
}

}  // namespace

// How much memory the pool keeps is up to its owner; who can access it is each process's own setting.
std::shared_ptr<PoolMemory> take_over_pool(CUmemoryPool handle, const PoolPlace& place,
                                           std::unique_ptr<PoolSharing> sharing) {
  PoolMemory::Owned pool = owned_pool(handle);
  if (!place.device()) open_to_all_devices(handle);
  return std::make_shared<PoolMemory>(std::move(pool), place, 0, std::move(sharing));
}

CUmemoryPool current_pool(const PoolPlace& place) {
  primary_context(place.device().value_or(0));
  CUmemLocation location = place.location;
  CUmemoryPool pool = nullptr;
  driver::call<&Api::cuMemGetMemPool>(Doing{[&] { return text("finding the current pool of ", place); }}, &pool,
                                      &location, place.type);
  return pool;
}

}  // namespace cuprum::core

namespace cuprum::inline CUPRUM_ABI {

PoolMemory::PoolMemory(Owned pool, const PoolPlace& place, std::size_t max_size, std::unique_ptr<PoolSharing> sharing)
    : owned_(std::move(pool)),
      pool_(reinterpret_cast<CUmemoryPool>(static_cast<std::uintptr_t>(owned_.get()->handle()))),
      place_(place),
      max_size_(max_size),
      sharing_(std::move(sharing)) {}

// The driver would make an allocation of the graph from it, too, but whether that can be freed when the buffer goes
// depends on what became of the graph: GraphMemory knows about that.
Buffer PoolMemory::allocate_buffer(const MemoryResource& self, std::size_t size, const Stream& stream) {
  if (core::is_something_captured() && !place_.is_managed() && place_.device()) [[unlikely]] {
    const Kept<StreamResource> queue = Access::keep(stream);
    const bool is_graphs = core::captured_graph(*queue) && stream.device().device_id() == *place_.device();
    if (is_graphs)
      return detail::allocate_buffer(
          std::static_pointer_cast<MemoryResource::Interface>(core::graph_memory(*place_.device())), size, stream);
  }
  return allocate_own(self.implementation(), size, stream);
}

Buffer PoolMemory::allocate_own(const std::shared_ptr<MemoryResource::Interface>& self, std::size_t size,
                                const Stream& stream) {
  if (size == 0) static_cast<void>(use());  // for which nothing is asked of the pool, so this says whether it is closed
  return detail::allocate_buffer_by(self, size, stream,
                                    [&](const StreamResource& queue) { return allocate_on(queue, size, stream); });
}

DevicePointer PoolMemory::allocate(std::size_t size, const Stream& stream) {
  return allocate_on(*Access::keep(stream), size, stream);
}

DevicePointer PoolMemory::allocate_on(const StreamResource& queue, std::size_t size, const Stream& stream) {
  const InUse pool = use();
  if (is_of_another_process()) [[unlikely]]
    refuse();
  CUdeviceptr pointer = 0;
  const CUresult code = core::queue_call(queue, [&](const core::ContextRecord&) {
    return driver::try_call<&Api::cuMemAllocFromPoolAsync>(&pointer, size, pool.handle, queue.handle);
  });
  if (code != CUDA_SUCCESS) [[unlikely]]
    fail(code, size, stream);
  if (sharing_) [[unlikely]]
    hold_.allocated(pool.kept);
  return pointer;
}

void PoolMemory::deallocate(DevicePointer pointer, std::size_t size, const Stream& stream) {
  const Kept<StreamResource> queue = Access::keep(stream);
  if (is_of_another_process()) return sharing_->imports().let_go(pointer, *queue);
  const core::QueuingWork queuing(*queue, std::nothrow);
  ContextGuard guard(queue->context());
  driver::call<&Api::cuMemFreeAsync>(Doing{[&] {
                                       return text("freeing ", size, " bytes of ", place_, " at ",
                                                   reinterpret_cast<void*>(pointer), " on ", stream);
                                     }},
                                     pointer, queue->handle);
  if (sharing_) hold_.freed();
}

void PoolMemory::take_back(DevicePointer pointer, std::size_t, const Kept<StreamResource>& stream) {
  if (is_of_another_process()) return sharing_->imports().let_go(pointer, *stream);
  core::queue_release<&Api::cuMemFreeAsync>(*stream, pointer, stream->handle);
  if (sharing_) [[unlikely]]
    hold_.freed();
}

bool PoolMemory::is_host_accessible() const { return place_.is_managed() || !place_.device(); }

PoolMemory::InUse PoolMemory::use() const {
  detail::SharedState* state = owned_.get();
  if (!state) return {pool_, {}};
  if (!state->try_keep()) [[unlikely]]
    refuse();
  return {pool_, Kept<OwnedPool>(state)};
}

void PoolMemory::close() noexcept {
  if (!owned_) return;
  owned_.get()->close();
  if (sharing_) sharing_->close();
}

void PoolMemory::refuse() const {
  if (!is_open()) throw WrongState(text("this pool of ", place_, " is closed: close() was called on it or on a copy"));
  throw WrongState(
      text("this pool of ", place_, " is another process's: buffers can be imported from it, not allocated"));
}

void PoolMemory::fail(CUresult code, std::size_t size, const Stream& stream) const {
  std::string doing = text("allocating ", size, " bytes of ", place_, " on ", stream);
  if (code == CUDA_ERROR_OUT_OF_MEMORY) doing += text(" (", state(), ")");
  driver::detail::raise(code, decltype(Api::cuMemAllocFromPoolAsync)::index, doing);
}

// Whatever the driver doesn't tell is left out: this is for the text of another error.
std::string PoolMemory::state() const {
  auto attribute = [&](CUmemPool_attribute which) {
    cuuint64_t value = 0;
    driver::try_call<&Api::cuMemPoolGetAttribute>(pool_, which, &value);
    return value;
  };
  std::string state =
      text("the pool has ", attribute(CU_MEMPOOL_ATTR_USED_MEM_CURRENT), " bytes in use, at most ",
           attribute(CU_MEMPOOL_ATTR_USED_MEM_HIGH), " so far, and ", attribute(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT),
           " reserved, at most ", attribute(CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH), " so far; ",
           max_size_ ? text("its limit is ", max_size_) : "it has no limit of its own");
  std::size_t free = 0;
  std::size_t total = 0;
  if (place_.device() && driver::try_call<&Api::cuMemGetInfo>(&free, &total) == CUDA_SUCCESS)
    state += text("; ", free, " of the device's ", total, " bytes are free");
  return state;
}

std::shared_ptr<PoolMemory> MemoryPool::pool() const {
  if (!implementation()) core::refuse_empty("memory resource");
  auto pool = std::dynamic_pointer_cast<PoolMemory>(implementation());
  if (!pool) {
    throw NotSupported(
        "this memory resource has no memory pool: the driver or the device doesn't support them, so memory is "
        "allocated "
        "one by one");
  }
  return pool;
}

MemoryPoolAttributes MemoryPool::attributes() const {
  return MemoryPoolAttributes(std::make_shared<const detail::PoolInUse>(pool()));
}

void MemoryPool::trim(std::size_t min_bytes_to_keep) const {
  const auto memory = pool();
  driver::call<&Api::cuMemPoolTrimTo>(
      Doing{[&] { return text("trimming a pool of ", memory->place(), " to ", min_bytes_to_keep, " bytes"); }},
      memory->use().handle, min_bytes_to_keep);
}

CUmemPoolHandle_st* MemoryPool::handle() const { return implementation() ? pool()->handle() : nullptr; }

bool MemoryPool::is_handle_owned() const { return pool()->is_owned(); }

bool MemoryPool::is_ipc_enabled() const { return pool()->sharing() != nullptr; }

bool MemoryPool::is_mapped() const {
  const auto memory = pool();
  return memory->sharing() && memory->sharing()->is_mapped();
}

std::optional<Uuid> MemoryPool::uuid() const {
  const auto memory = pool();
  if (!memory->sharing()) return std::nullopt;
  return memory->sharing()->identity().uuid;
}

void MemoryPool::close() {
  if (auto memory = std::dynamic_pointer_cast<PoolMemory>(implementation())) memory->close();
}

}  // namespace cuprum::inline CUPRUM_ABI
