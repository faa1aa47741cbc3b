// Allocating, freeing, copying and setting memory.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <optional>
#include <span>

#include "softgpu/memory/allocation_table.hpp"
#include "softgpu/runtime/base/sizes.hpp"
#include "softgpu/runtime/work/op.hpp"

namespace softgpu::runtime {

struct MemoryServices;
class Stream;

inline std::byte* to_pointer(CUdeviceptr pointer) { return reinterpret_cast<std::byte*>(pointer); }
inline CUdeviceptr to_device(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

// All throw CUDA_ERROR_OUT_OF_MEMORY; sizes of 0 are refused, except that of the host's memory, which is null then.
CUdeviceptr allocate_device(MemoryServices& services, Context& context, std::size_t bytes);
CUdeviceptr allocate_managed(MemoryServices& services, Context& context, std::size_t bytes, unsigned flags);
void* allocate_host(MemoryServices& services, Context& context, std::size_t bytes, unsigned flags);

// Wait for what is under way, which may use the memory.
void free_device(MemoryServices& services, CUdeviceptr pointer);
void free_host(MemoryServices& services, void* pointer);
// The memory of CUDA arrays, which programs know by handles only.
std::byte* allocate_array(MemoryServices& services, Context& context, std::size_t bytes);
void free_array(MemoryServices& services, std::byte* base);
// Gives the memory back at once; registered memory is the program's.
void release(MemoryServices& services, const memory::Allocation& allocation);

void register_host(MemoryServices& services, Context& context, void* pointer, std::size_t bytes, unsigned flags);
void unregister_host(MemoryServices& services, void* pointer);

// Where a copy's or set's memory has to be.
enum class Side { any, device };

// Rows of `width` bytes, `height` of them in a slice, `depth` slices. Pitches are in bytes.
struct Copy {
  std::byte* target = nullptr;
  const std::byte* source = nullptr;
  std::size_t width = 0, height = 1, depth = 1;
  std::size_t target_pitch = 0, target_slice = 0, source_pitch = 0, source_slice = 0;
  Side target_side = Side::any, source_side = Side::any;
  // The devices that have to have access to the memory; none: the stream's.
  std::optional<int> target_device, source_device;

  std::size_t bytes() const { return checked_product(checked_product(width, height), depth); }
};

// Returns when it is done.
void copy(const MemoryServices& services, Stream& stream, const Copy& copy);
// Returns at once, except as CUDA says: when pageable host memory would have to stay untouched until the copy's turn.
void copy_async(const MemoryServices& services, Stream& stream, const Copy& copy);

// When a batched copy may read its source.
enum class SourceAccess {
  in_stream,    // when it is the copy's turn
  during_call,  // before copy_batch() returns, whatever the stream still has to do
  any_time,     // from the call on
};
struct BatchedCopy {
  Copy copy;
  SourceAccess access = SourceAccess::in_stream;
};
// Checks all of them, then enqueues them as one; returns at once, whatever kind of memory it is. `failed`, unless null,
// is the index of the copy that could not be.
void copy_batch(const MemoryServices& services, Stream& stream, std::span<const BatchedCopy> batch,
                std::size_t* failed);

// `width` elements of `element_bytes` (1, 2 or 4) in each of `height` rows.
struct Fill {
  std::byte* target = nullptr;
  std::size_t width = 0, height = 1, pitch = 0;
  unsigned element_bytes = 1;
  std::uint32_t value = 0;

  std::size_t bytes() const { return checked_product(checked_product(width, height), element_bytes); }
};
void fill_async(const MemoryServices& services, Stream& stream, const Fill& fill);

// For nodes of graphs: throw what is wrong with a request, and make the Op that does it once.
void check_copy(const MemoryServices& services, const Copy& copy, const Context& context);
void check_fill(const MemoryServices& services, const Fill& fill, const Context& context);
OpRef make_op(const MemoryServices& services, const OpPlace& place, const Copy& copy);
OpRef make_op(const MemoryServices& services, const OpPlace& place, const Fill& fill);

}  // namespace softgpu::runtime
