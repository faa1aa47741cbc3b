#include "softgpu/runtime/memory/managed_memory.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "softgpu/memory/pages.hpp"
#include "softgpu/runtime/memory/memory_operations.hpp"
#include "softgpu/runtime/memory/memory_services.hpp"
#include "softgpu/runtime/work/stream_work.hpp"

namespace softgpu::runtime {
namespace {

enum class Owner { allocation, pool, program };

// Whose memory it is: managed, by itself or from a pool, or the program's own.
Owner check(const MemoryServices& services, MemoryRange range) {
  require(range.first != 0 && range.bytes != 0, CUDA_ERROR_INVALID_VALUE, "an empty range");
  const auto extent = services.allocations.extent(to_pointer(range.first), range.bytes);
  if (!extent) {
    require(!services.space.contains(to_pointer(range.first)), CUDA_ERROR_INVALID_VALUE, "the range is not allocated");
    return Owner::program;
  }
  require(extent->kind == memory::Kind::managed, CUDA_ERROR_INVALID_VALUE, "not managed memory");
  require(range.bytes <= extent->bytes, CUDA_ERROR_INVALID_VALUE, "the range is longer than its allocation");
  return extent->pooled ? Owner::pool : Owner::allocation;
}

void set_accessed_by(PageAdvice& page, const CUmemLocation& location, bool value) {
  if (location.type == CU_MEM_LOCATION_TYPE_HOST) {
    page.accessed_by_host = value;
    return;
  }
  const std::uint64_t bit = std::uint64_t{1} << location.id;
  page.accessed_by_devices = value ? page.accessed_by_devices | bit : page.accessed_by_devices & ~bit;
}

// What an advice's location can be.
enum class Where { any, place, processor };

struct Advice {
  CUmem_advise which;
  Where where;
  void (*apply)(PageAdvice& page, const CUmemLocation& location);
};

constexpr std::array kAdvice = {
    Advice{CU_MEM_ADVISE_SET_READ_MOSTLY, Where::any, [](PageAdvice& page, auto&) { page.read_mostly = true; }},
    Advice{CU_MEM_ADVISE_UNSET_READ_MOSTLY, Where::any, [](PageAdvice& page, auto&) { page.read_mostly = false; }},
    Advice{CU_MEM_ADVISE_SET_PREFERRED_LOCATION, Where::place, [](PageAdvice& page, auto& l) { page.preferred = l; }},
    Advice{CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, Where::any, [](PageAdvice& page, auto&) { page.preferred = {}; }},
    Advice{CU_MEM_ADVISE_SET_ACCESSED_BY, Where::processor,
           [](PageAdvice& page, auto& l) { set_accessed_by(page, l, true); }},
    Advice{CU_MEM_ADVISE_UNSET_ACCESSED_BY, Where::processor,
           [](PageAdvice& page, auto& l) { set_accessed_by(page, l, false); }},
};

// What holds for all pages of a range; where they differ, nothing.
PageAdvice common_advice(const ManagedPages& pages, MemoryRange range) {
  PageAdvice common;
  bool first = true;
  pages.visit(to_pointer(range.first), range.bytes, [&](const PageAdvice& page) {
    if (std::exchange(first, false)) {
      common = page;
      return;
    }
    common.read_mostly &= page.read_mostly;
    common.accessed_by_host &= page.accessed_by_host;
    common.accessed_by_devices &= page.accessed_by_devices;
    if (!(common.preferred == page.preferred)) common.preferred = {};
    if (!(common.last_prefetch == page.last_prefetch)) common.last_prefetch = {};
  });
  return common;
}

// Fills the rest with CU_DEVICE_INVALID.
void write_processors(const PageAdvice& page, void* data, std::size_t bytes) {
  require(bytes != 0 && bytes % sizeof(int) == 0, CUDA_ERROR_INVALID_VALUE, "the size is not one of several integers");
  const std::span<int> out(static_cast<int*>(data), bytes / sizeof(int));
  std::vector<int> processors;
  for (int i = 0; i < 64; ++i)
    if ((page.accessed_by_devices >> i & 1) != 0) processors.push_back(i);
  if (page.accessed_by_host) processors.push_back(CU_DEVICE_CPU);
  processors.resize(std::max(processors.size(), out.size()), CU_DEVICE_INVALID);
  std::copy_n(processors.begin(), out.size(), out.begin());
}

// A preferred location as its type and id are reported. Like on a GPU whose driver does not place managed memory on
// nodes of the host, preferring one of them is reported as preferring the host in the older form, and as nothing here.
CUmemLocation reported(const CUmemLocation& location) {
  if (location.type == CU_MEM_LOCATION_TYPE_DEVICE || location.type == CU_MEM_LOCATION_TYPE_HOST) return location;
  return {CU_MEM_LOCATION_TYPE_INVALID, CU_DEVICE_INVALID};
}

struct RangeAttribute {
  CUmem_range_attribute which;
  int (*value)(const PageAdvice& page);
};

constexpr std::array kRangeAttributes = {
    RangeAttribute{CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, [](const PageAdvice& p) { return p.read_mostly ? 1 : 0; }},
    RangeAttribute{CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION,
                   [](const PageAdvice& p) { return device_of_location(p.preferred); }},
    RangeAttribute{CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION,
                   [](const PageAdvice& p) { return device_of_location(p.last_prefetch); }},
    RangeAttribute{CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE,
                   [](const PageAdvice& p) { return static_cast<int>(reported(p.preferred).type); }},
    RangeAttribute{CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID,
                   [](const PageAdvice& p) { return reported(p.preferred).id; }},
    RangeAttribute{CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE,
                   [](const PageAdvice& p) { return static_cast<int>(p.last_prefetch.type); }},
    RangeAttribute{CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID,
                   [](const PageAdvice& p) { return p.last_prefetch.id; }},
};

// Advice that is for no place in particular takes every kind of location, whether there is such a place or not.
CUmemLocation advised_location(const Devices& devices, const CUmemLocation& location, Where where) {
  const bool is_device = location.type == CU_MEM_LOCATION_TYPE_DEVICE;
  if (where == Where::any && (is_device || location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA)) return location;
  require(!is_device || (location.id >= 0 && location.id < devices.count()), CUDA_ERROR_INVALID_VALUE,
          "no such device for advice");
  const CUmemLocation checked = checked_location(location, devices);
  require(where != Where::processor || checked.type != CU_MEM_LOCATION_TYPE_HOST_NUMA, CUDA_ERROR_INVALID_VALUE,
          "memory is accessed by a device or by the host, not by a node of it");
  return checked;
}

}  // namespace

void advise(MemoryServices& services, MemoryRange range, CUmem_advise advice, const CUmemLocation& location) {
  const auto* row = std::find_if(kAdvice.begin(), kAdvice.end(), [&](const Advice& a) { return a.which == advice; });
  require(row != kAdvice.end(), CUDA_ERROR_INVALID_VALUE, "no such advice");
  const CUmemLocation checked = advised_location(services.devices, location, row->where);
  const Owner owner = check(services, range);
  if (owner == Owner::program) return;
  // As NVIDIA's driver 580 does: a pool's memory is where its properties say.
  require(owner != Owner::pool, CUDA_ERROR_NOT_SUPPORTED, "memory of a managed pool takes no advice");
  services.managed_pages.update(to_pointer(range.first), range.bytes,
                                [&](PageAdvice& page) { row->apply(page, checked); });
}

void get_range_attribute(const MemoryServices& services, void* data, std::size_t bytes, CUmem_range_attribute attribute,
                         MemoryRange range) {
  require(data != nullptr, CUDA_ERROR_INVALID_VALUE, "a null pointer for a result");
  require(check(services, range) != Owner::program, CUDA_ERROR_INVALID_VALUE, "not managed memory");
  const PageAdvice page = common_advice(services.managed_pages, range);
  if (attribute == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY) return write_processors(page, data, bytes);
  for (const RangeAttribute& row : kRangeAttributes) {
    if (row.which != attribute) continue;
    require(bytes == sizeof(int), CUDA_ERROR_INVALID_VALUE, "the attribute has 4 bytes");
    *static_cast<int*>(data) = row.value(page);
    return;
  }
  throw Failure(CUDA_ERROR_INVALID_VALUE, "no such attribute of a range of memory");
}

void prefetch(MemoryServices& services, Stream& stream, std::span<const Prefetch> batch) {
  for (const Prefetch& one : batch) {
    const MemoryRange range = one.range;
    const CUmemLocation checked = checked_location(one.location, services.devices);
    const bool ours = check(services, range) != Owner::program;
    // What is reported is what was asked for last, wherever the stream is.
    if (ours)
      services.managed_pages.update(to_pointer(range.first), range.bytes,
                                    [&](PageAdvice& page) { page.last_prefetch = checked; });
    enqueue_work(stream, range.bytes, [range, ours] {
      if (ours) memory::populate_pages(to_pointer(range.first), range.bytes);
    });
  }
}

void discard(const MemoryServices& services, Stream& stream, std::span<const MemoryRange> batch) {
  std::vector<MemoryRange> ours;
  for (const MemoryRange& range : batch)
    if (check(services, range) != Owner::program) ours.push_back(range);
  enqueue_work(stream, 0, [ours = std::move(ours)] {
    for (const MemoryRange& range : ours) memory::discard_pages(to_pointer(range.first), range.bytes);
  });
}

void attach(const MemoryServices& services, Stream& stream, MemoryRange range, unsigned flags) {
  require(flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST || flags == CU_MEM_ATTACH_SINGLE,
          CUDA_ERROR_INVALID_VALUE, "memory is attached to all streams, to the host or to a single stream");
  const auto found = services.allocations.find(to_pointer(range.first));
  if (found) {
    require(found->kind == memory::Kind::managed, CUDA_ERROR_INVALID_VALUE, "not managed memory");
    require(range.bytes == 0 || (to_pointer(range.first) == found->base && range.bytes == found->size),
            CUDA_ERROR_INVALID_VALUE, "managed memory is attached as a whole");
  } else {
    check(services, range);
  }
  const OpRef op(new MarkerOp);
  stream.enqueue(*op);
}

}  // namespace softgpu::runtime
