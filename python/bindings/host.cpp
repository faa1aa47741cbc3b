// The host as a place for memory: see <cuprum/host.hpp>.
#include <map>
#include <mutex>

#include "bindings/copy_options.hpp"

namespace cuprum::python {
namespace {

/// Of each place there is one object, for ever.
nb::object host_object(const Host& host) {
  static std::map<int, PyObject*>& objects = *new std::map<int, PyObject*>;
  static nb::ft_mutex mutex;
  const int key = host.is_numa_current() ? -2 : host.numa_id().value_or(-1);
  nb::ft_lock_guard lock(mutex);
  PyObject*& object = objects[key];
  if (!object) {
    nb::object made = nb::inst_alloc(nb::type<Host>());
    new (nb::inst_ptr<Host>(made)) Host(host);
    nb::inst_mark_ready(made);
    object = made.release().ptr();
  }
  return nb::borrow(object);
}

nb::object make_host(nb::handle numa_id, bool is_numa_current) {
  if (is_numa_current) {
    if (!numa_id.is_none()) throw nb::value_error("numa_id and is_numa_current are mutually exclusive");
    return host_object(Host::numa_current());
  }
  if (numa_id.is_none()) return host_object(Host());
  int node = -1;
  if (!PyLong_Check(numa_id.ptr()) || PyBool_Check(numa_id.ptr()) || !nb::try_cast(numa_id, node) || node < 0) {
    throw nb::value_error(
        ("numa_id must be a non-negative int, got " + nb::cast<std::string>(nb::repr(numa_id))).c_str());
  }
  return host_object(Host(node));
}

std::string host_in_words(const Host& self) {
  if (self.is_numa_current()) return "Host.numa_current()";
  if (!self.numa_id()) return "Host()";
  return "Host(numa_id=" + std::to_string(*self.numa_id()) + ")";
}

}  // namespace

nb::object location_object(const Location& location) {
  return location.is_device() ? device_object(location.device()) : host_object(location.host());
}

void bind_host(nb::module_& module) {
  nb::class_<Host> bound(module, "Host", nb::is_weak_referenceable(), nb::type_slots(no_plain_allocation),
                         "The host as a place for managed memory: as a whole, one of its NUMA nodes, or the node of\n"
                         "the calling thread. There is one object of each.\n\n"
                         ">>> from cuprum import Host\n"
                         ">>> Host(numa_id=1) is Host(1)\n"
                         "True\n");
  bound.def(nb::new_(&make_host), "numa_id"_a = nb::none(), nb::kw_only(), "is_numa_current"_a = false)
      .def_static(
          "numa_current", [] { return host_object(Host::numa_current()); }, "The NUMA node of the calling thread.")
      .def_prop_ro("numa_id", &Host::numa_id, "The NUMA node, or None.")
      .def_prop_ro("is_numa_current", &Host::is_numa_current, "Whether it was made by numa_current().")
      .def(Equality<Host>())
      .def("__repr__", &host_in_words)
      .def("__reduce__", [](const Host& self) {
        if (self.is_numa_current())
          return nb::make_tuple(nb::module_::import_("cuprum._pickling").attr("numa_current"), nb::tuple());
        return nb::make_tuple(nb::type<Host>(), nb::make_tuple(self.numa_id()));
      });
}

}  // namespace cuprum::python
