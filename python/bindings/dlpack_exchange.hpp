// DLPack's functions for C, which types of other libraries have (torch.Tensor since PyTorch 2.10): they say what an
// array is without a call of Python.
#pragma once

#include "bindings/strided_memory_view.hpp"

namespace cuprum::python {

/// Whether arrays of the type are described by functions for C.
bool has_exchange_functions(nb::handle object);

/// Fills an empty view as those functions describe it. False, and the view stays empty, where they can't say all there
/// is to say, and the object's own methods must be asked.
bool fill_by_exchange(PythonView& view, nb::handle object, nb::handle stream);

/// Where the array is, for as long as the object is not changed; nothing where those functions don't say it.
std::optional<DLTensor> tensor_by_exchange(nb::handle object);

/// The stream in DLPack's terms, for a device of that kind: None where the host needs no order. BufferError for None
/// where an order is needed.
nb::object consumer_stream(int kind, nb::handle stream);

/// Whether the caller asked for no order, by the number -1.
inline bool is_unordered(nb::handle stream) {
  int overflow = 0;
  return PyLong_CheckExact(stream.ptr()) && PyLong_AsLongAndOverflow(stream.ptr(), &overflow) == -1 && overflow == 0;
}

}  // namespace cuprum::python
