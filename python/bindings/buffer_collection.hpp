// Buffers and Python's garbage collector, which collects cycles through what a buffer holds of Python: the owner of
// wrapped memory, and a memory resource that is written in Python.
#pragma once

#include "bindings/common.hpp"

namespace cuprum::python {

/// Slots of a type.
int traverse_buffer(PyObject* self, visitproc visit, void* arg) noexcept;
int clear_buffer(PyObject* self) noexcept;
void finalize_buffer(PyObject* self) noexcept;

/// A buffer's object goes: nothing that was found out of it holds any more.
void forget_in_collection(const void* buffer) noexcept;

/// Has Python tell when it collects.
void watch_collections();

}  // namespace cuprum::python
