// Sharing memory with other processes: what the classes of pools have in common.
#pragma once

#include "bindings/common.hpp"
#include "bindings/memory_resource.hpp"
#include "bindings/uuid.hpp"

namespace cuprum::python {

/// Teaches multiprocessing how to send what is shared: see cuprum._ipc. Not done at import, because that takes long.
void prepare_pickling();

/// A call that says of a pool that it can't be shared, in the words of cuda.core.
template <typename Pool>
const Pool& shared_pool(const Pool& pool) {
  if (!pool.handle() || !pool.is_ipc_enabled()) throw std::runtime_error("Memory resource is not IPC-enabled");
  return pool;
}

/// A pool imported by a handle, or by the number of a file descriptor that stays the caller's.
template <typename Import>
nb::object imported_pool(nb::handle handle, Import import) {
  prepare_pickling();
  try {
    if (nb::isinstance<IPCAllocationHandle>(handle)) {
      const IPCAllocationHandle given = nb::cast<const IPCAllocationHandle&>(handle);
      return memory_resource_object(without_gil([&] { return import(given); }));
    }
    const int descriptor = nb::cast<int>(handle);
    return memory_resource_object(without_gil([&] { return import(descriptor); }));
  } catch (const WrongState&) {
    throw;
  } catch (const InvalidArgument& error) {
    throw WrongType(error.what());  // of another kind of memory
  } catch (const nb::cast_error&) {
    if (PyLong_Check(handle.ptr())) {
      throw nb::value_error(
          ("alloc_handle can't be " + nb::cast<std::string>(nb::str(handle)) + ": no file descriptor has that number")
              .c_str());
    }
    throw nb::type_error(
        ("alloc_handle must be an IPCAllocationHandle or a file descriptor's number, not " + type_of(handle)).c_str());
  }
}

/// The one Python object of a pool's allocation handle: multiprocessing can't send a file descriptor twice.
nb::object handle_object(const MemoryPool& pool);

template <typename Pool>
void bind_pool_sharing(nb::class_<Pool, MemoryPool>& bound) {
  bound
      .def_prop_ro(
          "allocation_handle", [](const Pool& self) { return handle_object(shared_pool(self)); },
          "For other processes, which can map the pool's memory by it.")
      .def(
          "get_allocation_handle", [](const Pool& self) { return handle_object(shared_pool(self)); },
          "allocation_handle, as it was called before.")
      .def(
          "register",
          [](Self<Pool> self, nb::handle uuid) {
            const Uuid name = uuid_from(uuid);
            register_resource(self);
            try {
              return memory_resource_object(shared_pool(*self).register_as(name));
            } catch (const InvalidArgument& error) {
              throw WrongState(error.what());
            }
          },
          "uuid"_a.none(), "Registers the pool by a uuid.UUID, and returns what is registered by it.")
      .def_static(
          "from_registry",
          [](nb::handle uuid) {
            const Uuid name = uuid_from(uuid);
            try {
              return memory_resource_object(Pool::from_registry(name));
            } catch (const InvalidArgument&) {
              throw std::runtime_error("Memory resource " + name.to_string() + " was not found");
            }
          },
          "uuid"_a.none(), "The pool that is registered by a uuid.UUID.")
      .def("__reduce__", [](const Pool& self) {
        const std::optional<Uuid> uuid = shared_pool(self).uuid();
        return nb::make_tuple(nb::module_::import_("cuprum._ipc").attr("pool_from_registry"),
                              nb::make_tuple(nb::type<Pool>(), uuid ? uuid_object(*uuid) : nb::none()));
      });
}

}  // namespace cuprum::python
