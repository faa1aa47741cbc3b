// Parts of a device: see <cuprum/device_resources.hpp>.
#include "bindings/device_resources.hpp"

#include "bindings/option_fields.hpp"

namespace cuprum::python {
namespace {

bool is_sequence_of_values(nb::handle given) {
  if (PyUnicode_Check(given.ptr()) || PyBytes_Check(given.ptr())) return false;
  if (PyList_Check(given.ptr()) || PyTuple_Check(given.ptr())) return true;
  static constinit MadeOnce sequence;
  return nb::isinstance(
      given, sequence.get([] { return nb::object(nb::module_::import_("collections.abc").attr("Sequence")); }));
}

int count_from(nb::handle given, const char* name) { return given.is_none() ? 0 : value_from<int>(given, name); }

PerGroup<int> counts_field(nb::handle options, const char* name) {
  const nb::object given = options.attr(name);
  if (given.is_none()) return {};
  if (PyLong_Check(given.ptr())) return count_from(given, name);
  if (!is_sequence_of_values(given)) {
    const std::string message = std::string(name) + " must be int, Sequence, or None, got " + type_of(given);
    throw nb::type_error(message.c_str());
  }
  std::vector<int> counts;
  for (nb::handle one : given) counts.push_back(count_from(one, name));
  if (counts.empty()) throw nb::value_error((std::string(name) + " sequence must not be empty").c_str());
  return counts;
}

PerGroup<bool> flags_field(nb::handle options, const char* name) {
  const nb::object given = options.attr(name);
  if (given.is_none()) return {};
  if (!is_sequence_of_values(given)) return truth_field(options, name).value_or(false);
  std::vector<bool> flags;
  for (nb::handle one : given) {
    const int truth = PyObject_IsTrue(one.ptr());
    if (truth < 0) throw nb::python_error();
    flags.push_back(truth != 0);
  }
  return flags;
}

nb::tuple split(const SMResource& self, nb::handle given, bool dry_run) {
  const nb::object options = options_object("SMResourceOptions", given, "SM resource options");
  const SMResourceOptions wanted{
      .count = counts_field(options, "count"),
      .coscheduled_sm_count = counts_field(options, "coscheduled_sm_count"),
      .preferred_coscheduled_sm_count = counts_field(options, "preferred_coscheduled_sm_count"),
      .backfill = flags_field(options, "backfill")};
  const SMSplit made = without_gil([&] { return self.split(wanted, dry_run); });
  nb::list groups;
  for (const SMResource& group : made.groups) groups.append(group);
  return nb::make_tuple(groups, made.remainder);
}

const char* name_of(WorkqueueSharingScopeType scope) {
  return scope == WorkqueueSharingScopeType::device_ctx ? "device_ctx" : "green_ctx_balanced";
}

void configure(WorkqueueResource& self, nb::handle given) {
  const nb::object options = options_object("WorkqueueResourceOptions", given, "Workqueue resource options");
  WorkqueueResourceOptions wanted{.sharing_scope = {}, .concurrency_limit = number_field(options, "concurrency_limit")};
  if (const auto scope = text_field(options, "sharing_scope")) {
    wanted.sharing_scope =
        *scope == "device_ctx" ? WorkqueueSharingScopeType::device_ctx : WorkqueueSharingScopeType::green_ctx_balanced;
  }
  self.configure(wanted);
}

DeviceResource resource_from(nb::handle given) {
  if (nb::isinstance<SMResource>(given)) return nb::cast<SMResource>(given);
  if (nb::isinstance<WorkqueueResource>(given)) return nb::cast<WorkqueueResource>(given);
  throw nb::type_error(("Unsupported context resource type: " + type_of(given)).c_str());
}

template <typename Class>
std::string in_words(const Class& object) {
  std::ostringstream text;
  text << object;
  return text.str();
}

std::uint64_t address_of(const CUdevResource_st* handle) { return reinterpret_cast<std::uint64_t>(handle); }

void bind_sm_resource(nb::module_& module) {
  nb::class_<SMResource> bound(module, "SMResource", nb::is_weak_referenceable(),
                               "Multiprocessors of a device: all of them, those of a context, or a group.\n\n"
                               ">>> from cuprum import Device\n"
                               ">>> device = Device()\n"
                               ">>> device.resources.sm.sm_count == device.properties.multiprocessor_count\n"
                               "True\n");
  forbid_construction(bound,
                      "SMResource cannot be instantiated directly. Use Device.resources.sm or SMResource.split().");
  bound
      .def_prop_ro(
          "handle", [](const SMResource& self) { return address_of(self.handle()); },
          "The address of the driver's CUdevResource, which lives as long as this object.")
      .def_prop_ro("sm_count", &SMResource::sm_count, "How many there are.")
      .def_prop_ro("min_partition_size", &SMResource::min_partition_size,
                   "The smallest group that they can be divided into.")
      .def_prop_ro("coscheduled_alignment", &SMResource::coscheduled_alignment, "How many are scheduled together.")
      .def_prop_ro("flags", &SMResource::flags, "As the driver gives them.")
      .def("split", &split, "options"_a.none(), nb::kw_only(), "dry_run"_a = false,
           "Divides them into groups that don't overlap: a list of these, and what remains. With `dry_run` the result "
           "only tells what it would be.")
      .def("__repr__", [](const SMResource& self) { return "<SMResource: " + in_words(self) + ">"; });
}

void bind_workqueue_resource(nb::module_& module) {
  nb::class_<WorkqueueResource> bound(module, "WorkqueueResource", nb::is_weak_referenceable(),
                                      "The queues through which work gets to a device.");
  forbid_construction(bound, "WorkqueueResource cannot be instantiated directly. Use Device.resources.workqueue.");
  bound
      .def_prop_ro(
          "handle", [](const WorkqueueResource& self) { return address_of(self.handle()); },
          "The address of the driver's CUdevResource with the configuration.")
      .def_prop_ro(
          "sharing_scope",
          [](const WorkqueueResource& self) {
            return nb::module_::import_("cuprum.typing")
                .attr("WorkqueueSharingScopeType")(name_of(self.sharing_scope()));
          },
          "Who shares them: a WorkqueueSharingScopeType.")
      .def_prop_ro("concurrency_limit", &WorkqueueResource::concurrency_limit,
                   "How many streams are expected to have work at once.")
      .def_prop_ro(
          "device", [](const WorkqueueResource& self) { return device_object(self.device()); }, "Whose they are.")
      .def("configure", &configure, "options"_a.none(), "Changes it, for contexts that are made of it afterwards.")
      .def("__repr__", [](const WorkqueueResource& self) { return "<WorkqueueResource: " + in_words(self) + ">"; });
}

}  // namespace

ContextOptions context_options_from(nb::handle given) {
  if (given.is_none())
    throw nb::value_error("options with device resources must be provided to create a green context");
  const nb::object options = options_object("ContextOptions", given, "Context options");
  const nb::object resources = options.attr("resources");
  if (resources.is_none()) throw nb::value_error("ContextOptions.resources must be provided to create a green context");
  ContextOptions wanted;
  for (nb::handle one : nb::iter(resources)) wanted.resources.push_back(resource_from(one));
  if (wanted.resources.empty()) throw nb::value_error("ContextOptions.resources must not be empty");
  return wanted;
}

void bind_device_resources(nb::module_& module) {
  bind_sm_resource(module);
  bind_workqueue_resource(module);
  nb::class_<DeviceResources> bound(module, "DeviceResources", nb::is_weak_referenceable(),
                                    "What a device has, or a context was given. Each property asks the driver anew.\n\n"
                                    ">>> from cuprum import ContextOptions, Device\n"
                                    ">>> device = Device(); device.set_current()\n"
                                    ">>> sm = device.resources.sm\n"
                                    ">>> green = device.create_context(ContextOptions(resources=[sm]))\n"
                                    ">>> green.resources.sm.sm_count == sm.sm_count\n"
                                    "True\n"
                                    ">>> green.close()\n");
  forbid_construction(bound,
                      "DeviceResources cannot be instantiated directly. Use Device.resources or Context.resources.");
  bound.def_prop_ro("sm", &DeviceResources::sm, WithoutGil(), "The multiprocessors.")
      .def_prop_ro("workqueue", &DeviceResources::workqueue, WithoutGil(),
                   "The queues; the driver has to be of CUDA 13.1 or newer.");
}

}  // namespace cuprum::python
