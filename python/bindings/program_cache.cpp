// Program caches: see <cuprum/program_cache.hpp>. The classes that users see are in cuprum/_program_cache.py.
#include "bindings/program_cache.hpp"

#include "bindings/object_code.hpp"
#include "bindings/program.hpp"

namespace cuprum::python {
namespace {

nb::bytes bytes_of(std::string_view text) { return nb::bytes(text.data(), text.size()); }
std::string_view view_of(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }

template <typename Cache>
void bind_cache(nb::class_<Cache>& bound) {
  bound
      .def("get",
           [](Cache& self, const nb::bytes& key) -> nb::object {
             const std::optional<std::string> value = without_gil([&] { return self.get(view_of(key)); });
             return value ? nb::object(bytes_of(*value)) : nb::none();
           })
      .def("set", [](Cache& self, const nb::bytes& key,
                     const nb::bytes& value) { without_gil([&] { self.set(view_of(key), view_of(value)); }); })
      .def("erase",
           [](Cache& self, const nb::bytes& key) { return without_gil([&] { return self.erase(view_of(key)); }); })
      .def("size", [](Cache& self) { return without_gil([&] { return self.size(); }); })
      .def("clear", [](Cache& self) { without_gil([&] { self.clear(); }); })
      .def("get_code",
           [](Cache& self, const nb::bytes& key) -> nb::object {
             std::optional<ObjectCode> code = without_gil([&] { return self.get_code(view_of(key)); });
             return code ? object_code_object(*std::move(code)) : nb::none();
           })
      .def("set_code", [](Cache& self, const nb::bytes& key, const PythonObjectCode& code) {
        const ObjectCode stored = code.get();
        without_gil([&] { self.set_code(view_of(key), stored); });
      });
}

nb::bytes key_from(nb::handle code, nb::handle code_type, nb::handle options, nb::handle target_type,
                   nb::handle name_expressions, const nb::bytes& extra_digest) {
  SourceCodeType type{};
  try {
    type = source_type_from(code_type);
  } catch (const WrongState& error) {
    const std::string word = nb::cast<std::string>(nb::str(code_type));
    throw nb::value_error(("'" + word + "' is not a valid SourceCodeType: " + error.what()).c_str());
  }
  const Target target = compilation_target_from(target_type, type);
  const std::string source = source_from(code, type);
  const ProgramOptions given = program_options_from(options_object("ProgramOptions", options, "Program options"), type);
  const ProgramCacheKeyOptions key_options{.name_expressions = name_expressions_from(name_expressions, type),
                                           .extra_digest = std::string(view_of(extra_digest))};
  return bytes_of(without_gil([&] { return make_program_cache_key(source, type, given, target, key_options); }));
}

template <typename Cache>
ProgramCacheResource* library_cache(nb::handle native) {
  return nb::isinstance<Cache>(native) ? &nb::cast<Cache&>(native) : nullptr;
}

}  // namespace

/// What a class in Python does, for the library, which calls it without the GIL. What it raises is kept for the caller,
/// who is the one to hear of it: the library sees an empty cache, and compiles.
class GivenCache::InPython final : public ProgramCacheResource {
 public:
  explicit InPython(nb::handle cache) : cache_(nb::borrow(cache)) {}
  InPython(const InPython&) = delete;
  InPython& operator=(const InPython&) = delete;

  std::optional<std::string> get(std::string_view key) override {
    return calling([&]() -> std::optional<std::string> {
      const nb::object value = cache_.attr("get")(bytes_of(key));
      if (value.is_none()) return std::nullopt;
      const nb::bytes bytes = nb::steal<nb::bytes>(PyBytes_FromObject(value.ptr()));
      if (!bytes.is_valid()) throw nb::python_error();
      return std::string(view_of(bytes));
    });
  }
  void set(std::string_view key, std::string_view value) override {
    calling([&] { cache_[bytes_of(key)] = bytes_of(value); });
  }
  bool erase(std::string_view key) override {
    return calling([&] {
      if (PyObject_DelItem(cache_.ptr(), bytes_of(key).ptr()) == 0) return true;
      if (!PyErr_ExceptionMatches(PyExc_KeyError)) throw nb::python_error();
      PyErr_Clear();
      return false;
    });
  }
  std::size_t size() override {
    return calling([&] { return nb::len(cache_); });
  }
  void clear() override {
    calling([&] { cache_.attr("clear")(); });
  }

  void rethrow() const {
    if (raised_) std::rethrow_exception(raised_);
  }

 private:
  template <typename Call>
  std::invoke_result_t<Call> calling(Call call) {
    using Result = std::invoke_result_t<Call>;
    if (raised_) return Result();
    nb::gil_scoped_acquire acquired;
    try {
      return call();
    } catch (const nb::python_error&) {
      raised_ = std::current_exception();
      return Result();
    }
  }

  nb::object cache_;
  std::exception_ptr raised_;
};

GivenCache::GivenCache(nb::handle given) : is_given_(!given.is_none()) {
  if (!is_given_) {
    cache_ = default_program_cache();
    return;
  }
  nb::module_ caches = nb::module_::import_("cuprum._program_cache");
  if (!nb::isinstance(given, nb::object(caches.attr("ProgramCacheResource")))) {
    throw nb::type_error(
        ("cache must be an instance of cuprum.utils.ProgramCacheResource, or None, not " + type_of(given)).c_str());
  }
  const nb::object native = nb::getattr(given, "_native", nb::none());
  cache_ = library_cache<InMemoryProgramCache>(native);
  if (!cache_) cache_ = library_cache<FileStreamProgramCache>(native);
  if (cache_) return;
  in_python_ = std::make_unique<InPython>(given);
  cache_ = in_python_.get();
}

GivenCache::~GivenCache() = default;

void GivenCache::rethrow() const {
  if (in_python_) in_python_->rethrow();
}

void bind_program_cache(nb::module_& module) {
  nb::class_<InMemoryProgramCache> in_memory(module, "_InMemoryProgramCache");
  in_memory.def(
      "__init__",
      [](InMemoryProgramCache* self, std::optional<std::size_t> limit) {
        new (self) InMemoryProgramCache({.max_size_bytes = limit});
      },
      "max_size_bytes"_a.none());
  bind_cache(in_memory);
  nb::class_<FileStreamProgramCache> file_stream(module, "_FileStreamProgramCache");
  file_stream.def(
      "__init__",
      [](FileStreamProgramCache* self, const std::string& path, std::optional<std::size_t> limit) {
        new (self) FileStreamProgramCache(path, {.max_size_bytes = limit});
      },
      "path"_a, "max_size_bytes"_a.none());
  file_stream.def("path", &FileStreamProgramCache::path);
  bind_cache(file_stream);
  module.def("_program_cache_key", &key_from, "code"_a.none(), "code_type"_a.none(), "options"_a.none(),
             "target_type"_a.none(), "name_expressions"_a, "extra_digest"_a);
}

}  // namespace cuprum::python
