// The shape of a launch: see <cuprum/launch_config.hpp>.
#include "bindings/common.hpp"

namespace cuprum::python {
namespace {

[[noreturn]] void refuse_extents(const char* label, const char* problem, nb::handle given) {
  const std::string message =
      std::string("LaunchConfig.") + label + " " + problem + " (got " + nb::cast<std::string>(nb::repr(given)) + ")";
  throw nb::value_error(message.c_str());
}

std::int64_t extent_from(const char* label, nb::handle number, nb::handle given) {
  nb::object index = nb::steal(PyNumber_Index(number.ptr()));
  if (!index.is_valid()) {
    PyErr_Clear();
    refuse_extents(label, "must be an int, or a tuple with up to 3 ints", given);
  }
  const long long value = PyLong_AsLongLong(index.ptr());
  if (PyErr_Occurred()) {
    PyErr_Clear();
    refuse_extents(label, "has an extent that is too large", given);
  }
  if (value < 1) refuse_extents(label, "values must be >= 1", given);
  return value;
}

Dim3 extents_from(const char* label, nb::handle given) {
  if (!nb::isinstance<nb::tuple>(given) && !nb::isinstance<nb::list>(given)) {
    if (given.is_none()) refuse_extents(label, "must be given: an int, or a tuple with up to 3 ints", given);
    return Dim3(extent_from(label, given, given));
  }
  const std::size_t count = nb::len(given);
  if (count < 1 || count > 3) refuse_extents(label, "must be an int, or a tuple with up to 3 ints", given);
  Dim3 extents;
  std::int64_t* const places[] = {&extents.x, &extents.y, &extents.z};
  for (std::size_t i = 0; i < count; ++i) *places[i] = extent_from(label, nb::object(given[i]), given);
  return extents;
}

void set_cluster(LaunchConfig& config, nb::handle given) {
  if (given.is_none()) {
    config.cluster.reset();
    return;
  }
  const ComputeCapability capability = Device().compute_capability();
  if (capability < ComputeCapability{9, 0}) {
    throw NotSupported("thread block clusters are not supported on devices with compute capability < 9.0 (got " +
                       std::to_string(capability.major) + "." + std::to_string(capability.minor) + ")");
  }
  config.cluster = extents_from("cluster", given);
}

void set_shmem_size(LaunchConfig& config, nb::handle given) {
  if (given.is_none()) {
    config.shmem_size = 0;
    return;
  }
  nb::object index = nb::steal(PyNumber_Index(given.ptr()));
  if (!index.is_valid()) {
    PyErr_Clear();
    throw nb::type_error(("shmem_size must be an int, not " + type_of(given)).c_str());
  }
  const std::size_t value = PyLong_AsSize_t(index.ptr());
  if (PyErr_Occurred()) {
    PyErr_Clear();
    refuse_extents("shmem_size", "must be a number of bytes, 0 or more", given);
  }
  config.shmem_size = value;
}

void set_cooperative(LaunchConfig& config, bool wanted) {
  if (wanted && !Device().properties().cooperative_launch())
    throw NotSupported("cooperative kernels are not supported on this device");
  config.is_cooperative = wanted;
}

void make(LaunchConfig* self, nb::handle grid, nb::handle cluster, nb::handle block, nb::handle shmem_size,
          bool is_cooperative, bool programmatic_stream_serialization, std::optional<bool> cooperative_launch) {
  LaunchConfig config{.grid = extents_from("grid", grid), .block = extents_from("block", block)};
  set_cluster(config, cluster);
  set_shmem_size(config, shmem_size);
  set_cooperative(config, cooperative_launch.value_or(is_cooperative));
  config.programmatic_stream_serialization = programmatic_stream_serialization;
  new (self) LaunchConfig(config);
}

nb::object cluster_of(const LaunchConfig& self) {
  return self.cluster ? nb::object(tuple_of(*self.cluster)) : nb::none();
}

std::string representation(const LaunchConfig& self) {
  const auto text = [](const nb::object& value) { return nb::cast<std::string>(nb::repr(value)); };
  const auto word = [](bool value) { return value ? "True" : "False"; };
  return "LaunchConfig(grid=" + text(tuple_of(self.grid)) + ", cluster=" + text(cluster_of(self)) +
         ", block=" + text(tuple_of(self.block)) + ", shmem_size=" + std::to_string(self.shmem_size) +
         ", is_cooperative=" + word(self.is_cooperative) +
         ", programmatic_stream_serialization=" + word(self.programmatic_stream_serialization) + ")";
}

}  // namespace

nb::tuple tuple_of(const Dim3& extents) { return nb::make_tuple(extents.x, extents.y, extents.z); }

void bind_launch_config(nb::module_& module) {
  nb::class_<LaunchConfig>(module, "LaunchConfig", nb::is_weak_referenceable(),
                           "The shape of a launch: how many threads, in which blocks, with what else they need.\n\n"
                           ">>> from cuprum import LaunchConfig\n"
                           ">>> LaunchConfig(grid=4, block=(16, 16)).block\n"
                           "(16, 16, 1)\n")
      .def("__init__", &make, "grid"_a = nb::none(), "cluster"_a = nb::none(), "block"_a = nb::none(),
           "shmem_size"_a = nb::none(), "is_cooperative"_a = false, "programmatic_stream_serialization"_a = false,
           nb::kw_only(), "cooperative_launch"_a = nb::none())
      .def_prop_rw(
          "grid", [](const LaunchConfig& self) { return tuple_of(self.grid); },
          [](LaunchConfig& self, nb::handle given) { self.grid = extents_from("grid", given); },
          "Blocks in x, y and z; clusters when `cluster` is given.")
      .def_prop_rw(
          "block", [](const LaunchConfig& self) { return tuple_of(self.block); },
          [](LaunchConfig& self, nb::handle given) { self.block = extents_from("block", given); },
          "Threads of a block in x, y and z.")
      .def_prop_rw("cluster", &cluster_of, &set_cluster, nb::for_setter(nb::arg().none()),
                   "Blocks of a cluster in x, y and z, or None.")
      .def_prop_rw(
          "shmem_size", [](const LaunchConfig& self) { return self.shmem_size; }, &set_shmem_size,
          "Bytes of dynamic shared memory per block.")
      .def_prop_rw(
          "is_cooperative", [](const LaunchConfig& self) { return self.is_cooperative; }, &set_cooperative,
          "Whether all blocks run at the same time and can synchronise.")
      .def_rw("programmatic_stream_serialization", &LaunchConfig::programmatic_stream_serialization,
              "Whether the kernel may begin before the one before it on the stream has ended.")
      .def(Equality<LaunchConfig>())
      .def("__repr__", &representation);
}

}  // namespace cuprum::python
