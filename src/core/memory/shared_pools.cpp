// Pools and buffers between processes.
#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <cuprum/device.hpp>
#include <cuprum/device_memory_resource.hpp>
#include <cuprum/pinned_memory_resource.hpp>

#include "core/base/context.hpp"
#include "core/base/device_uuid.hpp"
#include "core/memory/buffer_resource.hpp"
#include "core/memory/memory_pool.hpp"
#include "core/memory/pool_registry.hpp"
#include "core/stream/default_streams.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI {

using core::PoolIdentity;
using core::PoolPlace;
using core::PoolSharing;
using core::wire::Place;
using detail::Access;
using detail::IpcAccess;
using detail::PoolMemory;
using driver::Api;
using driver::Doing;
using support::FileDescriptor;
using support::text;

namespace {

constexpr auto handle_type = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

Place place_on_the_wire(const PoolPlace& place) { return place.device() ? Place::device : Place::host; }

/// Zeros for the host.
Uuid device_uuid_of(const PoolPlace& place) { return place.device() ? core::device_uuid(*place.device()) : Uuid{}; }

const char* importing_class(Place place) {
  return place == Place::device ? "DeviceMemoryResource" : "PinnedMemoryResource";
}

void check_identity(const PoolIdentity& identity, const PoolPlace& place) {
  if (identity.origin.process == core::this_process()) {
    throw InvalidArgument("this allocation handle was made by this very process: use the memory resource itself");
  }
  if (identity.place == Place::unknown) return;
  if (identity.place != place_on_the_wire(place)) {
    throw InvalidArgument(text("this allocation handle is not of a pool of ", place, ": import it by ",
                               importing_class(identity.place), "::from_allocation_handle"));
  }
  if (identity.origin.device != device_uuid_of(place)) {
    throw InvalidArgument(text("this allocation handle is of a pool on the device with UUID ", identity.origin.device,
                               ", not of one of ", place, ", whose UUID is ", device_uuid_of(place)));
  }
}

// The registry knows names, and any process can say any name.
std::shared_ptr<PoolMemory> check_registered(std::shared_ptr<PoolMemory> pool, const Uuid& uuid,
                                             const PoolPlace& place) {
  if (pool->place().device() == place.device()) return pool;
  throw InvalidArgument(
      text("the memory pool that is registered as ", uuid, " is one of ", pool->place(), ", not of ", place));
}

std::shared_ptr<PoolMemory> import_pool(const IPCAllocationHandle& handle, const PoolPlace& place) {
  const auto shared = Access::keep(handle);
  check_identity(shared->identity, place);
  const std::optional<Uuid> uuid = shared->identity.uuid;
  if (uuid) {
    if (auto known = core::find_registered(*uuid)) return check_registered(std::move(known), *uuid, place);
  }
  core::primary_context(place.device().value_or(0));  // pools need an initialised device
  PoolIdentity identity = shared->identity;
  identity.place = place_on_the_wire(place);
  identity.origin.device = device_uuid_of(place);
  auto sharing = std::make_unique<PoolSharing>(shared->descriptor, identity, true);
  CUmemoryPool pool = nullptr;
  // The file descriptor goes as a number in a pointer.
  driver::call<&Api::cuMemPoolImportFromShareableHandle>(
      Doing{[&] { return text("importing a pool of ", place, " by ", handle); }}, &pool,
      reinterpret_cast<void*>(static_cast<std::uintptr_t>(shared->descriptor->get())), handle_type, 0ull);
  auto imported = core::take_over_pool(pool, place, std::move(sharing));
  if (!uuid) return imported;
  return check_registered(core::register_pool(*uuid, imported), *uuid, place);
}

IPCAllocationHandle duplicate(int file_descriptor) {
  const int copy = fcntl(file_descriptor, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) {
    throw InvalidArgument(
        text("file descriptor ", file_descriptor, " can't be that of a memory pool: ", std::strerror(errno)));
  }
  return IPCAllocationHandle::adopt(copy);
}

std::shared_ptr<PoolMemory> registered(const Uuid& uuid) {
  if (auto pool = core::find_registered(uuid)) return pool;
  throw InvalidArgument(
      text("no memory pool is registered as ", uuid, ": import it by from_allocation_handle first, and keep it"));
}

PoolSharing& sharing_of(const PoolMemory& pool) {
  if (PoolSharing* sharing = pool.sharing()) return *sharing;
  throw WrongState(text("this pool of ", pool.place(),
                        " can't be shared with other processes: make one with {.ipc_enabled = true}"));
}

std::shared_ptr<PoolMemory> register_as(const std::shared_ptr<PoolMemory>& pool, const Uuid& uuid) {
  PoolSharing& sharing = sharing_of(*pool);
  if (auto known = core::find_registered(uuid)) return known;
  if (const Uuid name = sharing.name(uuid); name != uuid) {
    throw InvalidArgument(
        text("this pool of ", pool->place(), " has the UUID ", name, " and can't be registered by another: ", uuid));
  }
  return core::register_pool(uuid, pool);
}

void check_descriptor(const IPCBufferDescriptor& descriptor, const PoolMemory& pool) {
  const PoolSharing& sharing = sharing_of(pool);
  const PoolIdentity identity = sharing.identity();
  const detail::IpcOrigin& origin = IpcAccess::origin(descriptor);
  if (origin.process == core::this_process()) {
    throw InvalidArgument(text("refused ", descriptor, ": it was made by this very process: use the buffer itself"));
  }
  if (!sharing.is_mapped()) {
    throw InvalidArgument(text("refused ", descriptor,
                               ": the memory resource is this process's own; expected one made by ",
                               importing_class(identity.place), "::from_allocation_handle"));
  }
  if (descriptor.size() == 0) throw InvalidArgument(text("refused ", descriptor, ": there is nothing to import"));
  if (origin == detail::IpcOrigin{}) return;  // adopted: nobody said where it comes from
  if (identity.uuid && descriptor.memory_resource_uuid() != *identity.uuid) {
    throw InvalidArgument(text("refused ", descriptor, ": the memory resource is pool ", *identity.uuid));
  }
  // Of a bare file descriptor nobody knows whether the pool is one of a device's memory or, as it may say here, the
  // host's.
  const bool may_be_of_the_host = !identity.uuid && origin.device == Uuid{};
  if (origin.device != identity.origin.device && !may_be_of_the_host) {
    throw InvalidArgument(text("refused ", descriptor, ": it is on the device with UUID ", origin.device,
                               ", the memory resource on that with ", identity.origin.device));
  }
}

}  // namespace

}  // namespace cuprum::inline CUPRUM_ABI

namespace cuprum::core {

std::unique_ptr<PoolSharing> share_pool(CUmemoryPool pool, const PoolPlace& place) {
  int number = -1;
  driver::call<&Api::cuMemPoolExportToShareableHandle>(
      Doing{[&] { return text("exporting a pool of ", place, " to other processes"); }}, static_cast<void*>(&number),
      pool, handle_type, 0ull);
  FileDescriptor descriptor(number);
  // Whether a program inherits it is not the driver's decision.
  if (fcntl(number, F_SETFD, FD_CLOEXEC) != 0) throw SystemError("keeping a pool's file descriptor private", errno);
  const PoolIdentity identity{
      .origin = {this_process(), device_uuid_of(place)}, .place = place_on_the_wire(place), .uuid = Uuid::random()};
  return std::make_unique<PoolSharing>(std::make_shared<const FileDescriptor>(std::move(descriptor)), identity, false);
}

}  // namespace cuprum::core

namespace cuprum::inline CUPRUM_ABI {

IPCAllocationHandle MemoryPool::allocation_handle() const {
  const auto memory = pool();
  const PoolMemory::InUse used = memory->use();  // refused when it is closed
  return sharing_of(*memory).handle();
}

DeviceMemoryResource DeviceMemoryResource::from_allocation_handle(const Device& device,
                                                                  const IPCAllocationHandle& handle) {
  return DeviceMemoryResource(import_pool(handle, PoolPlace::of_device(device.device_id())));
}

DeviceMemoryResource DeviceMemoryResource::from_allocation_handle(const Device& device, int file_descriptor) {
  return from_allocation_handle(device, duplicate(file_descriptor));
}

DeviceMemoryResource DeviceMemoryResource::from_registry(const Uuid& uuid) {
  auto pool = registered(uuid);
  if (!pool->place().device()) {
    throw InvalidArgument(text("the memory pool that is registered as ", uuid, " is one of ", pool->place(),
                               ": use PinnedMemoryResource::from_registry"));
  }
  return DeviceMemoryResource(std::move(pool));
}

DeviceMemoryResource DeviceMemoryResource::register_as(const Uuid& uuid) const {
  const auto memory = pool();
  return DeviceMemoryResource(check_registered(cuprum::register_as(memory, uuid), uuid, memory->place()));
}

PinnedMemoryResource PinnedMemoryResource::from_allocation_handle(const IPCAllocationHandle& handle) {
  return PinnedMemoryResource(import_pool(handle, PoolPlace::of_host()));
}

PinnedMemoryResource PinnedMemoryResource::from_allocation_handle(int file_descriptor) {
  return from_allocation_handle(duplicate(file_descriptor));
}

PinnedMemoryResource PinnedMemoryResource::from_registry(const Uuid& uuid) {
  auto pool = registered(uuid);
  if (pool->place().device()) {
    throw InvalidArgument(text("the memory pool that is registered as ", uuid, " is one of ", pool->place(),
                               ": use DeviceMemoryResource::from_registry"));
  }
  return PinnedMemoryResource(std::move(pool));
}

PinnedMemoryResource PinnedMemoryResource::register_as(const Uuid& uuid) const {
  const auto memory = pool();
  return PinnedMemoryResource(check_registered(cuprum::register_as(memory, uuid), uuid, memory->place()));
}

IPCBufferDescriptor Buffer::ipc_descriptor() const {
  const detail::Kept<detail::BufferResource> buffer = Access::keep(*this);
  const auto* pool = dynamic_cast<const PoolMemory*>(buffer->memory.get());
  if (!pool) {
    throw WrongState(text(*this, " can't be shared with other processes: its memory is not from a memory pool"));
  }
  const PoolSharing& sharing = sharing_of(*pool);
  if (buffer->whole) {
    throw WrongState(text(*this,
                          " can't be shared with other processes: it is a part; share the whole, and say "
                          "where the part begins"));
  }
  if (buffer->size == 0) throw WrongState(text(*this, " can't be shared with other processes: it has no memory"));
  if (sharing.is_mapped()) return sharing.imports().descriptor_of(buffer->pointer, buffer->size);
  CUmemPoolPtrExportData data{};
  driver::call<&Api::cuMemPoolExportPointer>(Doing{[&] { return text("exporting ", *this, " to other processes"); }},
                                             &data, buffer->pointer);
  detail::IpcPayload payload;
  std::memcpy(payload.data(), &data, sizeof(data));
  const PoolIdentity identity = sharing.identity();
  return IpcAccess::buffer(identity.origin, identity.uuid.value(), buffer->size, payload);
}

Buffer Buffer::from_ipc_descriptor(const MemoryPool& resource, const IPCBufferDescriptor& descriptor,
                                   const Stream& stream) {
  const auto queue = core::settled(Access::keep(stream));
  const auto pool = resource.pool();
  const PoolMemory::InUse imported = pool->use();
  check_descriptor(descriptor, *pool);
  auto* shared = new detail::Closable<detail::BufferResource>(std::in_place, 0, descriptor.size(), pool, queue);
  Buffer buffer = Access::take<Buffer>(shared);
  shared->resource.mapped = true;
  detail::move_buffer(*shared, pool->sharing()->imports().import(imported.kept, descriptor, *queue));
  return buffer;
}

}  // namespace cuprum::inline CUPRUM_ABI
