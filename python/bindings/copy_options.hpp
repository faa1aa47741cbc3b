// How copies may be carried out, and the places that hints name.
#pragma once

#include "bindings/common.hpp"

namespace cuprum::python {

/// A Device or a Host. TypeError for what else.
Location location_from(nb::handle object);
/// The Python object of a place.
nb::object location_object(const Location& location);

/// ValueError for memory that is not managed.
void require_managed(const Buffer& buffer, const char* function);

/// Of a CopyOptions or a dict; none for None. TypeError for what else.
std::optional<CopyOptions> copy_options_from(nb::handle given, const char* function);

/// Streams on which the driver takes no options: cuda.core raises TypeError.
[[noreturn]] void refuse_captured_copy(const char* function, const char* message);
void refuse_legacy_stream(const Stream& stream, const char* function);

/// Queues copies with options, without the GIL.
template <typename Copy>
void with_copy_errors(const Stream& stream, const char* function, Copy copy) {
  refuse_legacy_stream(stream, function);
  try {
    without_gil(copy);
  } catch (const WrongState& error) {
    refuse_captured_copy(function, error.what());
  } catch (const NotSupported& error) {
    throw NotSupported(std::string(function) + " with src_access_order=DURING_API_CALL: " + error.what());
  }
}

}  // namespace cuprum::python
