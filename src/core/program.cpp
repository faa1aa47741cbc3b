#include <cuprum/device.hpp>
#include <cuprum/program.hpp>
#include <ostream>

#include "core/closable.hpp"
#include "core/object_code_resource.hpp"
#include "core/program_options.hpp"
#include "core/program_resource.hpp"
#include "support/text.hpp"
#include "toolchain/nvrtc.hpp"

namespace cuprum {

using detail::Access;
using detail::ProgramResource;
using support::text;
using toolchain::Nvrtc;

namespace {

/// One compilation. NVRTC's programs take name expressions only before they are compiled, so each compilation makes its
/// own.
class Compilation {
 public:
  Compilation(const Nvrtc& nvrtc, const ProgramResource& program) : nvrtc_(nvrtc), name_(program.options.name) {
    check(nvrtc_.nvrtcCreateProgram(&program_, program.source.c_str(), name_.c_str(), 0, nullptr, nullptr),
          "nvrtcCreateProgram");
  }
  ~Compilation() { nvrtc_.nvrtcDestroyProgram(&program_); }
  Compilation(const Compilation&) = delete;
  Compilation& operator=(const Compilation&) = delete;

  void add_name(const std::string& expression) {
    check(nvrtc_.nvrtcAddNameExpression(program_, expression.c_str()), "nvrtcAddNameExpression");
  }

  void run(const std::vector<std::string>& arguments) {
    std::vector<const char*> pointers;
    for (const std::string& argument : arguments) pointers.push_back(argument.c_str());
    const nvrtcResult result = nvrtc_.nvrtcCompileProgram(program_, static_cast<int>(pointers.size()), pointers.data());
    if (result == NVRTC_SUCCESS) return;
    throw CompileError(text("NVRTC could not compile '", name_, "' (", nvrtc_.nvrtcGetErrorString(result),
                            ") with the options ", support::join(arguments, " ")),
                       log());
  }

  std::string lowered_name(const std::string& expression) {
    const char* name = nullptr;
    const nvrtcResult result = nvrtc_.nvrtcGetLoweredName(program_, expression.c_str(), &name);
    if (result != NVRTC_SUCCESS) {
      throw CompileError(text("'", expression, "' is not a name of a kernel or variable in '", name_, "' (",
                              nvrtc_.nvrtcGetErrorString(result), ")"),
                         log());
    }
    return name;
  }

  std::string log() {
    std::string text = fetch(nvrtc_.nvrtcGetProgramLogSize, nvrtc_.nvrtcGetProgramLog, "nvrtcGetProgramLog");
    if (!text.empty() && text.back() == '\0') text.pop_back();
    return text;
  }

  /// With its terminating zero taken off: std::string has its own.
  std::string ptx() {
    std::string text = fetch(nvrtc_.nvrtcGetPTXSize, nvrtc_.nvrtcGetPTX, "nvrtcGetPTX");
    if (!text.empty() && text.back() == '\0') text.pop_back();
    return text;
  }

  std::string cubin() { return fetch(nvrtc_.nvrtcGetCUBINSize, nvrtc_.nvrtcGetCUBIN, "nvrtcGetCUBIN"); }
  std::string ltoir() { return fetch(nvrtc_.nvrtcGetLTOIRSize, nvrtc_.nvrtcGetLTOIR, "nvrtcGetLTOIR"); }

 private:
  using GetSize = nvrtcResult (*)(nvrtcProgram, size_t*);
  using GetBytes = nvrtcResult (*)(nvrtcProgram, char*);

  std::string fetch(GetSize get_size, GetBytes get_bytes, const char* call) {
    size_t size = 0;
    check(get_size(program_, &size), call);
    std::string bytes(size, '\0');
    if (size != 0) check(get_bytes(program_, bytes.data()), call);
    return bytes;
  }

  void check(nvrtcResult result, const char* call) {
    if (result == NVRTC_SUCCESS) return;
    throw CompileError(text("compiling '", name_, "': ", call, " failed with ", nvrtc_.nvrtcGetErrorString(result)),
                       {});
  }

  const Nvrtc& nvrtc_;
  const std::string& name_;
  nvrtcProgram program_ = nullptr;
};

// Machine code is made for a real architecture (sm_90). PTX alone is for a virtual one (compute_90), which spares the
// compiler the machine code.
std::string architecture(const ProgramOptions& options, Target target) {
  std::string arch = options.arch ? *options.arch : "sm_" + Device().arch();
  const bool is_real = arch.starts_with("sm_");
  if (target == Target::ptx && is_real) return "compute_" + arch.substr(3);
  if (target == Target::cubin && !is_real) {
    throw InvalidArgument(text("compiling '", options.name,
                               "' to machine code needs a real architecture such as sm_90; arch is '", arch, "'"));
  }
  return arch;
}

std::vector<std::string> arguments_of(const ProgramOptions& options, Target target, const Nvrtc& nvrtc) {
  std::vector<std::string> arguments = core::nvrtc_options(options);
  arguments.push_back("--gpu-architecture=" + architecture(options, target));
  if (target == Target::ltoir && !options.link_time_optimization.value_or(false))
    arguments.emplace_back("--dlink-time-opt");
  for (const auto& folder : nvrtc.header_folders) arguments.push_back("--include-path=" + folder.string());
  return arguments;
}

}  // namespace

Program::Program(std::string_view source, ProgramOptions options)
    : shared_(std::make_shared<detail::Closable<ProgramResource>>()) {
  auto resource = std::make_shared<ProgramResource>();
  resource->source = source;
  resource->options = std::move(options);
  shared_->resource = std::move(resource);
}

ObjectCode Program::compile(Target target, const CompileOptions& options) const {
  const std::shared_ptr<ProgramResource> program = Access::resource(*this);
  const Nvrtc& nvrtc = toolchain::nvrtc();
  Compilation compilation(nvrtc, *program);
  for (const std::string& expression : options.name_expressions) compilation.add_name(expression);
  compilation.run(arguments_of(program->options, target, nvrtc));

  detail::Code code{.type = target, .name = program->options.name};
  for (const std::string& expression : options.name_expressions) {
    code.symbol_mapping[expression] = compilation.lowered_name(expression);
  }
  if (target == Target::ltoir) {
    code.bytes = compilation.ltoir();
  } else {
    code.ptx = compilation.ptx();
    code.bytes = target == Target::cubin ? compilation.cubin() : code.ptx;
  }
  if (options.log) *options.log << compilation.log();
  return Access::make_code(std::make_shared<detail::ObjectCodeResource>(std::move(code)));
}

void Program::close() { Access::close(*this); }

}  // namespace cuprum
