#include "bindings/buffer_collection.hpp"

#include <atomic>
#include <unordered_map>

#include "bindings/memory_resource.hpp"

namespace cuprum::python {
namespace {

/// What the object of a buffer holds.
struct Held {
  PyObject* noted_resource = nullptr;  ///< by the object itself
  PyObject* owner = nullptr;           ///< by the memory, which nobody but this object holds
  PyObject* resource = nullptr;        ///< the same
};

/// A collection asks several times what an object holds, and takes for garbage what it is told of at first and not
/// later. Other threads may keep the memory for a moment meanwhile; so what was found first holds until the end.
///
/// Where there is no GIL, a collection asks while all other threads are stopped, but before and after that they run,
/// and buffers of theirs end. None of them is stopped where it has this lock, so the collection never waits for it.
nb::ft_mutex found_mutex;
std::atomic<bool> is_under_way{false};
std::unordered_map<const void*, Held>& found_so_far = *new std::unordered_map<const void*, Held>;

Held find(PyObject* self) {
  Held held{.noted_resource = noted_resource(self)};
  const Buffer& buffer = *nb::inst_ptr<Buffer>(self);
  if (buffer.handle() == 0 || buffer.is_shared()) return held;
  try {
    held.owner = object_kept_once(buffer.owner());
    if (const std::optional<MemoryResource> resource = buffer.memory_resource()) held.resource = held_once(*resource);
  } catch (const Error&) {
    // It was closed just now, so it holds nothing.
  }
  return held;
}

Held held_by(PyObject* self) {
  if (!is_under_way) return find(self);
  nb::ft_lock_guard lock(found_mutex);
  const void* const buffer = nb::inst_ptr<Buffer>(self);
  const auto known = found_so_far.find(buffer);
  return known != found_so_far.end() ? known->second : found_so_far.emplace(buffer, find(self)).first->second;
}

/// Lets go of the memory, if it holds something of Python and nobody else has it.
void drop_memory(PyObject* self) {
  const Held held = find(self);
  if (!held.owner && !held.resource) return;
  Buffer* const buffer = nb::inst_ptr<Buffer>(self);
  nb::error_scope error_of_the_caller;
  without_gil([memory = std::move(*buffer)]() mutable { memory = Buffer(); });
  forget_in_collection(buffer);
}

PyObject* collection_begins_or_ends(PyObject*, PyObject* arguments) noexcept {
  PyObject* const phase = PyTuple_GetItem(arguments, 0);
  nb::ft_lock_guard lock(found_mutex);
  is_under_way = phase && PyUnicode_CompareWithASCIIString(phase, "start") == 0;
  found_so_far.clear();
  Py_RETURN_NONE;
}

PyMethodDef on_collection = {"on_collection", &collection_begins_or_ends, METH_VARARGS, nullptr};

}  // namespace

int traverse_buffer(PyObject* self, visitproc visit, void* arg) noexcept {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self) || nb::inst_ptr<Buffer>(self)->handle() == 0) return 0;
  const Held held = held_by(self);
  Py_VISIT(held.noted_resource);
  Py_VISIT(held.owner);
  Py_VISIT(held.resource);
  return 0;
}

int clear_buffer(PyObject* self) noexcept {
  if (!nb::inst_ready(self)) return 0;
  drop_memory(self);
  forget_noted_resource(self);
  return 0;
}

// Before anything is cleared: a resource that is written in Python gets its memory back as long as it is whole.
void finalize_buffer(PyObject* self) noexcept {
  if (nb::inst_ready(self)) drop_memory(self);
}

void forget_in_collection(const void* buffer) noexcept {
  if (!is_under_way) return;
  nb::ft_lock_guard lock(found_mutex);
  found_so_far.erase(buffer);
}

void watch_collections() {
  nb::object call = nb::steal(PyCFunction_NewEx(&on_collection, nullptr, nullptr));
  nb::module_::import_("gc").attr("callbacks").attr("append")(call);
}

}  // namespace cuprum::python
