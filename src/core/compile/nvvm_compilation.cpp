#include "core/compile/nvvm_compilation.hpp"

#include <cuprum/nvvm.hpp>
#include <cuprum/pathfinder.hpp>

#include "core/compile/source_excerpt.hpp"
#include "support/c_string.hpp"
#include "support/read_file.hpp"
#include "support/text.hpp"

namespace cuprum::core {
namespace {

using support::text;
using support::without_zero;

template <auto GetSize, auto GetBytes>
std::string fetch(nvvm::Program program) {
  std::size_t size = 0;
  nvvm::call<GetSize>(program, &size);
  std::string bytes(size, '\0');
  if (size != 0) nvvm::call<GetBytes>(program, bytes.data());
  return bytes;
}

class NvvmCompilation {
 public:
  explicit NvvmCompilation(const detail::ProgramResource& source) : source_(source) {
    nvvm::call<&nvvm::Api::nvvmCreateProgram>(&program_);
  }
  ~NvvmCompilation() { nvvm::api().nvvmDestroyProgram(&program_); }
  NvvmCompilation(const NvvmCompilation&) = delete;
  NvvmCompilation& operator=(const NvvmCompilation&) = delete;

  nvvm::Program handle() const { return program_; }

  void add_modules() {
    add(source_.source, source_.options.name);
    for (const ExtraSource& extra : source_.options.extra_sources) add(extra.source, extra.name);
  }

  void add(const std::string& module, const std::string& name) {
    check(nvvm::try_call<&nvvm::Api::nvvmAddModuleToProgram>(program_, module.data(), module.size(),
                                                             support::c_string(name, "the name of a program")),
          name, {});
  }

  /// Only what the other modules use of it is compiled.
  void add_libdevice() {
    const std::string path = pathfinder::locate(pathfinder::Kind::bitcode_lib, "device").path;
    const std::string bitcode = support::read_file(path);
    nvvm::call<&nvvm::Api::nvvmLazyAddModuleToProgram>(program_, bitcode.data(), bitcode.size(), "libdevice");
  }

  void run(const std::vector<std::string>& arguments) {
    std::vector<const char*> pointers = support::c_strings(arguments, "an option of the compiler");
    const int count = static_cast<int>(pointers.size());
    check(nvvm::try_call<&nvvm::Api::nvvmVerifyProgram>(program_, count, pointers.data()), source_.options.name,
          arguments);
    if (source_.options.use_libdevice.value_or(false)) add_libdevice();
    check(nvvm::try_call<&nvvm::Api::nvvmCompileProgram>(program_, count, pointers.data()), source_.options.name,
          arguments);
  }

  std::string log() const {
    return without_zero(fetch<&nvvm::Api::nvvmGetProgramLogSize, &nvvm::Api::nvvmGetProgramLog>(program_));
  }

  std::string code() const {
    return fetch<&nvvm::Api::nvvmGetCompiledResultSize, &nvvm::Api::nvvmGetCompiledResult>(program_);
  }

 private:
  void check(nvvm::Result result, const std::string& module, const std::vector<std::string>& arguments) const {
    if (result == nvvm::Result::success) return;
    const std::string printed = log();
    throw CompileError(
        {.summary = text("libNVVM could not compile '", module, "' (", nvvm::api().nvvmGetErrorString(result),
                         ") with the options ", support::join(arguments, " "), hint(result)),
         .log = printed,
         .source = source_excerpt(source_.source, source_.options.name, printed),
         .options = arguments});
  }

  static std::string hint(nvvm::Result result) {
    if (result != nvvm::Result::ir_version_mismatch) return {};
    int major = 0;
    int minor = 0;
    int debug_major = 0;
    int debug_minor = 0;
    nvvm::call<&nvvm::Api::nvvmIRVersion>(&major, &minor, &debug_major, &debug_minor);
    return text("\nthis libNVVM, ", nvvm::info().path, ", takes NVVM IR of version ", major, '.', minor,
                " with debug metadata of version ", debug_major, '.', debug_minor,
                ": the IR says its version in !nvvmir.version");
  }

  const detail::ProgramResource& source_;
  nvvm::Program program_ = nullptr;
};

}  // namespace

NvvmResult compile_nvvm(const detail::ProgramResource& program, const std::vector<std::string>& arguments) {
  NvvmCompilation compilation(program);
  compilation.add_modules();
  compilation.run(arguments);
  return {compilation.code(), compilation.log()};
}

std::shared_ptr<void> make_nvvm_program(const detail::ProgramResource& program) {
  auto compilation = std::make_shared<NvvmCompilation>(program);
  compilation->add_modules();
  return {compilation, compilation->handle()};
}

}  // namespace cuprum::core
