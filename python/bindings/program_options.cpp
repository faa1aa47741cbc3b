// ProgramOptions of cuprum._options as <cuprum/program.hpp> has them.
#include "bindings/object_code.hpp"
#include "bindings/option_fields.hpp"
#include "bindings/program.hpp"

namespace cuprum::python {
namespace {

std::string unsupported_by_nvvm(const InvalidArgument& error) {
  return std::string("options that are not supported by NVVM backend: ") + error.what();
}

bool is_text(nb::handle object) { return PyUnicode_Check(object.ptr()); }

[[noreturn]] void refuse_macro(nb::handle given, const char* expected) {
  throw WrongState("Expected define_macro " + std::string(expected) + ", got " +
                   nb::cast<std::string>(nb::repr(given)));
}

/// "NAME", "NAME=value" or ("NAME", "value").
Macro macro_from(nb::handle given) {
  if (is_text(given)) return {text_from(given, "define_macro")};
  if (!PyTuple_Check(given.ptr())) refuse_macro(given, "str, or tuple[str, str]");
  if (nb::len(given) != 2 || !is_text(nb::object(given[0])) || !is_text(nb::object(given[1])))
    refuse_macro(given, "tuple[str, str]");
  return {text_from(nb::object(given[0]), "define_macro"), text_from(nb::object(given[1]), "define_macro")};
}

/// Whether a tuple is one of macros, not a macro itself.
bool has_macros(nb::handle tuple) {
  for (nb::handle one : tuple)
    if (PyTuple_Check(one.ptr())) return true;
  return false;
}

std::vector<Macro> macros_from(nb::handle options) {
  const nb::object given = options.attr("define_macro");
  if (given.is_none()) return {};
  if (!PyList_Check(given.ptr()) && !(PyTuple_Check(given.ptr()) && has_macros(given))) return {macro_from(given)};
  std::vector<Macro> macros;
  for (nb::handle one : given) macros.push_back(macro_from(one));
  return macros;
}

std::vector<ExtraSource> extra_sources_from(nb::handle options) {
  const nb::object given = options.attr("extra_sources");
  std::vector<ExtraSource> sources;
  if (given.is_none()) return sources;
  for (nb::handle one : given) {
    if (!PySequence_Check(one.ptr()) || PyObject_Length(one.ptr()) != 2) {
      throw nb::type_error(
          ("extra_sources must be pairs of a name and a source, not " + nb::cast<std::string>(nb::repr(one))).c_str());
    }
    sources.push_back({value_from<std::string>(nb::object(one[0]), "the name of an extra source"),
                       source_from(nb::object(one[1]), SourceCodeType::nvvm)});
  }
  return sources;
}

/// What cuda.core says of options that a program of this type has not, as it says it.
void check_for_type(const ProgramOptions& options, SourceCodeType type) {
  if (type == SourceCodeType::nvvm || options.extra_sources.empty()) return;
  throw InvalidArgument(type == SourceCodeType::cxx
                            ? "extra_sources is not supported by the NVRTC backend (C++ code_type): include the other "
                              "sources, or link what they are compiled to"
                            : "extra_sources is not supported by the PTX backend: link what they are compiled to");
}

void warn_of_numba_debug(ProgramOptions& options) {
  if (!options.numba_debug.value_or(false)) return;
  options.numba_debug.reset();
  const char* text = "numba_debug is ignored for code_type='ptx', which the linker compiles: it has no such option";
  if (PyErr_WarnEx(PyExc_UserWarning, text, 1) != 0) throw nb::python_error();
}

/// The linker, which compiles PTX, doesn't have them: they are about the C++ that it was made of, and no reason for not
/// keeping the result in a cache.
void forget_options_of_the_source(ProgramOptions& options) {
  options.pch.reset();
  options.create_pch.reset();
  options.use_pch.reset();
  options.pch_dir.reset();
  options.fdevice_time_trace.reset();
  options.use_libdevice.reset();
}

ProgramOptions read_options(nb::handle given) {
  return {.name = text_field(given, "name").value_or(ProgramOptions().name),
          .arch = text_field(given, "arch"),
          .std = text_field(given, "std"),
          .relocatable_device_code = truth_field(given, "relocatable_device_code"),
          .extensible_whole_program = truth_field(given, "extensible_whole_program"),
          .debug = truth_field(given, "debug"),
          .lineinfo = truth_field(given, "lineinfo"),
          .device_code_optimize = truth_field(given, "device_code_optimize"),
          .ptxas_options = texts_field(given, "ptxas_options"),
          .max_register_count = number_field(given, "max_register_count"),
          .ftz = truth_field(given, "ftz"),
          .prec_sqrt = truth_field(given, "prec_sqrt"),
          .prec_div = truth_field(given, "prec_div"),
          .fma = truth_field(given, "fma"),
          .use_fast_math = truth_field(given, "use_fast_math"),
          .extra_device_vectorization = truth_field(given, "extra_device_vectorization"),
          .link_time_optimization = truth_field(given, "link_time_optimization"),
          .gen_opt_lto = truth_field(given, "gen_opt_lto"),
          .define_macro = macros_from(given),
          .undefine_macro = texts_field(given, "undefine_macro"),
          .include_path = texts_field(given, "include_path"),
          .pre_include = texts_field(given, "pre_include"),
          .no_source_include = truth_field(given, "no_source_include"),
          .builtin_move_forward = truth_field(given, "builtin_move_forward"),
          .builtin_initializer_list = truth_field(given, "builtin_initializer_list"),
          .disable_warnings = truth_field(given, "disable_warnings"),
          .restrict = truth_field(given, "restrict"),
          .device_as_default_execution_space = truth_field(given, "device_as_default_execution_space"),
          .device_int128 = truth_field(given, "device_int128"),
          .device_float128 = truth_field(given, "device_float128"),
          .optimization_info = text_field(given, "optimization_info"),
          .no_display_error_number = truth_field(given, "no_display_error_number"),
          .diag_error = numbers_field(given, "diag_error"),
          .diag_suppress = numbers_field(given, "diag_suppress"),
          .diag_warn = numbers_field(given, "diag_warn"),
          .brief_diagnostics = truth_field(given, "brief_diagnostics"),
          .time = text_field(given, "time"),
          .split_compile = number_field(given, "split_compile"),
          .fdevice_syntax_only = truth_field(given, "fdevice_syntax_only"),
          .minimal = truth_field(given, "minimal"),
          .no_cache = truth_field(given, "no_cache"),
          .fdevice_time_trace = text_field(given, "fdevice_time_trace"),
          .frandom_seed = text_field(given, "frandom_seed"),
          .ofast_compile = text_field(given, "ofast_compile"),
          .pch = truth_field(given, "pch"),
          .create_pch = text_field(given, "create_pch"),
          .use_pch = text_field(given, "use_pch"),
          .pch_dir = text_field(given, "pch_dir"),
          .pch_verbose = truth_field(given, "pch_verbose"),
          .pch_messages = truth_field(given, "pch_messages"),
          .instantiate_templates_in_pch = truth_field(given, "instantiate_templates_in_pch"),
          .extra_sources = extra_sources_from(given),
          .use_libdevice = truth_field(given, "use_libdevice"),
          .numba_debug = truth_field(given, "numba_debug")};
}

/// What Python sees as a CUDAError, as cuda.core's users catch it.
struct UnsupportedOptions : Error {
  explicit UnsupportedOptions(std::string message) : Error(std::move(message)) {}
};

/// Without a target, one that leaves the architecture as it is.
Target target_for_arguments(nb::handle given, const ProgramOptions& options) {
  if (options.link_time_optimization.value_or(false)) return Target::ltoir;
  if (!given.is_none()) return target_from(given, "target_type");
  return options.arch.value_or("").starts_with("compute_") ? Target::ptx : Target::cubin;
}

/// For ProgramOptions.as_bytes. The architecture comes first there, and as it was given.
std::vector<std::string> program_arguments(nb::handle given, const std::string& backend, nb::handle target_type) {
  const ProgramOptions options = read_options(given);
  const bool is_nvvm = backend == "nvvm";
  const Target target = target_for_arguments(target_type, options);
  std::vector<std::string> arguments;
  try {
    arguments = options.as_arguments(is_nvvm ? CompilerBackendType::nvvm : CompilerBackendType::nvrtc, target);
  } catch (const InvalidArgument& error) {
    if (!is_nvvm) throw;
    throw UnsupportedOptions(unsupported_by_nvvm(error));
  }
  const std::string arch = is_nvvm ? arguments.back() : "-arch=" + options.arch.value_or("");
  arguments.pop_back();
  arguments.insert(arguments.begin(), arch);
  return arguments;
}

}  // namespace

void check_options_for(const ProgramOptions& options, SourceCodeType type, Target target) {
  if (type != SourceCodeType::nvvm) return;
  try {
    (void)options.as_arguments(CompilerBackendType::nvvm, target);
  } catch (const InvalidArgument& error) {
    throw UnsupportedOptions(unsupported_by_nvvm(error));
  }
}

void bind_program_options(nb::module_& module) {
  module.def("_program_arguments", &program_arguments, "options"_a, "backend"_a, "target_type"_a.none());
}

ProgramOptions program_options_from(nb::handle given, SourceCodeType type) {
  ProgramOptions options = read_options(given);
  check_for_type(options, type);
  if (type == SourceCodeType::ptx) {
    warn_of_numba_debug(options);
    forget_options_of_the_source(options);
  }
  // NVRTC always optimises, but for debugging: cuda.core takes False for "not given", and doesn't say it to NVRTC.
  if (type == SourceCodeType::cxx && options.device_code_optimize == false) options.device_code_optimize.reset();
  if (type == SourceCodeType::cxx) options.use_libdevice.reset();  // which it takes and doesn't say, either
  // The target says whether LTO-IR is made; cuda.core takes the option with every target.
  if (type != SourceCodeType::ptx && options.link_time_optimization == true) options.link_time_optimization.reset();
  return options;
}

}  // namespace cuprum::python
