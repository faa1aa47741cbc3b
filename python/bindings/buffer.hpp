// What other bindings need of buffers.
#pragma once

#include "bindings/common.hpp"
#include "bindings/memory_resource.hpp"

namespace cuprum::python {

/// What Buffer.fill and memset nodes repeat: an int from 0 to 255, or the 1, 2 or 4 bytes of an object with the buffer
/// protocol. OverflowError, TypeError and ValueError for what else.
struct FillPattern {
  std::byte bytes[4];
  std::size_t size;
};
FillPattern fill_pattern_from(nb::handle value);

/// from_handle of Buffer and of the classes that derive from it.
template <typename Class>
Class buffer_from_handle(nb::handle pointer, nb::handle size, nb::handle resource, nb::handle owner,
                         nb::handle stream) {
  if (!resource.is_none() && !owner.is_none())
    throw nb::value_error("owner and memory resource cannot be both specified together");
  if (!stream.is_none() && resource.is_none()) throw nb::value_error("stream requires a memory resource (mr)");
  const std::uint64_t address = raw_value(pointer, "ptr");
  const std::size_t bytes = size_from(size);
  if (resource.is_none()) return Class::from_handle(address, bytes, owner.is_none() ? nullptr : kept_object(owner));
  const MemoryResource taking = memory_resource_from(resource);
  const Stream queue = stream_or_default(stream);
  require_context(queue);
  return without_gil([&] { return Class::from_handle(address, bytes, taking, queue); });
}

}  // namespace cuprum::python
