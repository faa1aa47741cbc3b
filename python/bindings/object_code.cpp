// Object code: see <cuprum/object_code.hpp>.
#include "bindings/object_code.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace cuprum::python {
namespace {

constexpr std::array targets = {Target::ptx,    Target::cubin,   Target::ltoir, Target::fatbin,
                                Target::object, Target::library, Target::pch};

std::string word_of(Target target) {
  std::ostringstream out;
  out << target;
  return out.str();
}

std::string_view view_of(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }

[[noreturn]] void refuse_file(const std::string& path, int error) {
  throw SystemError(
      "object code can't be read from '" + path + "' (a str is the path of a file, code itself is given as bytes)",
      error);
}

/// Streams of C++ don't say why a file can't be read.
std::string read_code(const std::string& path) {
  if (path.find('\0') != std::string::npos) {
    throw InvalidArgument("the path of object code has a NUL character after '" + path.substr(0, path.find('\0')) +
                          "': a str is the path of a file, code itself is given as bytes");
  }
  std::FILE* const file = std::fopen(path.c_str(), "rbe");
  if (!file) refuse_file(path, errno);
  std::string code;
  char part[4096];
  std::size_t count = 0;
  do {
    count = std::fread(part, 1, sizeof part, file);
    code.append(part, count);
  } while (count == sizeof part);
  const int error = std::ferror(file) ? errno : 0;
  std::fclose(file);
  if (error != 0) refuse_file(path, error);
  return code;
}

ObjectCode make_code(std::string_view code, Target type, ObjectCodeOptions options) {
  switch (type) {
    case Target::cubin: return ObjectCode::from_cubin(code, std::move(options));
    case Target::ptx: return ObjectCode::from_ptx(code, std::move(options));
    case Target::ltoir: return ObjectCode::from_ltoir(code, std::move(options));
    case Target::fatbin: return ObjectCode::from_fatbin(code, std::move(options));
    case Target::object: return ObjectCode::from_object(code, std::move(options));
    case Target::library: return ObjectCode::from_library(code, std::move(options));
    case Target::pch: break;
  }
  throw InvalidArgument("a precompiled header is no object code");
}

std::unordered_map<std::string, std::string> mapping_from(const nb::dict& symbols) {
  std::unordered_map<std::string, std::string> mapping;
  for (const auto [name, symbol] : symbols) {
    mapping.insert_or_assign(text_from(name, "a name in symbol_mapping"),
                             text_from(symbol, "a symbol in symbol_mapping"));
  }
  return mapping;
}

/// As cuda.core has it after a compilation: names are str, and symbols bytes, which cuda.bindings takes.
nb::dict dict_of(const std::unordered_map<std::string, std::string>& mapping) {
  nb::dict symbols;
  for (const auto& [name, symbol] : mapping) symbols[nb::str(name.c_str())] = nb::bytes(symbol.data(), symbol.size());
  return symbols;
}

/// Bytes, or a str with a path, of what a caller gave as code.
nb::object code_from(nb::handle given) {
  if (PyBytes_CheckExact(given.ptr())) return nb::borrow(given);
  if (PyUnicode_Check(given.ptr())) return nb::borrow(given);
  if (PyObject_CheckBuffer(given.ptr())) {
    nb::object bytes = nb::steal(PyBytes_FromObject(given.ptr()));
    if (!bytes.is_valid()) throw nb::python_error();
    return bytes;
  }
  if (nb::hasattr(given, "__fspath__")) {
    nb::object path = nb::steal(PyOS_FSPath(given.ptr()));
    if (!path.is_valid()) throw nb::python_error();
    if (PyUnicode_Check(path.ptr())) return path;
    return nb::steal(PyUnicode_DecodeFSDefaultAndSize(PyBytes_AsString(path.ptr()), PyBytes_Size(path.ptr())));
  }
  throw nb::type_error(
      ("module must be bytes with the code, or a str or os.PathLike with the path of its file, not " + type_of(given))
          .c_str());
}

nb::dict symbols_from(nb::handle given) {
  if (given.is_none()) return {};
  if (!nb::isinstance<nb::dict>(given))
    throw nb::type_error(
        ("symbol_mapping must be a dict from names to symbols, or None, not " + type_of(given)).c_str());
  nb::dict copy;
  copy.update(nb::borrow<nb::dict>(given));
  mapping_from(copy);  // refuses what is no name
  return copy;
}

std::string name_from(nb::handle given) { return given.is_none() ? std::string() : text_from(given, "name"); }

nb::object make(nb::handle module, Target type, nb::handle name, nb::handle symbol_mapping) {
  return nb::cast(PythonObjectCode(code_from(module), type, name_from(name), symbols_from(symbol_mapping)));
}

/// What cuda.core's functions that load say of code that is for the linker.
void check_loadable(const PythonObjectCode& self) {
  if (self.type() == Target::ptx || self.type() == Target::cubin || self.type() == Target::fatbin) return;
  throw WrongState("Unsupported code type \"" + word_of(self.type()) +
                   "\": kernels are in code of type \"cubin\", \"ptx\" or \"fatbin\"; a Linker makes that of it");
}

template <typename Load>
auto loading(const PythonObjectCode& self, Load load) {
  check_loadable(self);
  const ObjectCode code = self.get();
  return without_gil([&] { return load(code); });
}

/// 0 where the code can't be loaded: a repr raises nothing.
std::uint64_t handle_or_zero(const PythonObjectCode& self) {
  try {
    return loading(self, [](const ObjectCode& code) { return reinterpret_cast<std::uint64_t>(code.handle()); });
  } catch (const Error&) {
    return 0;
  }
}

nb::bytes to_bytes(const PythonObjectCode& self) {
  const ObjectCode code = self.get();
  const std::string bytes = without_gil([&] { return code.to_bytes(); });
  return nb::bytes(bytes.data(), bytes.size());
}

nb::object from_bytes(nb::bytes bytes) {
  return object_code_object(without_gil([&] { return ObjectCode::from_bytes(view_of(bytes)); }));
}

/// Code that a caller gave goes as it was given; of code that was made its PTX goes along.
nb::tuple reduce(const PythonObjectCode& self) {
  nb::module_ pickling = nb::module_::import_("cuprum._pickling");
  if (!self.is_given()) return nb::make_tuple(pickling.attr("object_code_from_bytes"), nb::make_tuple(to_bytes(self)));
  return nb::make_tuple(pickling.attr("object_code_from_given"),
                        nb::make_tuple(self.code(), word_of(self.type()), self.name(), self.symbol_mapping()));
}

constexpr const char* documentation =
    "Compiled kernels and variables. Program.compile() and Linker.link() make it; the from_… functions make it of code "
    "that is in memory or in a file, which is looked at when it is first used.\n\n"
    ">>> from cuprum import Device, ObjectCode\n"
    ">>> Device().set_current()\n"
    ">>> code = ObjectCode.from_ptx(b'.version 7.0 .target sm_70 .address_size 64 .visible .entry f() { ret; }')\n"
    ">>> code.code_type\n"
    "<ObjectCodeFormatType.PTX: 'ptx'>\n"
    ">>> code.get_kernel('f').num_arguments\n"
    "0\n";

template <Target type>
void bind_maker(nb::class_<PythonObjectCode>& bound, const char* function, const char* docstring) {
  bound.def_static(
      function,
      [](nb::handle module, nb::handle name, nb::handle symbol_mapping) {
        return make(module, type, name, symbol_mapping);
      },
      "module"_a.none(), nb::kw_only(), "name"_a.none() = "", "symbol_mapping"_a.none() = nb::none(), docstring);
}

void bind_makers(nb::class_<PythonObjectCode>& bound) {
  bind_maker<Target::cubin>(bound, "from_cubin", "Of machine code: bytes, or the path of a file.");
  bind_maker<Target::ptx>(bound, "from_ptx", "Of PTX: bytes, or the path of a file.");
  bind_maker<Target::ltoir>(bound, "from_ltoir", "Of LTO-IR, for a Linker: bytes, or the path of a file.");
  bind_maker<Target::fatbin>(bound, "from_fatbin", "Of a fatbin: bytes, or the path of a file.");
  bind_maker<Target::object>(bound, "from_object",
                             "Of an object file of the host's compiler, for a Linker: bytes, or its path.");
  bind_maker<Target::library>(bound, "from_library", "Of an archive of those, for a Linker: bytes, or its path.");
  bound
      .def_static(
          "from_file",
          [](nb::handle path, nb::handle name, nb::handle symbol_mapping) {
            const std::string file = path_from(path);
            ObjectCodeOptions options{.name = name_from(name),
                                      .symbol_mapping = mapping_from(symbols_from(symbol_mapping))};
            return object_code_object(without_gil([&] {
              (void)read_code(file);  // which says why it can't be read as the other functions do
              return ObjectCode::from_file(file, std::move(options));
            }));
          },
          "path"_a, nb::kw_only(), "name"_a.none() = "", "symbol_mapping"_a.none() = nb::none(),
          "Of a file of any kind of code, which what is in it tells apart.")
      .def_static("from_bytes", &from_bytes, "data"_a, "What to_bytes() gave, also in another process.")
      .def_static(
          "_from_given",
          [](nb::handle code, nb::handle type, nb::handle name, nb::handle symbols) {
            return make(code, target_from(type, "code_type"), name, symbols);
          },
          "module"_a.none(), "code_type"_a, "name"_a.none() = "", "symbol_mapping"_a.none() = nb::none(),
          "Of code or a path, and its type: what unpickling calls.");
  bound.attr("_init") = bound.attr("_from_given");
}

}  // namespace

PythonObjectCode::PythonObjectCode(nb::object given, Target type, std::string name, nb::dict symbol_mapping)
    : given_(std::move(given)), type_(type), name_(std::move(name)), symbol_mapping_(std::move(symbol_mapping)) {}

PythonObjectCode::PythonObjectCode(ObjectCode made)
    : type_(made.code_type()), name_(made.name()), symbol_mapping_(dict_of(made.symbol_mapping())) {
  made_->code = std::move(made);
}

ObjectCode PythonObjectCode::get() const {
  if (!given_.is_valid()) return *made_->code;
  ObjectCodeOptions options{.name = name_, .symbol_mapping = mapping_from(symbol_mapping_)};
  const bool is_path = PyUnicode_Check(given_.ptr());
  const nb::bytes bytes =
      is_path ? nb::steal<nb::bytes>(PyUnicode_EncodeFSDefault(given_.ptr())) : nb::borrow<nb::bytes>(given_);
  if (!bytes.is_valid()) throw nb::python_error();
  return without_gil([&] {
    std::lock_guard lock(made_->mutex);
    if (!made_->code) {
      made_->code = is_path ? make_code(read_code(std::string(view_of(bytes))), type_, std::move(options))
                            : make_code(view_of(bytes), type_, std::move(options));
    }
    return *made_->code;
  });
}

nb::object PythonObjectCode::code() const {
  if (given_.is_valid()) return given_;
  nb::ft_lock_guard lock(made_->bytes_mutex);
  if (!made_->bytes.is_valid()) {
    const std::string_view bytes = made_->code->code();
    made_->bytes = nb::bytes(bytes.data(), bytes.size());
  }
  return made_->bytes;
}

nb::object object_code_object(ObjectCode made) { return nb::cast(PythonObjectCode(std::move(made))); }

Target target_from(nb::handle given, const char* what) {
  if (!PyUnicode_Check(given.ptr()))
    throw nb::type_error((std::string(what) + " must be a str, not " + type_of(given)).c_str());
  std::string word = nb::cast<std::string>(nb::str(given));
  std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::tolower(c); });
  const auto found = std::find_if(targets.begin(), targets.end(), [&](Target one) { return word == word_of(one); });
  if (found != targets.end()) return *found;
  throw nb::value_error(("Unsupported " + std::string(what) + " '" + word +
                         "': it must be one of 'ptx', 'cubin', 'ltoir', 'fatbin', 'object', 'library'")
                            .c_str());
}

nb::object target_object(Target target) {
  if (target == Target::pch) return nb::str("pch");
  return member_of("ObjectCodeFormatType", word_of(target));
}

std::string text_from(nb::handle given, const char* what) {
  if (PyUnicode_Check(given.ptr())) {
    Py_ssize_t size = 0;
    const char* const text = PyUnicode_AsUTF8AndSize(given.ptr(), &size);
    if (!text) throw nb::python_error();  // UnicodeEncodeError says which character has no bytes
    return {text, static_cast<std::size_t>(size)};
  }
  if (PyBytes_Check(given.ptr())) return std::string(view_of(nb::borrow<nb::bytes>(given)));
  throw nb::type_error((std::string(what) + " must be a str or bytes, not " + type_of(given)).c_str());
}

std::string path_from(nb::handle given) {
  if (!PyUnicode_Check(given.ptr()) && !PyBytes_Check(given.ptr()) && !nb::hasattr(given, "__fspath__"))
    throw nb::type_error(("path must be a str, bytes or os.PathLike, not " + type_of(given)).c_str());
  nb::object path = nb::steal(PyOS_FSPath(given.ptr()));
  if (path.is_valid() && PyUnicode_Check(path.ptr())) path = nb::steal(PyUnicode_EncodeFSDefault(path.ptr()));
  if (!path.is_valid()) throw nb::python_error();
  return std::string(view_of(nb::borrow<nb::bytes>(path)));
}

void bind_object_code(nb::module_& module) {
  nb::class_<PythonObjectCode> bound(module, "ObjectCode", nb::is_weak_referenceable(), documentation);
  forbid_construction(bound,
                      "ObjectCode objects cannot be instantiated directly. Please use ObjectCode APIs (from_cubin, "
                      "from_ptx) or Program APIs (compile).");
  bind_makers(bound);
  bound.def_prop_ro("code", &PythonObjectCode::code, "The code as bytes; the path of code that was given as a file.")
      .def_prop_ro(
          "code_type", [](const PythonObjectCode& self) { return target_object(self.type()); },
          "What the code is: an ObjectCodeFormatType.")
      .def_prop_ro("_is_given", &PythonObjectCode::is_given, "Whether a from_… function made it of code or a path.")
      .def_prop_ro("name", &PythonObjectCode::name, "What messages call it; may be empty.")
      .def_prop_ro(
          "symbol_mapping",
          [](const PythonObjectCode& self) {
            nb::dict copy;
            copy.update(self.symbol_mapping());
            return copy;
          },
          "A copy of the names that get_kernel() takes, and the symbols in the code that they stand for.")
      .def_prop_ro(
          "handle",
          [](const PythonObjectCode& self) {
            return raw_handle("CUlibrary", loading(self, [](const ObjectCode& code) { return code.handle(); }));
          },
          "The CUlibrary. Loads the code.")
      .def(
          "get_kernel",
          [](const PythonObjectCode& self, nb::handle name) {
            const std::string wanted = text_from(name, "the name of a kernel");
            return loading(self, [&](const ObjectCode& code) { return code.get_kernel(wanted); });
          },
          "name"_a.none(),
          "The kernel of that name: a name expression of the compilation, or a symbol (extern \"C\" gives plain ones).")
      .def(
          "get_global",
          [](const PythonObjectCode& self, nb::handle name) {
            const std::string wanted = text_from(name, "the name of a variable");
            return loading(self, [&](const ObjectCode& code) { return code.get_global(wanted); });
          },
          "name"_a.none(),
          "A __device__, __constant__ or __managed__ variable as a Buffer on the current device, which keeps the code "
          "loaded.")
      .def(
          "get_module",
          [](const PythonObjectCode& self) {
            return raw_handle("CUmodule", loading(self, [](const ObjectCode& code) { return code.get_module(); }));
          },
          "The code as a CUmodule of the current context, for interfaces that take no library.")
      .def_prop_ro(
          "kernel_names",
          [](const PythonObjectCode& self) {
            return loading(self, [](const ObjectCode& code) { return code.kernel_names(); });
          },
          "What get_kernel() takes. Loads the code.")
      .def(
          "save",
          [](const PythonObjectCode& self, nb::handle path) {
            const std::string file = path_from(path);
            const ObjectCode code = self.get();
            without_gil([&] { code.save(file); });
          },
          "path"_a,
          "Writes a file that from_file() and NVIDIA's tools read: the code, or a fatbin of it and its PTX where that "
          "is known.")
      .def("to_bytes", &to_bytes, "All of it as bytes, with its PTX, name and symbol mapping, for from_bytes().")
      .def("__reduce__", &reduce)
      .def("__repr__", [](const PythonObjectCode& self) {
        return "<ObjectCode handle=" + hexadecimal(handle_or_zero(self)) + " code_type='" + word_of(self.type()) + "'>";
      });
}

}  // namespace cuprum::python
