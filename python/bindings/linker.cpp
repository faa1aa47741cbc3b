// The linker: see <cuprum/linker.hpp>.
#include <algorithm>
#include <mutex>

#include "bindings/object_code.hpp"
#include "bindings/option_fields.hpp"
#include "bindings/program.hpp"

namespace cuprum::python {
namespace {

/// One thread at a time may use the library's; its logs can be read when it is closed, too.
struct PythonLinker {
  explicit PythonLinker(Linker made) : linker(std::move(made)) {}

  std::mutex mutex;
  Linker linker;
  bool is_closed = false;
  std::string info_log = {};
  std::string error_log = {};
};

/// Calls a function with the linker while no other thread does, without the GIL.
template <typename Use>
auto with_linker(PythonLinker& self, Use use) {
  return without_gil([&] {
    std::lock_guard lock(self.mutex);
    return use(self.linker);
  });
}

LinkerOptions linker_options_from(nb::handle given) {
  return {.name = text_field(given, "name").value_or(LinkerOptions().name),
          .arch = text_field(given, "arch"),
          .max_register_count = number_field(given, "max_register_count"),
          .time = truth_field(given, "time"),
          .verbose = truth_field(given, "verbose"),
          .link_time_optimization = truth_field(given, "link_time_optimization"),
          .ptx = truth_field(given, "ptx"),
          .optimization_level = number_field(given, "optimization_level"),
          .debug = truth_field(given, "debug"),
          .lineinfo = truth_field(given, "lineinfo"),
          .ftz = truth_field(given, "ftz"),
          .prec_div = truth_field(given, "prec_div"),
          .prec_sqrt = truth_field(given, "prec_sqrt"),
          .fma = truth_field(given, "fma"),
          .kernels_used = texts_field(given, "kernels_used"),
          .variables_used = texts_field(given, "variables_used"),
          .optimize_unused_variables = truth_field(given, "optimize_unused_variables"),
          .ptxas_options = texts_field(given, "ptxas_options"),
          .split_compile = number_field(given, "split_compile"),
          .split_compile_extended = number_field(given, "split_compile_extended"),
          .no_cache = truth_field(given, "no_cache")};
}

/// For LinkerOptions.as_bytes, where the architecture comes first.
std::vector<std::string> linker_arguments(nb::handle given) {
  if (Linker::which_backend() != CompilerBackendType::nvjitlink)
    throw WrongState("nvJitLink backend is not available: install it to see its options");
  std::vector<std::string> arguments = linker_options_from(given).as_arguments(CompilerBackendType::nvjitlink);
  std::rotate(arguments.begin(), arguments.end() - 1, arguments.end());
  return arguments;
}

std::vector<ObjectCode> codes_from(nb::args given) {
  if (given.empty()) throw nb::value_error("At least one ObjectCode object must be provided");
  std::vector<ObjectCode> codes;
  for (nb::handle one : given) {
    if (!nb::isinstance<PythonObjectCode>(one))
      throw nb::type_error(("a Linker links ObjectCode objects, not " + type_of(one)).c_str());
    codes.push_back(nb::cast<const PythonObjectCode&>(one).get());
  }
  return codes;
}

/// Users of cuda.core catch what nvJitLink's bindings throw for inputs, architectures and options that it doesn't take.
template <typename Link>
auto linking(Link link) {
  try {
    return link();
  } catch (const LinkError&) {
    rethrow_as_error_of("nvjitlink");
  } catch (const InvalidArgument&) {
    rethrow_as_error_of("nvjitlink");
  }
}

void make(PythonLinker* self, nb::args object_codes, nb::handle given) {
  const nb::object options_given = options_object("LinkerOptions", given, "Linker options");
  const std::vector<ObjectCode> codes = codes_from(object_codes);
  LinkerOptions options = linker_options_from(options_given);
  options.backend = linker_in_use();
  new (self) PythonLinker(linking([&] { return without_gil([&] { return Linker(codes, options); }); }));
}

nb::object link(PythonLinker& self, nb::handle target_type) {
  const std::string word = nb::cast<std::string>(nb::str(target_type));
  if (word != "cubin" && word != "ptx")
    throw nb::value_error(("Unsupported target type: " + word + " (a Linker makes 'cubin' and 'ptx')").c_str());
  const Target target = word == "cubin" ? Target::cubin : Target::ptx;
  return object_code_object(
      linking([&] { return with_linker(self, [&](Linker& linker) { return linker.link(target); }); }));
}

std::string info_log(PythonLinker& self) {
  return with_linker(self,
                     [&](const Linker& linker) { return self.is_closed ? self.info_log : linker.get_info_log(); });
}

std::string error_log(PythonLinker& self) {
  return with_linker(self,
                     [&](const Linker& linker) { return self.is_closed ? self.error_log : linker.get_error_log(); });
}

void close(PythonLinker& self) {
  with_linker(self, [&](Linker& linker) {
    if (self.is_closed) return;
    self.info_log = linker.get_info_log();
    self.error_log = linker.get_error_log();
    self.is_closed = true;
    linker.close();
  });
}

nb::object handle_of(PythonLinker& self) {
  struct Found {
    std::uint64_t value;
    bool is_drivers;
  };
  const Found found = with_linker(self, [&](const Linker& linker) -> Found {
    if (self.is_closed) return {};
    return {reinterpret_cast<std::uint64_t>(linker.handle()), linker.backend() == CompilerBackendType::driver};
  });
  if (found.value == 0) return nb::none();
  return found.is_drivers ? raw_handle("CUlinkState", found.value) : nb::int_(found.value);
}

constexpr const char* documentation =
    "Makes one piece of object code from several: Linker(*object_codes, options=None).\n\n"
    ">>> from cuprum import Device, Linker, Program\n"
    ">>> Device().set_current()\n"
    ">>> relocatable = {'relocatable_device_code': True}\n"
    ">>> kernel = 'extern __device__ int f(int); extern \"C\" __global__ void k(int* p) { *p = f(*p); }'\n"
    ">>> code = Program(kernel, 'c++', relocatable).compile('ptx')\n"
    ">>> function = Program('__device__ int f(int x) { return x + 1; }', 'c++', relocatable).compile('ptx')\n"
    ">>> linked = Linker(code, function).link('cubin')\n"
    ">>> linked.get_kernel('k').num_arguments\n"
    "1\n";

}  // namespace

CompilerBackendType linker_in_use() {
  const nb::object said = nb::type<PythonLinker>().attr("which_backend")();
  const bool is_drivers = nb::cast<std::string>(nb::str(said)) == "driver";
  return is_drivers ? CompilerBackendType::driver : CompilerBackendType::nvjitlink;
}

void bind_linker(nb::module_& module) {
  module.def("_linker_arguments", [](nb::handle options, nb::handle) { return linker_arguments(options); });
  nb::class_<PythonLinker> bound(module, "Linker", nb::is_weak_referenceable(), documentation);
  bound.def("__init__", &make, "object_codes"_a, nb::kw_only(), "options"_a.none() = nb::none())
      .def("link", &link, "target_type"_a.none(), "Links to \"cubin\", or to \"ptx\" where the options say ptx.")
      .def("get_info_log", &info_log, "What the linker printed so far.")
      .def("get_error_log", &error_log, "What the linker complained of so far; LinkError has it, too.")
      .def("close", &close, "Gives the linker back; its logs can still be read. Closing twice does nothing.")
      .def_prop_ro("handle", &handle_of, "The CUlinkState, or nvJitLink's handle as an int; None when closed.");
  const nb::object which =
      nb::cpp_function([](nb::handle) { return backend_object(Linker::which_backend()); },
                       "The linker that is used: nvJitLink where it is installed, else the driver's.");
  bound.attr("which_backend") = nb::module_::import_("builtins").attr("classmethod")(which);
}

}  // namespace cuprum::python
