#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "softgpu/runtime/base/device.hpp"
#include "softgpu/runtime/base/location.hpp"
#include "softgpu/runtime/base/sizes.hpp"
#include "softgpu/runtime/memory/between_devices.hpp"
#include "softgpu/runtime/memory/memory_operations.hpp"
#include "softgpu/runtime/memory/memory_pool.hpp"
#include "softgpu/runtime/memory/memory_services.hpp"
#include "softgpu/runtime/work/stream_work.hpp"
#include "softgpu/usage/page.hpp"

namespace softgpu::runtime {
namespace {

// From the first byte to behind the last one.
std::size_t span(std::size_t width, std::size_t height, std::size_t depth, std::size_t pitch, std::size_t slice) {
  const std::size_t slices = checked_product(depth - 1, slice), rows = checked_product(height - 1, pitch);
  return checked_sum(checked_sum(slices, rows), width);
}

enum class Residence { pageable, pinned, device };

using memory::Access;
using memory::Kind;
using Extent = memory::AllocationTable::Extent;

// Stream-ordered memory of another device is out of reach unless its pool says otherwise; that of the host has no
// address on the device until then.
void require_access_to_pool(const MemoryServices& services, const std::byte* pointer, int device) {
  const auto found = services.allocations.find(pointer);
  if (!found || found->pool == nullptr) return;
  require(
      static_cast<MemoryPool&>(*found->pool).access(location_of_device(device)) == CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
      CUDA_ERROR_INVALID_VALUE, "the copy's device has no access to the memory pool (cuMemPoolSetAccess)");
}

// Where the host can stand in for the device, its own rights count as well.
Access access_of(const memory::Rights& rights, int device, bool host_will_do) {
  return host_will_do ? std::max(rights.of(device), rights.of(memory::Rights::kHost)) : rights.of(device);
}

// Memory of cuMemAlloc is never out of reach: the driver copies it by way of the host.
void require_access(const MemoryServices& services, const Extent& extent, const std::byte* pointer, Side side,
                    Access needed, int device) {
  const bool host_will_do = extent.kind == Kind::host && side == Side::any;
  // NVIDIA's driver also reads what was said to be memory of the device by way of the host.
  const bool host_may_read = extent.kind == Kind::host && needed == Access::read;
  if (extent.mapped)
    require(access_of(*extent.mapped, device, host_will_do || host_may_read) >= needed, CUDA_ERROR_INVALID_VALUE,
            "the copy's device was not given the access to the memory that it needs (cuMemSetAccess)");
  const bool is_elsewhere = extent.kind == Kind::device ? extent.device != device : extent.kind == Kind::host;
  if (extent.pooled && is_elsewhere && !host_will_do) require_access_to_pool(services, pointer, device);
}

// Checks that the memory is there: softgpu runs in the program's own address space, where a wrong address is fatal.
Residence check(const MemoryServices& services, const std::byte* pointer, std::size_t bytes, Side side, Access needed,
                int device) {
  require(pointer != nullptr, CUDA_ERROR_INVALID_VALUE, "a null pointer");
  checked_sum(reinterpret_cast<std::uintptr_t>(pointer), bytes);
  const auto extent = services.allocations.extent(pointer, bytes);
  if (!extent) {
    require(side == Side::any && !services.space.contains(pointer), CUDA_ERROR_INVALID_VALUE,
            "the pointer does not point to device memory");
    return Residence::pageable;
  }
  require(bytes <= extent->bytes, CUDA_ERROR_INVALID_VALUE, "the range is longer than the allocation it starts in");
  require_access(services, *extent, pointer, side, needed, device);
  return extent->kind == Kind::host || extent->kind == Kind::registered ? Residence::pinned : Residence::device;
}

struct Residences {
  Residence target, source;
};

Residences check(const MemoryServices& services, const Copy& copy, const Device& device) {
  require(copy.height == 1 || (copy.target_pitch >= copy.width && copy.source_pitch >= copy.width),
          CUDA_ERROR_INVALID_VALUE, "a pitch is smaller than the width");
  return {check(services, copy.target, span(copy.width, copy.height, copy.depth, copy.target_pitch, copy.target_slice),
                copy.target_side, Access::read_write, copy.target_device.value_or(device.ordinal())),
          check(services, copy.source, span(copy.width, copy.height, copy.depth, copy.source_pitch, copy.source_slice),
                copy.source_side, Access::read, copy.source_device.value_or(device.ordinal()))};
}

void perform(const Copy& copy) {
  for (std::size_t z = 0; z < copy.depth; ++z)
    for (std::size_t y = 0; y < copy.height; ++y)
      std::memmove(copy.target + z * copy.target_slice + y * copy.target_pitch,
                   copy.source + z * copy.source_slice + y * copy.source_pitch, copy.width);
}

// A copy whose source has been read: its rows lie one after the other in memory of its own.
struct Staged {
  explicit Staged(const Copy& original) : rest(original), stage(original.bytes()) {
    Copy in = original;
    in.target = stage.data();
    rest.source_pitch = in.target_pitch = original.width;
    rest.source_slice = in.target_slice = original.width * original.height;
    perform(in);
  }
  void finish() {
    rest.source = stage.data();
    perform(rest);
  }

  Copy rest;
  std::vector<std::byte> stage;
};

void copy_staged(Stream& stream, const Copy& original) {
  enqueue_work(stream, original.bytes(), [staged = Staged(original)]() mutable { staged.finish(); });
}

template <typename T>
void fill_row(std::byte* target, std::size_t count, std::uint32_t value) {
  auto* elements = reinterpret_cast<T*>(target);
  std::fill(elements, elements + count, static_cast<T>(value));
}

void perform(const Fill& fill) {
  const auto row = fill.element_bytes == 1   ? fill_row<std::uint8_t>
                   : fill.element_bytes == 2 ? fill_row<std::uint16_t>
                                             : fill_row<std::uint32_t>;
  for (std::size_t y = 0; y < fill.height; ++y) row(fill.target + y * fill.pitch, fill.width, fill.value);
}

// Where the time is counted that copies and fills of a device's memory take.
usage::DeviceCounters* counters_of(const Context& context) { return &context.counters(); }

// Small ones are not counted: they take less than looking at the clock.
template <typename Request>
void perform_counted(const Request& request, usage::DeviceCounters* counters) {
  constexpr std::size_t kLeastCountedBytes = 64 * 1024;
  if (request.bytes() < kLeastCountedBytes) return perform(request);
  const std::uint64_t begin = usage::now_ns();
  perform(request);
  usage::shared(counters->copy_ns).fetch_add(usage::now_ns() - begin, std::memory_order_relaxed);
}

}  // namespace

void copy(const MemoryServices& services, Stream& stream, const Copy& copy) {
  if (copy.bytes() == 0) return;
  check(services, copy, stream.context().device());
  between_devices(services, stream, copy,
                  [&] { work_in_turn(stream, [&] { perform_counted(copy, counters_of(stream.context())); }); });
}

void copy_async(const MemoryServices& services, Stream& stream, const Copy& request) {
  if (request.bytes() == 0) return;
  const auto [target, source] = check(services, request, stream.context().device());
  const bool between_hosts = target != Residence::device && source != Residence::device;
  const bool target_is_pageable = target == Residence::pageable, source_is_pageable = source == Residence::pageable;
  between_devices(services, stream, request, [&, counters = counters_of(stream.context())] {
    if (target_is_pageable || (between_hosts && source_is_pageable))
      work_in_turn(stream, [&] { perform_counted(request, counters); });
    else if (!source_is_pageable)
      enqueue_work(stream, request.bytes(), [request, counters] { perform_counted(request, counters); });
    else if (request.bytes() <= kInlineBytes)
      copy_staged(stream, request);
    else
      work_in_turn(stream, [&] { perform_counted(request, counters); });
  });
}

void copy_batch(const MemoryServices& services, Stream& stream, std::span<const BatchedCopy> batch,
                std::size_t* failed) {
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (failed != nullptr) *failed = i;
    if (batch[i].copy.bytes() != 0) check(services, batch[i].copy, stream.context().device());
  }
  std::vector<Copy> copies;
  std::vector<Staged> staged;
  std::size_t bytes = 0;
  for (const auto& [copy, access] : batch) {
    if (copy.bytes() == 0) continue;
    bytes += copy.bytes();
    access == SourceAccess::during_call ? static_cast<void>(staged.emplace_back(copy)) : copies.push_back(copy);
  }
  enqueue_work(
      stream, bytes,
      [copies = std::move(copies), staged = std::move(staged), counters = counters_of(stream.context())]() mutable {
        for (const Copy& copy : copies) perform_counted(copy, counters);
        for (Staged& copy : staged) copy.finish();
      });
}

// Memory that a graph uses may be gone by the time it is launched, which must not take the program with it.
template <typename Request>
OpRef make_checked_op(const MemoryServices& services, const OpPlace& place, const Request& request,
                      void (*check)(const MemoryServices&, const Request&, const Context&)) {
  return make_work_op(place, request.bytes(), [&services, request, check, context = place.context] {
    try {
      check(services, request, *context);
    } catch (const Failure& failure) {
      return context->record_outcome(exec::Outcome::illegal_address, failure.what());
    }
    perform_counted(request, counters_of(*context));
  });
}

OpRef make_op(const MemoryServices& services, const OpPlace& place, const Copy& copy) {
  return make_checked_op(services, place, copy, check_copy);
}
OpRef make_op(const MemoryServices& services, const OpPlace& place, const Fill& fill) {
  return make_checked_op(services, place, fill, check_fill);
}

void check_copy(const MemoryServices& services, const Copy& copy, const Context& context) {
  if (copy.bytes() != 0) check(services, copy, context.device());
}

void check_fill(const MemoryServices& services, const Fill& fill, const Context& context) {
  if (fill.bytes() == 0) return;
  require(reinterpret_cast<std::uintptr_t>(fill.target) % fill.element_bytes == 0, CUDA_ERROR_INVALID_VALUE,
          "the address is not a multiple of the element's size");
  const std::size_t row = checked_product(fill.width, fill.element_bytes);
  require(fill.height == 1 || (fill.pitch >= row && fill.pitch % fill.element_bytes == 0), CUDA_ERROR_INVALID_VALUE,
          "the pitch is too small or not a multiple of the element's size");
  check(services, fill.target, span(row, fill.height, 1, fill.pitch, 0), Side::device, Access::read_write,
        context.device().ordinal());
}

void fill_async(const MemoryServices& services, Stream& stream, const Fill& fill) {
  if (fill.bytes() == 0) return;
  check_fill(services, fill, stream.context());
  enqueue_work(stream, fill.bytes(),
               [fill, counters = counters_of(stream.context())] { perform_counted(fill, counters); });
}

}  // namespace softgpu::runtime
