#include <algorithm>
#include <cuprum/device.hpp>
#include <cuprum/error.hpp>
#include <cuprum/managed_buffer.hpp>
#include <cuprum/stream.hpp>
#include <ostream>

#include "core/base/device_facts.hpp"
#include "core/base/empty_handle.hpp"
#include "core/memory/buffer_resource.hpp"
#include "core/memory/default_memory.hpp"
#include "core/memory/location.hpp"
#include "core/memory/managed_memory.hpp"
#include "core/stream/default_streams.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI {

using core::ContextGuard;
using core::require_managed;
using detail::Access;
using detail::BufferResource;
using detail::Kept;
using driver::Api;
using driver::Doing;
using support::text;

namespace {

constexpr int host_number = -1;  // in the attributes that know places by the number of a device
constexpr int no_device = -2;

void advise(const Buffer& buffer, CUmem_advise advice, const Location& location, const char* what) {
  require_managed(buffer, what);
  const Kept<BufferResource> range = Access::keep(buffer);
  const auto doing = [&] { return text("advising ", what, " for ", buffer); };
  const CUresult code =
      driver::try_call<&Api::cuMemAdvise>(range->pointer, range->size, advice, core::cu_location(location));
  if (code == CUDA_SUCCESS) return;
  if (code == CUDA_ERROR_NOT_SUPPORTED) {
    throw NotSupported(
        text(doing(),
             ": the driver takes no advice for this memory (cuMemAdvise: CUDA_ERROR_NOT_SUPPORTED). Some "
             "take none for memory of a pool, as a ManagedMemoryResource gives: wrap memory of "
             "cuMemAllocManaged with ManagedBuffer::from_handle instead"),
        code);
  }
  driver::detail::raise(code, decltype(Api::cuMemAdvise)::index, doing());
}

void read_attribute(const Buffer& buffer, CUmem_range_attribute which, const char* what, void* value,
                    std::size_t size) {
  require_managed(buffer, what);
  const Kept<BufferResource> range = Access::keep(buffer);
  driver::call<&Api::cuMemRangeGetAttribute>(Doing{[&] { return text("reading ", what, " of ", buffer); }}, value, size,
                                             which, range->pointer, range->size);
}

int int_attribute(const Buffer& buffer, CUmem_range_attribute which, const char* what) {
  int value = 0;
  read_attribute(buffer, which, what, &value, sizeof value);
  return value;
}

std::vector<Location> read_accessed_by(const Buffer& buffer) {
  std::vector<int> numbers(static_cast<std::size_t>(core::device_count()) + 1, no_device);
  read_attribute(buffer, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, "accessed_by", numbers.data(),
                 numbers.size() * sizeof(int));
  std::vector<Location> locations;
  for (int number : numbers) {
    if (number == host_number) locations.emplace_back(Host());
    if (number >= 0) locations.emplace_back(Access::device(number));
  }
  return locations;
}

bool can_be_in_accessed_by(const Location& location) {
  return location.type() == LocationType::device || location.type() == LocationType::host;
}

void check_for_accessed_by(const Location& location) {
  if (can_be_in_accessed_by(location)) return;
  throw InvalidArgument(
      text("accessed_by: ", location, ": only devices and the host as a whole, Host(), can be in it"));
}

void set_accessed_by_advice(const Buffer& buffer, CUmem_advise advice, const Location& location) {
  advise(buffer, advice, location, "accessed_by");
}

}  // namespace

}  // namespace cuprum::inline CUPRUM_ABI

namespace cuprum::core {

void require_managed(const Buffer& buffer, std::string_view what) {
  if (buffer.is_managed()) return;
  throw WrongState(text(what, ": ", buffer, " is not managed memory; allocate it from a ManagedMemoryResource"));
}

void prefetch(const Buffer& buffer, const Location& location, const Stream& stream) {
  const Kept<BufferResource> range = Access::keep(buffer);
  const detail::Kept<detail::StreamResource> queue = Access::keep(stream);
  ContextGuard guard(queue->context());
  driver::call<&Api::cuMemPrefetchAsync>(
      Doing{[&] { return text("prefetching ", buffer, " to ", location, " on ", stream); }}, range->pointer,
      range->size, cu_location(location), 0u, queue->handle);
}

}  // namespace cuprum::core

namespace cuprum::inline CUPRUM_ABI {

ManagedBuffer::ManagedBuffer(const Buffer& buffer) : Buffer(buffer) { require_managed(buffer, "ManagedBuffer"); }

ManagedBuffer ManagedBuffer::from_handle(DevicePointer pointer, std::size_t size, std::shared_ptr<void> owner) {
  return detail::wrap_buffer<ManagedBuffer>(pointer, size, std::move(owner));
}

ManagedBuffer ManagedBuffer::from_handle(DevicePointer pointer, std::size_t size, const MemoryResource& resource) {
  return from_handle(pointer, size, resource, core::default_stream_of(resource));
}

ManagedBuffer ManagedBuffer::from_handle(DevicePointer pointer, std::size_t size, const MemoryResource& resource,
                                         const Stream& stream) {
  return detail::wrap_buffer<ManagedBuffer>(pointer, size,
                                            core::not_empty(resource.implementation(), "memory resource"),
                                            core::settled(Access::keep(stream)));
}

bool ManagedBuffer::read_mostly() const {
  return int_attribute(*this, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, "read_mostly") != 0;
}

// The driver looks at the location even where it doesn't use it.
void ManagedBuffer::set_read_mostly(bool read_mostly) const {
  advise(*this, read_mostly ? CU_MEM_ADVISE_SET_READ_MOSTLY : CU_MEM_ADVISE_UNSET_READ_MOSTLY, Host(), "read_mostly");
}

std::optional<Location> ManagedBuffer::preferred_location() const {
  constexpr const char* what = "preferred_location";
  if (driver::info().version >= 13000) {
    return core::location_of(
        {static_cast<CUmemLocationType>(int_attribute(*this, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE, what)),
         int_attribute(*this, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID, what)});
  }
  const int number = int_attribute(*this, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, what);
  if (number == no_device) return std::nullopt;
  if (number == host_number) return Host();
  return Access::device(number);
}

void ManagedBuffer::set_preferred_location(const std::optional<Location>& location) const {
  advise(*this, location ? CU_MEM_ADVISE_SET_PREFERRED_LOCATION : CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION,
         location.value_or(Host()), "preferred_location");
}

AccessedBySet ManagedBuffer::accessed_by() const { return AccessedBySet(*this); }

void ManagedBuffer::set_accessed_by(const std::vector<Location>& locations) const {
  std::ranges::for_each(locations, check_for_accessed_by);
  const std::vector<Location> before = read_accessed_by(*this);
  auto is_in = [](const std::vector<Location>& list, const Location& location) {
    return std::ranges::find(list, location) != list.end();
  };
  for (const Location& location : before) {
    if (!is_in(locations, location)) set_accessed_by_advice(*this, CU_MEM_ADVISE_UNSET_ACCESSED_BY, location);
  }
  for (const Location& location : locations) {
    if (!is_in(before, location)) set_accessed_by_advice(*this, CU_MEM_ADVISE_SET_ACCESSED_BY, location);
  }
}

void ManagedBuffer::prefetch(const Location& location, const Stream& stream) const {
  require_managed(*this, "prefetch");
  core::prefetch(*this, location, stream);
}

// The driver has no call for one range.
void ManagedBuffer::discard(const Stream& stream) const {
  require_managed(*this, "discard");
  core::discard({*this}, stream);
}

void ManagedBuffer::discard_prefetch(const Location& location, const Stream& stream) const {
  require_managed(*this, "discard_prefetch");
  core::discard_prefetch({*this}, location, stream);
}

bool AccessedBySet::contains(const Location& location) const {
  const std::vector<Location> locations = read_accessed_by(buffer_);
  return std::ranges::find(locations, location) != locations.end();
}

std::size_t AccessedBySet::size() const { return read_accessed_by(buffer_).size(); }

detail::SnapshotIterator<Location> AccessedBySet::begin() const {
  return detail::SnapshotIterator<Location>(read_accessed_by(buffer_));
}

void AccessedBySet::add(const Location& location) const {
  check_for_accessed_by(location);
  set_accessed_by_advice(buffer_, CU_MEM_ADVISE_SET_ACCESSED_BY, location);
}

void AccessedBySet::discard(const Location& location) const {
  if (can_be_in_accessed_by(location)) set_accessed_by_advice(buffer_, CU_MEM_ADVISE_UNSET_ACCESSED_BY, location);
}

void AccessedBySet::clear() const { buffer_.set_accessed_by({}); }

std::ostream& operator<<(std::ostream& out, const AccessedBySet& locations) {
  const char* before = "{";
  for (const Location& location : locations) {
    out << before << location;
    before = ", ";
  }
  return out << (*before == '{' ? "{}" : "}");
}

}  // namespace cuprum::inline CUPRUM_ABI
