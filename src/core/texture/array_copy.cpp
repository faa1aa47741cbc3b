#include <cuprum/error.hpp>
#include <cuprum/stream.hpp>
#include <cuprum/texture/opaque_array.hpp>

#include "core/memory/buffer_resource.hpp"
#include "core/memory/keeper.hpp"
#include "core/stream/captures.hpp"
#include "core/stream/queue_call.hpp"
#include "core/texture/resources.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI::texture {

using core::ArrayFacts;
using core::Owners;
using cuprum::detail::Access;
using cuprum::detail::ArrayResource;
using cuprum::detail::BufferResource;
using cuprum::detail::Kept;
using cuprum::detail::StreamResource;
using driver::Api;
using driver::Doing;
using support::text;

namespace {

/// The driver has each side of a copy in members of its own. This is either.
struct Side {
  CUmemorytype type;
  CUarray array = nullptr;
  DevicePointer memory = 0;  ///< rows without gaps; of any kind
};

Side side_of(const Kept<ArrayResource>& array) { return {CU_MEMORYTYPE_ARRAY, array->handle}; }
Side side_of(const Kept<BufferResource>& memory) {
  const CUmemorytype type = memory->facts().is_device_accessible ? CU_MEMORYTYPE_UNIFIED : CU_MEMORYTYPE_HOST;
  return {type, nullptr, memory->pointer};
}
Side side_of(const void* host) { return {CU_MEMORYTYPE_HOST, nullptr, reinterpret_cast<DevicePointer>(host)}; }

CUDA_MEMCPY3D whole_copy(const ArrayFacts& facts, const Side& from, const Side& to) {
  CUDA_MEMCPY3D copy{};
  copy.WidthInBytes = facts.row_bytes();
  copy.Height = facts.extent(1);
  copy.Depth = facts.extent(2);
  copy.srcMemoryType = from.type;
  copy.srcArray = from.array;
  if (from.type == CU_MEMORYTYPE_HOST)
    copy.srcHost = reinterpret_cast<const void*>(from.memory);
  else
    copy.srcDevice = from.memory;
  copy.dstMemoryType = to.type;
  copy.dstArray = to.array;
  if (to.type == CU_MEMORYTYPE_HOST)
    copy.dstHost = reinterpret_cast<void*>(to.memory);
  else
    copy.dstDevice = to.memory;
  if (from.type != CU_MEMORYTYPE_ARRAY) copy.srcPitch = facts.row_bytes(), copy.srcHeight = facts.extent(1);
  if (to.type != CU_MEMORYTYPE_ARRAY) copy.dstPitch = facts.row_bytes(), copy.dstHeight = facts.extent(1);
  return copy;
}

std::shared_ptr<const void> keeper(const Kept<ArrayResource>& array) {
  return std::make_shared<const Kept<ArrayResource>>(array);
}
std::shared_ptr<const void> keeper(const Kept<BufferResource>& memory) { return core::memory_keeper(memory); }
std::shared_ptr<const void> keeper(const void*) { return nullptr; }

template <typename From, typename To>
void queue(const ArrayFacts& facts, const From& from, const To& to, const Stream& stream) {
  const Kept<StreamResource> queue = Access::keep(stream);
  core::keep_if_captured(*queue, [&] { return Owners{keeper(from), keeper(to)}; });
  const CUDA_MEMCPY3D copy = whole_copy(facts, side_of(from), side_of(to));
  const auto doing = [&] {
    const bool is_source = copy.srcMemoryType == CU_MEMORYTYPE_ARRAY;
    return text("copying an array of ", core::in_words(facts), is_source ? "" : " from its source", " on ", stream);
  };
  core::queue_work<&Api::cuMemcpy3DAsync>(*queue, Doing{doing}, &copy, queue->handle);
}

void check_size(const ArrayFacts& facts, std::size_t bytes, const char* side) {
  if (bytes >= facts.size_bytes()) return;
  throw InvalidArgument(text("copy of an array of ", core::in_words(facts), ": it has ", facts.size_bytes(),
                             " bytes, and the ", side, " only ", bytes));
}

void check_alike(const ArrayResource& from, const ArrayResource& to) {
  const auto refuse = [&](const char* why) {
    throw InvalidArgument(
        text("copy of an array of ", core::in_words(from.facts), " to one of ", core::in_words(to.facts), ": ", why));
  };
  if (from.facts.shape != to.facts.shape) refuse("the shapes must be equal");
  if (from.facts.element_bytes() != to.facts.element_bytes()) refuse("the texels must have as many bytes");
  if (&from.context != &to.context) refuse("they are of different contexts: copy to a buffer, and from that");
}

void copy(const OpaqueArray& destination, const OpaqueArray& source, const Stream& stream) {
  const Kept<ArrayResource> to = Access::keep(destination), from = Access::keep(source);
  check_alike(*from, *to);
  queue(to->facts, from, to, stream);
}

}  // namespace

void OpaqueArray::copy_from(const Buffer& source, const Stream& stream) const {
  const Kept<ArrayResource> to = Access::keep(*this);
  const Kept<BufferResource> from = Access::keep(source);
  check_size(to->facts, from->size, "buffer");
  queue(to->facts, from, to, stream);
}

Buffer OpaqueArray::copy_to(const Buffer& destination, const Stream& stream) const {
  const Kept<ArrayResource> from = Access::keep(*this);
  const Kept<BufferResource> to = Access::keep(destination);
  check_size(from->facts, to->size, "buffer");
  queue(from->facts, from, to, stream);
  return destination;
}

void OpaqueArray::copy_from(const OpaqueArray& source, const Stream& stream) const { copy(*this, source, stream); }

OpaqueArray OpaqueArray::copy_to(const OpaqueArray& destination, const Stream& stream) const {
  copy(destination, *this, stream);
  return destination;
}

void OpaqueArray::copy_from_host(const void* source, std::size_t bytes, const Stream& stream) const {
  const Kept<ArrayResource> to = Access::keep(*this);
  check_size(to->facts, bytes, "host memory");
  queue(to->facts, source, to, stream);
}

void OpaqueArray::copy_to_host(void* destination, std::size_t bytes, const Stream& stream) const {
  const Kept<ArrayResource> from = Access::keep(*this);
  check_size(from->facts, bytes, "host memory");
  queue(from->facts, from, static_cast<const void*>(destination), stream);
}

}  // namespace cuprum::inline CUPRUM_ABI::texture
