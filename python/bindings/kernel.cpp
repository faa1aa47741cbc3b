// Kernels, their attributes and their occupancy: see <cuprum/kernel.hpp>.
#include "bindings/object_code.hpp"

namespace cuprum::python {
namespace {

/// Of the device that is current when one is read, unless it was indexed with a device.
struct PythonKernelAttributes {
  Kernel kernel;
  std::optional<Device> device;

  KernelAttributes get() const { return kernel.attributes(device.value_or(Device())); }
};

struct PythonKernelOccupancy {
  Kernel kernel;
};

nb::object types_attribute(const char* name) { return nb::module_::import_("cuprum._types").attr(name); }

/// An int that can be called, too, which is how earlier versions of cuda.core had attributes of a device.
nb::object attribute_object(nb::handle self, const char* name, int value) {
  return types_attribute("KernelAttributeValue")(value, self, name);
}
nb::object attribute_object(nb::handle, const char*, bool value) { return nb::bool_(value); }

template <typename T>
nb::object read_attribute(Self<PythonKernelAttributes> self, const char* name, T (KernelAttributes::*read)() const) {
  return attribute_object(self, name, without_gil([&] { return (self->get().*read)(); }));
}

void bind_attributes(nb::module_& module) {
  nb::class_<PythonKernelAttributes> bound(
      module, "KernelAttributes", nb::is_weak_referenceable(),
      "What the driver knows of a kernel, on the current device, or on another: kernel.attributes[device].\n\n"
      ">>> from cuprum import Device, ObjectCode\n"
      ">>> Device().set_current()\n"
      ">>> code = ObjectCode.from_ptx(b'.version 7.0 .target sm_70 .address_size 64 .visible .entry f() { ret; }')\n"
      ">>> kernel = code.get_kernel('f')\n"
      ">>> kernel.attributes.max_threads_per_block\n"
      "1024\n"
      ">>> kernel.attributes[0].max_threads_per_block\n"
      "1024\n");
  forbid_construction(bound, "KernelAttributes cannot be instantiated directly. Please use Kernel APIs.");
  bound.def(
      "__getitem__",
      [](const PythonKernelAttributes& self, nb::handle device) {
        return PythonKernelAttributes{self.kernel, device_from(device, "device")};
      },
      "device"_a.none(), "The attributes on that device, a Device or its number.");
#define CUPRUM_KERNEL_ATTRIBUTE(type, name, attribute)                 \
  bound.def_prop_ro(#name, [](Self<PythonKernelAttributes> self) {     \
    return read_attribute<type>(self, #name, &KernelAttributes::name); \
  });
#define CUPRUM_SETTABLE_KERNEL_ATTRIBUTE(type, name, attribute)                                                     \
  bound.def_prop_rw(                                                                                                \
      #name,                                                                                                        \
      [](Self<PythonKernelAttributes> self) { return read_attribute<type>(self, #name, &KernelAttributes::name); }, \
      [](const PythonKernelAttributes& self, type value) { without_gil([&] { self.get().set_##name(value); }); });
#include <cuprum/detail/kernel_attributes.def>
}

nb::object named(const MaxPotentialBlockSize& found) {
  return types_attribute("MaxPotentialBlockSizeOccupancyResult")(found.min_grid_size, found.max_block_size);
}

std::function<std::size_t(int)> shared_memory_function(nb::handle given) {
  // cuda.bindings' CUoccupancyB2DSize: a function of C.
  if (nb::hasattr(given, "getPtr")) {
    auto* function = reinterpret_cast<std::size_t (*)(int)>(raw_value(nb::object(given.attr("getPtr")()), "getPtr()"));
    if (!function) throw nb::value_error("dynamic_shared_memory_needed is a function that is null");
    return [function](int block_size) { return function(block_size); };
  }
  return [given](int block_size) {
    nb::gil_scoped_acquire acquired;
    return value_from<std::size_t>(nb::object(given(block_size)), "what dynamic_shared_memory_needed returns");
  };
}

nb::object max_potential_block_size(const PythonKernelOccupancy& self, nb::handle needed, int limit) {
  if (PyLong_Check(needed.ptr())) {
    const auto bytes = value_from<std::size_t>(needed, "dynamic_shared_memory_needed");
    return named(without_gil([&] { return self.kernel.occupancy().max_potential_block_size(bytes, limit); }));
  }
  if (!PyCallable_Check(needed.ptr()) && !nb::hasattr(needed, "getPtr")) {
    throw nb::type_error(("dynamic_shared_memory_needed must be an int, a function from the block size to bytes, or a "
                          "CUoccupancyB2DSize of cuda.bindings, not " +
                          type_of(needed))
                             .c_str());
  }
  const std::function<std::size_t(int)> function = shared_memory_function(needed);
  return named(without_gil([&] { return self.kernel.occupancy().max_potential_block_size(function, limit); }));
}

Stream needed_stream(const char* function, nb::handle given) {
  if (!given.is_none()) return own_stream_from(given);
  throw nb::type_error(
      (std::string(function) + "() needs the keyword-only argument 'stream', the Stream that the launch would be on")
          .c_str());
}

void bind_occupancy(nb::module_& module) {
  nb::class_<PythonKernelOccupancy> bound(
      module, "KernelOccupancy", nb::is_weak_referenceable(),
      "How many blocks of a kernel the current device runs at once.\n\n"
      ">>> from cuprum import Device, ObjectCode\n"
      ">>> Device().set_current()\n"
      ">>> code = ObjectCode.from_ptx(b'.version 7.0 .target sm_70 .address_size 64 .visible .entry f() { ret; }')\n"
      ">>> kernel = code.get_kernel('f')\n"
      ">>> kernel.occupancy.max_active_blocks_per_multiprocessor(1024, 0) >= 1\n"
      "True\n"
      ">>> kernel.occupancy.max_potential_block_size(lambda block_size: 4 * block_size, 256).max_block_size\n"
      "256\n");
  forbid_construction(bound, "KernelOccupancy cannot be instantiated directly. Please use Kernel APIs.");
  bound
      .def(
          "max_active_blocks_per_multiprocessor",
          [](const PythonKernelOccupancy& self, int block_size, std::size_t bytes) {
            return self.kernel.occupancy().max_active_blocks_per_multiprocessor(block_size, bytes);
          },
          "block_size"_a, "dynamic_shared_memory_size"_a, WithoutGil(),
          "Blocks of that size, with that many bytes of dynamic shared memory each, that a multiprocessor runs at "
          "once.")
      .def("max_potential_block_size", &max_potential_block_size, "dynamic_shared_memory_needed"_a.none(),
           "block_size_limit"_a,
           "The block size with the best occupancy, and the blocks that fill the device then. The shared memory is a "
           "number of bytes, or a function that gives it for a block size; a limit of 0 is none.")
      .def(
          "available_dynamic_shared_memory_per_block",
          [](const PythonKernelOccupancy& self, int blocks, int block_size) {
            return self.kernel.occupancy().available_dynamic_shared_memory_per_block(blocks, block_size);
          },
          "num_blocks_per_multiprocessor"_a, "block_size"_a, WithoutGil(),
          "Bytes of dynamic shared memory that each block may have when so many share a multiprocessor.")
      .def(
          "max_potential_cluster_size",
          [](const PythonKernelOccupancy& self, const LaunchConfig& config, nb::handle stream) {
            const Stream queue = needed_stream("max_potential_cluster_size", stream);
            return without_gil([&] { return self.kernel.occupancy().max_potential_cluster_size(config, queue); });
          },
          "config"_a, nb::kw_only(), "stream"_a = nb::none(),
          "The blocks of the largest cluster that such a launch can have; the cluster in `config` is ignored.")
      .def(
          "max_active_clusters",
          [](const PythonKernelOccupancy& self, const LaunchConfig& config, nb::handle stream) {
            const Stream queue = needed_stream("max_active_clusters", stream);
            return without_gil([&] { return self.kernel.occupancy().max_active_clusters(config, queue); });
          },
          "config"_a, nb::kw_only(), "stream"_a = nb::none(),
          "How many clusters of the launch the device runs at once.");
}

CUkern_st* kernel_handle_from(nb::handle given) {
  const std::uint64_t value = raw_value(given, "handle");
  if (value == 0) throw nb::value_error("the handle of a kernel can't be 0");
  return reinterpret_cast<CUkern_st*>(value);
}

Kernel kernel_from_handle(nb::handle given, nb::handle module) {
  CUkern_st* const handle = kernel_handle_from(given);
  if (module.is_none()) return without_gil([&] { return Kernel::from_handle(handle); });
  if (!nb::isinstance<PythonObjectCode>(module))
    throw nb::type_error(("mod must be an ObjectCode or None, not " + type_of(module)).c_str());
  const ObjectCode code = nb::cast<const PythonObjectCode&>(module).get();
  try {
    return without_gil([&] { return Kernel::from_handle(handle, code); });
  } catch (const InvalidArgument&) {
    // cuda.core warns and goes on.
    const char* text =
        "The library of the ObjectCode that was given does not match the one that the kernel is of, which whoever made "
        "that one has to keep.";
    if (PyErr_WarnEx(PyExc_UserWarning, text, 1) != 0) throw nb::python_error();
  }
  const std::shared_ptr<void> owner = kept_object(module);
  return without_gil([&] { return Kernel::from_handle(handle, owner); });
}

nb::list arguments_info(const Kernel& self) {
  const std::vector<ParameterInfo>& parameters = without_gil([&]() -> const auto& { return self.arguments_info(); });
  const nb::object info = types_attribute("ParamInfo");
  nb::list result;
  for (const ParameterInfo& parameter : parameters) result.append(info(parameter.offset, parameter.size));
  return result;
}

constexpr const char* kernel_documentation =
    "A function that runs on a device; ObjectCode.get_kernel() finds it, launch() starts it.\n\n"
    ">>> from cuprum import Device, LaunchConfig, ObjectCode, launch\n"
    ">>> device = Device(); device.set_current()\n"
    ">>> code = ObjectCode.from_ptx(b'.version 7.0 .target sm_70 .address_size 64 .visible .entry f() { ret; }')\n"
    ">>> kernel = code.get_kernel('f')\n"
    ">>> stream = device.create_stream()\n"
    ">>> launch(stream, LaunchConfig(grid=1, block=32), kernel)\n"
    ">>> stream.sync()\n";

}  // namespace

void bind_kernel(nb::module_& module) {
  bind_attributes(module);
  bind_occupancy(module);
  nb::class_<Kernel> bound(module, "Kernel", nb::is_weak_referenceable(), kernel_documentation);
  forbid_construction(bound, "Kernel objects cannot be instantiated directly. Please use ObjectCode APIs.");
  bound
      .def_static("from_handle", &kernel_from_handle, "handle"_a.none(), "mod"_a.none() = nb::none(),
                  "Wraps a CUkernel that somebody else has; `mod`, the code that it is of, is kept.")
      .def_prop_ro(
          "attributes", [](const Kernel& self) { return PythonKernelAttributes{self, {}}; },
          "What the driver knows of it on the current device; index it for others.")
      .def_prop_ro(
          "occupancy", [](const Kernel& self) { return PythonKernelOccupancy{self}; },
          "How many of its blocks the current device runs at once.")
      .def_prop_ro("num_arguments", &Kernel::num_arguments, WithoutGil(), "How many parameters it declares.")
      .def_prop_ro("arguments_info", &arguments_info, "(offset, size) of each parameter, in bytes.")
      .def_prop_ro("name", &Kernel::name, "The symbol in the object code.")
      .def_prop_ro(
          "handle", [](const Kernel& self) { return raw_handle("CUkernel", self.handle()); }, "The CUkernel.")
      .def_prop_ro("_handle", [](const Kernel& self) { return raw_handle("CUkernel", self.handle()); })
      .def(Equality<Kernel>())
      .def("__repr__", [](const Kernel& self) {
        return "<Kernel handle=" + hexadecimal(reinterpret_cast<std::uint64_t>(self.handle())) + ">";
      });
}

}  // namespace cuprum::python
