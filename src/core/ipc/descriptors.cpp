#include <algorithm>
#include <cuprum/error.hpp>
#include <cuprum/ipc.hpp>
#include <ostream>

#include "core/ipc/resources.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI {

using core::PoolIdentity;
using detail::Access;
using detail::AllocationHandleResource;
using detail::IpcAccess;
using support::FileDescriptor;
using support::text;
namespace wire = core::wire;

}  // namespace cuprum::inline CUPRUM_ABI

namespace cuprum::core {

const Uuid& this_process() {
  static const Uuid id = Uuid::random();
  return id;
}

}  // namespace cuprum::core

namespace cuprum::inline CUPRUM_ABI {

namespace {

IPCAllocationHandle make_handle(FileDescriptor descriptor, const PoolIdentity& identity) {
  if (!descriptor) throw InvalidArgument("the file descriptor of a memory pool is negative: expected an open one");
  auto shared = std::make_shared<const FileDescriptor>(std::move(descriptor));
  return Access::make<IPCAllocationHandle, AllocationHandleResource>(
      AllocationHandleResource{std::move(shared), identity});
}

detail::IpcPayload payload_from(std::span<const std::byte> bytes, const char* of_what) {
  detail::IpcPayload payload;
  if (bytes.size() != payload.size()) {
    throw InvalidArgument(
        text("the driver's description of ", of_what, " has ", payload.size(), " bytes, not ", bytes.size()));
  }
  std::copy(bytes.begin(), bytes.end(), payload.begin());
  return payload;
}

}  // namespace

IPCBufferDescriptor IPCBufferDescriptor::adopt(std::span<const std::byte> payload, std::size_t size) {
  return IpcAccess::buffer({}, {}, size, payload_from(payload, "a shared buffer"));
}

IPCEventDescriptor IPCEventDescriptor::adopt(std::span<const std::byte> payload, bool is_blocking_sync) {
  return IpcAccess::event({}, is_blocking_sync, payload_from(payload, "a shared event"));
}

IPCBufferDescriptor IPCBufferDescriptor::from_bytes(std::span<const std::byte> bytes) {
  const auto record = wire::open<wire::BufferRecord>(bytes);
  return IpcAccess::buffer(record.header.origin, record.pool, record.size, record.payload);
}

std::vector<std::byte> IPCBufferDescriptor::to_bytes() const {
  wire::BufferRecord record{};
  record.pool = pool_;
  record.size = size_;
  record.payload = payload_;
  return wire::seal(record, 0, origin_);
}

IPCEventDescriptor IPCEventDescriptor::from_bytes(std::span<const std::byte> bytes) {
  const auto record = wire::open<wire::EventRecord>(bytes);
  return IpcAccess::event(record.header.origin, (record.header.flags & wire::blocking_sync) != 0, record.payload);
}

std::vector<std::byte> IPCEventDescriptor::to_bytes() const {
  wire::EventRecord record{};
  record.payload = payload_;
  return wire::seal(record, blocking_sync_ ? wire::blocking_sync : 0, origin_);
}

IPCAllocationHandle IPCAllocationHandle::adopt(int file_descriptor, std::optional<Uuid> uuid) {
  return make_handle(FileDescriptor(file_descriptor), PoolIdentity{.origin = {}, .uuid = uuid});
}

IPCAllocationHandle IPCAllocationHandle::from_bytes(std::span<const std::byte> bytes, int file_descriptor) {
  FileDescriptor descriptor(file_descriptor);
  const auto record = wire::open<wire::PoolRecord>(bytes);
  if (record.place > wire::Place::host || record.reserved != 0) {
    throw InvalidArgument("refused the description of a memory pool: it is in a place that this library does not know");
  }
  PoolIdentity identity{.origin = record.header.origin, .place = record.place, .uuid = std::nullopt};
  if (record.pool != Uuid{}) identity.uuid = record.pool;
  return make_handle(std::move(descriptor), identity);
}

std::vector<std::byte> IPCAllocationHandle::to_bytes() const {
  const PoolIdentity identity = Access::keep(*this)->identity;
  wire::PoolRecord record{};
  record.pool = identity.uuid.value_or(Uuid{});
  record.place = identity.place;
  return wire::seal(record, 0, identity.origin);
}

int IPCAllocationHandle::handle() const noexcept {
  const auto kept = Access::try_keep(*this);
  return kept ? kept->descriptor->get() : -1;
}

std::optional<Uuid> IPCAllocationHandle::uuid() const { return Access::keep(*this)->identity.uuid; }

bool IPCAllocationHandle::is_pinned() const { return Access::keep(*this)->identity.place == core::wire::Place::host; }

void IPCAllocationHandle::close() { Access::close(*this); }

std::ostream& operator<<(std::ostream& out, const IPCBufferDescriptor& descriptor) {
  return out << "the description of a buffer of " << descriptor.size() << " bytes of memory pool "
             << descriptor.memory_resource_uuid();
}

std::ostream& operator<<(std::ostream& out, const IPCEventDescriptor& descriptor) {
  return out << "the description of an event" << (descriptor.is_blocking_sync() ? " that blocks in sync()" : "");
}

std::ostream& operator<<(std::ostream& out, const IPCAllocationHandle& handle) {
  const auto kept = Access::try_keep(handle);
  if (!kept) return out << Access::state_in_words(handle);
  out << "file descriptor " << kept->descriptor->get() << " of memory pool ";
  if (const auto& uuid = kept->identity.uuid) return out << *uuid;
  return out << "without a name";
}

}  // namespace cuprum::inline CUPRUM_ABI
