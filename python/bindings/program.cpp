// Programs: see <cuprum/program.hpp>.
#include "bindings/program.hpp"

#include <unistd.h>

#include <algorithm>

#include "bindings/object_code.hpp"
#include "bindings/program_cache.hpp"

namespace cuprum::python {
namespace {

template <typename T>
std::string printed(const T& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

/// Threads compile it at the same time, and may close it meanwhile: what they read doesn't change.
struct PythonProgram {
  Program program;
  const std::string source;
  const SourceCodeType type;
  const ProgramOptions options;
  const bool has_debug_source;
  /// The file that debuggers read the source from, if there is one; it goes with the program.
  std::shared_ptr<const std::string> debug_source;
  /// The options as they were given, for the drop-in, which makes keys of them by rules of its own.
  nb::object given_options;
};

std::shared_ptr<const std::string> temporary_file(std::string path) {
  return {new std::string(std::move(path)), [](const std::string* file) {
            ::unlink(file->c_str());
            delete file;
          }};
}

/// As cuda.core does: debuggers look for the source by the program's name, so one that is to be debugged and has no
/// name of its own is written to a file and named by it.
std::shared_ptr<const std::string> write_debug_source(const std::string& source, ProgramOptions& options) {
  const bool is_debugged = options.debug.value_or(false) || options.lineinfo.value_or(false);
  if (!is_debugged || options.name != ProgramOptions().name) return nullptr;
  const nb::object path = nb::module_::import_("cuprum._debug_source").attr("write")(source);
  if (path.is_none()) return nullptr;
  options.name = nb::cast<std::string>(path);
  return temporary_file(options.name);
}

void make(PythonProgram* self, nb::handle code, nb::handle code_type, nb::handle given) {
  const nb::object options_object = python::options_object("ProgramOptions", given, "Program options");
  const SourceCodeType type = source_type_from(code_type);
  const std::string source = source_from(code, type);
  ProgramOptions options = program_options_from(options_object, type);
  if (type == SourceCodeType::ptx) options.linker = linker_in_use();
  std::shared_ptr<const std::string> debug_source;
  if (type == SourceCodeType::cxx) debug_source = write_debug_source(source, options);
  const bool has_debug_source = debug_source != nullptr;
  new (self) PythonProgram{Program(source, type, options),
                           source,
                           type,
                           options,
                           has_debug_source,
                           std::move(debug_source),
                           nb::module_::import_("copy").attr("copy")(options_object)};
}

std::optional<SourceCodeType> source_type_of(const std::string& word) {
  for (const SourceCodeType type : {SourceCodeType::cxx, SourceCodeType::ptx, SourceCodeType::nvvm})
    if (word == printed(type)) return type;
  return std::nullopt;
}

std::string lower_case(nb::handle given) {
  std::string word = nb::cast<std::string>(nb::str(given));
  std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::tolower(c); });
  return word;
}

CompilerBackendType backend_of(SourceCodeType type) {
  if (type == SourceCodeType::cxx) return CompilerBackendType::nvrtc;
  return type == SourceCodeType::nvvm ? CompilerBackendType::nvvm : linker_in_use();
}
CompilerBackendType backend_of(const PythonProgram& program) {
  return program.options.linker ? *program.options.linker : backend_of(program.type);
}

std::vector<Target> targets_of(SourceCodeType type) {
  if (type == SourceCodeType::cxx) return {Target::ptx, Target::cubin, Target::ltoir, Target::pch};
  return type == SourceCodeType::nvvm ? std::vector{Target::ptx, Target::ltoir}
                                      : std::vector{Target::cubin, Target::ptx};
}

/// The functions of others that the compiler's handle is for take it as cuda.bindings has it.
nb::object nvrtc_program(std::uint64_t value) {
  PyObject* const module = PyImport_ImportModule("cuda.bindings.nvrtc");
  if (!module) {
    PyErr_Clear();
    return nb::int_(value);
  }
  return nb::steal(module).attr("nvrtcProgram")(value);
}

nb::object handle_of(const PythonProgram& self) {
  const auto value = reinterpret_cast<std::uint64_t>(without_gil([&] { return self.program.handle(); }));
  if (value == 0) return nb::none();
  switch (backend_of(self)) {
    case CompilerBackendType::nvrtc: return nvrtc_program(value);
    case CompilerBackendType::driver: return raw_handle("CUlinkState", value);
    case CompilerBackendType::nvvm:
    case CompilerBackendType::nvjitlink: break;
  }
  return nb::int_(value);
}

void check_logs(nb::handle logs) {
  if (logs.is_none() || nb::hasattr(logs, "write")) return;
  throw nb::type_error(
      ("logs must be an object with write(text), such as sys.stdout, or None, not " + type_of(logs)).c_str());
}

/// As cuda.core does: who gives a cache wants what he compiles to be in it.
void check_cacheable(const PythonProgram& self, Target target, const std::vector<std::string>& names) {
  (void)make_program_cache_key(self.source, self.type, self.options, target, {.name_expressions = names});
}

ObjectCode compiled(const PythonProgram& self, Target target, const CompileOptions& options, bool must_be_cacheable) {
  try {
    return without_gil([&] {
      if (must_be_cacheable) check_cacheable(self, target, options.name_expressions);
      return self.program.compile(target, options);
    });
  } catch (const CompileError&) {
    if (self.type != SourceCodeType::nvvm) throw;
    rethrow_as_error_of("nvvm");
  }
}

nb::object compile(const PythonProgram& self, nb::handle target_type, nb::handle name_expressions, nb::handle logs,
                   nb::handle given_cache) {
  const Target target = compilation_target_from(target_type, self.type);
  check_logs(logs);
  check_options_for(self.options, self.type, target);
  const GivenCache cache(given_cache);
  std::ostringstream log;
  CompileOptions options{
      .name_expressions = name_expressions_from(name_expressions, self.type), .log = &log, .cache = cache.get()};
  if (self.has_debug_source && !cache.is_given()) options.cache = nullptr;  // its name is another one each time
  const ObjectCode code = compiled(self, target, options, cache.is_given());
  cache.rethrow();
  if (!logs.is_none() && !log.str().empty()) logs.attr("write")(log.str());
  return object_code_object(code);
}

/// (code, code_type, options): what the program was made of. Only NVVM IR need not be text.
nb::tuple parts_of(const PythonProgram& self) {
  const nb::object code = self.type == SourceCodeType::nvvm
                              ? nb::object(nb::bytes(self.source.data(), self.source.size()))
                              : nb::object(nb::str(self.source.data(), self.source.size()));
  return nb::make_tuple(code, printed(self.type), self.given_options);
}

void close(PythonProgram& self) {
  without_gil([&] { self.program.close(); });
  self.debug_source.reset();
}

constexpr const char* documentation =
    "A program: CUDA C++ (\"c++\"), PTX (\"ptx\") or NVVM IR (\"nvvm\"), to be compiled.\n\n"
    ">>> from cuprum import Device, Program, ProgramOptions\n"
    ">>> Device().set_current()\n"
    ">>> source = 'template <typename T> __global__ void scale(T* data, T by) { data[threadIdx.x] *= by; }'\n"
    ">>> program = Program(source, 'c++', options=ProgramOptions(std='c++17'))\n"
    ">>> code = program.compile('cubin', name_expressions=('scale<float>',))\n"
    ">>> code.get_kernel('scale<float>').num_arguments\n"
    "2\n";

}  // namespace

SourceCodeType source_type_from(nb::handle given) {
  const std::string word = lower_case(given);
  if (const std::optional<SourceCodeType> type = source_type_of(word)) return *type;
  throw WrongState("Unsupported code_type='" + word + "' (supported_code_types=('c++', 'ptx', 'nvvm'))");
}

std::string source_from(nb::handle given, SourceCodeType type) {
  if (PyUnicode_Check(given.ptr())) return text_from(given, "a source");
  if (PyBytes_Check(given.ptr()) || PyByteArray_Check(given.ptr())) {
    const nb::bytes bytes = nb::steal<nb::bytes>(PyBytes_FromObject(given.ptr()));
    if (!bytes.is_valid()) throw nb::python_error();
    return std::string(bytes.c_str(), bytes.size());
  }
  const std::string what = type == SourceCodeType::nvvm ? "NVVM IR code" : "code of type '" + printed(type) + "'";
  throw nb::type_error((what + " must be provided as str, bytes, or bytearray, not " + type_of(given)).c_str());
}

Target compilation_target_from(nb::handle given, SourceCodeType type) {
  const std::string word = lower_case(given);
  const std::vector<Target> targets = targets_of(type);
  std::string supported;
  for (const Target target : targets) {
    if (word == printed(target)) return target;
    supported += (supported.empty() ? "'" : ", '") + printed(target) + "'";
  }
  throw nb::value_error(
      ("Unsupported target_type=\"" + word + "\" for " + printed(backend_of(type)) + " (supported: " + supported + ")")
          .c_str());
}

std::vector<std::string> name_expressions_from(nb::handle given, SourceCodeType type) {
  if (type != SourceCodeType::cxx) return {};
  if (!PyTuple_Check(given.ptr()) && !PyList_Check(given.ptr())) {
    throw nb::type_error(("name_expressions must be a tuple or list of C++ names, not " + type_of(given)).c_str());
  }
  std::vector<std::string> names;
  for (nb::handle name : given) names.push_back(text_from(name, "each of name_expressions"));
  return names;
}

nb::object backend_object(CompilerBackendType backend) { return member_of("CompilerBackendType", printed(backend)); }

void bind_program(nb::module_& module) {
  bind_program_options(module);
  nb::class_<PythonProgram>(module, "Program", nb::is_weak_referenceable(), documentation)
      .def("__init__", &make, "code"_a.none(), "code_type"_a.none(), "options"_a.none() = nb::none())
      .def("compile", &compile, "target_type"_a.none(), "name_expressions"_a.none() = nb::make_tuple(),
           "logs"_a.none() = nb::none(), nb::kw_only(), "cache"_a.none() = nb::none(),
           "Compiles to \"cubin\", \"ptx\" or \"ltoir\". `name_expressions` are C++ names to instantiate and to find "
           "again; `logs` gets what the compiler printed through its write(); `cache` is a "
           "cuprum.utils.ProgramCacheResource "
           "to look into before, and to keep the result in, in place of the user's cache folder.")
      .def_prop_ro(
          "backend", [](const PythonProgram& self) { return backend_object(backend_of(self)); },
          "What compiles it: a CompilerBackendType.")
      .def_prop_ro("_parts", &parts_of)
      .def_prop_ro("handle", &handle_of, "A program of the compiler's own with the same source; None when closed.")
      .def_prop_ro(
          "pch_status",
          [](const PythonProgram& self) {
            const std::optional<PCHStatusType> status = self.program.pch_status();
            return status ? member_of("PCHStatusType", printed(*status)) : nb::none();
          },
          "What the last compilation did about a precompiled header: a PCHStatusType, or None when none was asked for.")
      .def("__repr__",
           [](const PythonProgram& self) { return "<Program backend='" + printed(backend_of(self)) + "'>"; })
      .def("close", &close, nb::lock_self(), "Gives the source back. Closing twice does nothing.");
}

}  // namespace cuprum::python
