#include "core/compile/nvrtc_compilation.hpp"

#include <cuprum/device.hpp>
#include <cuprum/driver.hpp>

#include "core/compile/source_excerpt.hpp"
#include "support/c_string.hpp"
#include "support/text.hpp"

namespace cuprum::core {
namespace {

using support::c_string;
using support::text;
using support::without_zero;

template <auto GetSize, auto GetBytes>
std::string fetch(nvrtc::Program program) {
  std::size_t size = 0;
  nvrtc::call<GetSize>(program, &size);
  std::string bytes(size, '\0');
  if (size != 0) nvrtc::call<GetBytes>(program, bytes.data());
  return bytes;
}

// What the compiler can't know about its own complaint.
std::string hint(const std::string& log, const std::vector<std::string>& arguments) {
  if (log.find("cannot open source file") != std::string::npos) {
    std::string searched = "\nheaders were searched in:";
    for (const std::string& argument : arguments) {
      if (argument.starts_with("--include-path=")) searched += "\n  " + argument.substr(argument.find('=') + 1);
    }
    for (const std::string& remark : nvrtc::info().remarks) searched += "\n  " + remark;
    return searched;
  }
  if (log.find("gpu-architecture") != std::string::npos) {
    return text("\nthis NVRTC, ", nvrtc::info().path, ", knows sm_", support::join(supported_architectures(), ", sm_"));
  }
  return {};
}

}  // namespace

std::vector<int> supported_architectures() {
  int count = 0;
  nvrtc::call<&nvrtc::Api::nvrtcGetNumSupportedArchs>(&count);
  std::vector<int> architectures(static_cast<std::size_t>(count));
  nvrtc::call<&nvrtc::Api::nvrtcGetSupportedArchs>(architectures.data());
  return architectures;
}

std::string default_architecture() {
  try {
    return "sm_" + Device().arch();
  } catch (const NotSupported&) {
    // There is no driver.
  } catch (const DriverError& error) {
    if (error.code() != CUDA_ERROR_NO_DEVICE) throw;
  }
  return text("sm_", supported_architectures().back());
}

NvrtcCompilation::NvrtcCompilation(const detail::ProgramResource& program) : source_(program) {
  nvrtc::call<&nvrtc::Api::nvrtcCreateProgram>(
      &program_, source_.source.c_str(), c_string(source_.options.name, "the name of a program"), 0, nullptr, nullptr);
}

NvrtcCompilation::~NvrtcCompilation() { nvrtc::api().nvrtcDestroyProgram(&program_); }

void NvrtcCompilation::add_name(const std::string& expression) {
  nvrtc::call<&nvrtc::Api::nvrtcAddNameExpression>(program_, c_string(expression, "a name expression"));
}

void NvrtcCompilation::run(const std::vector<std::string>& arguments) {
  const std::vector<const char*> pointers = support::c_strings(arguments, "an option of the compiler");
  const nvrtc::Result result =
      nvrtc::try_call<&nvrtc::Api::nvrtcCompileProgram>(program_, static_cast<int>(pointers.size()), pointers.data());
  if (result == nvrtc::Result::success) return;
  const std::string& name = source_.options.name;
  const std::string printed = log();
  throw CompileError(
      {.summary = text("NVRTC could not compile '", name, "' (", nvrtc::api().nvrtcGetErrorString(result),
                       ") with the options ", support::join(arguments, " "), hint(printed, arguments)),
       .log = printed,
       .source = source_excerpt(source_.source, name, printed),
       .options = arguments});
}

std::string NvrtcCompilation::lowered_name(const std::string& expression) const {
  const char* name = nullptr;
  const nvrtc::Result result = nvrtc::try_call<&nvrtc::Api::nvrtcGetLoweredName>(program_, expression.c_str(), &name);
  if (result == nvrtc::Result::success) return name;
  throw CompileError({.summary = text("'", expression, "' is not a name of a kernel or variable in '",
                                      source_.options.name, "' (", nvrtc::api().nvrtcGetErrorString(result), ")"),
                      .log = log()});
}

std::string NvrtcCompilation::log() const {
  return without_zero(fetch<&nvrtc::Api::nvrtcGetProgramLogSize, &nvrtc::Api::nvrtcGetProgramLog>(program_));
}

std::string NvrtcCompilation::ptx() const {
  return without_zero(fetch<&nvrtc::Api::nvrtcGetPTXSize, &nvrtc::Api::nvrtcGetPTX>(program_));
}

std::string NvrtcCompilation::cubin() const {
  return fetch<&nvrtc::Api::nvrtcGetCUBINSize, &nvrtc::Api::nvrtcGetCUBIN>(program_);
}

std::string NvrtcCompilation::ltoir() const {
  return fetch<&nvrtc::Api::nvrtcGetLTOIRSize, &nvrtc::Api::nvrtcGetLTOIR>(program_);
}

std::optional<PCHStatusType> NvrtcCompilation::pch_status() const {
  const nvrtc::Result result = nvrtc::try_call<&nvrtc::Api::nvrtcGetPCHCreateStatus>(program_);
  switch (result) {
    case nvrtc::Result::success: return PCHStatusType::created;
    case nvrtc::Result::no_pch_create_attempted: return PCHStatusType::not_attempted;
    case nvrtc::Result::pch_create: return PCHStatusType::failed;
    case nvrtc::Result::pch_create_heap_exhausted: break;
    default:
      detail::raise_library_error(detail::Library::nvrtc, nvrtc::detail::index_of_nvrtcGetPCHCreateStatus,
                                  static_cast<int>(result));
  }
  std::size_t needed = 0;
  nvrtc::call<&nvrtc::Api::nvrtcGetPCHHeapSizeRequired>(program_, &needed);
  nvrtc::call<&nvrtc::Api::nvrtcSetPCHHeapSize>(needed);
  return std::nullopt;
}

}  // namespace cuprum::core
