#include "softgpu/runtime/program.hpp"

#include <fstream>
#include <iterator>
#include <string>

#include "softgpu/ptx/parse.hpp"
#include "softgpu/runtime/error.hpp"

namespace softgpu::runtime {
namespace {

CUresult code_of(ptx::Diagnostic::Cause cause) {
  switch (cause) {
    case ptx::Diagnostic::Cause::invalid: return CUDA_ERROR_INVALID_PTX;
    case ptx::Diagnostic::Cause::unsupported: return CUDA_ERROR_NOT_SUPPORTED;
    case ptx::Diagnostic::Cause::version: return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
  }
  return CUDA_ERROR_INVALID_PTX;
}

// PTX for a newer GPU than the device is refused. That for one architecture alone (sm_90a) or for a family (sm_100f)
// runs on no other; softgpu checks the number and leaves it to the parser to refuse what only such a GPU can do.
void check_target(const ptx::Module& module, unsigned compute_capability) {
  if (module.compute_capability <= compute_capability) return;
  throw Failure(CUDA_ERROR_INVALID_PTX, "the PTX is for " + module.target + " but the device has compute capability " +
                                            std::to_string(compute_capability / 10) + "." +
                                            std::to_string(compute_capability % 10) +
                                            "; compile for an older architecture or set SOFTGPU_COMPUTE_CAPABILITY");
}

void check_functions(const jit::Program& program) {
  std::string log;
  for (const jit::KernelFacts& kernel : program.kernels())
    for (const std::string& function : kernel.missing_functions)
      log += "error: kernel '" + kernel.name + "' calls '" + function +
             "', which is declared and nowhere defined; link the module that defines it\n";
  if (!log.empty()) throw Failure(CUDA_ERROR_INVALID_PTX, log);
}

std::shared_ptr<const jit::Program> parse(std::string text, unsigned compute_capability, std::string& info) {
  ptx::ParseResult result = ptx::parse(text);
  std::string log;
  for (const ptx::Diagnostic& diagnostic : result.diagnostics) log += ptx::to_string(diagnostic) + "\n";
  if (!result.module) {
    CUresult code = CUDA_ERROR_INVALID_PTX;
    for (const ptx::Diagnostic& diagnostic : result.diagnostics)
      if (diagnostic.severity == ptx::Diagnostic::Severity::error) {
        code = code_of(diagnostic.cause);
        break;
      }
    throw Failure(code, log);
  }
  check_target(*result.module, compute_capability);
  info = std::move(log);
  auto program = std::make_shared<const jit::Program>(*std::move(result.module), std::move(text));
  check_functions(*program);
  return program;
}

}  // namespace

std::shared_ptr<const jit::Program> load_program(const void* image, std::size_t size, unsigned compute_capability,
                                                 const JitOptions& options) {
  try {
    std::string info;
    auto program = parse(ptx_of(image, size, compute_capability), compute_capability, info);
    options.write_error_log("");
    options.write_info_log(info);
    return program;
  } catch (const Failure& failure) {
    options.write_error_log(failure.what());
    options.write_info_log("");
    throw;
  }
}

std::string read_image_file(const char* path) {
  require(path != nullptr, CUDA_ERROR_INVALID_VALUE, "no file name");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Failure(CUDA_ERROR_FILE_NOT_FOUND, std::string("can't read ") + path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace softgpu::runtime
