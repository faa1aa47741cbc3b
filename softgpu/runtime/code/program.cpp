#include "softgpu/runtime/code/program.hpp"

#include <fstream>
#include <iterator>
#include <string>

#include "softgpu/runtime/base/error.hpp"
#include "softgpu/runtime/code/program_builder.hpp"

namespace softgpu::runtime {

std::shared_ptr<const jit::Program> load_program(const void* image, std::size_t size, unsigned compute_capability,
                                                 JitOptions options, const jit::CompilerSettings& settings) {
  return options.report([&] {
    ProgramBuilder builder(compute_capability, options.limits());
    for (PtxPart& part : ptx_of(image, size, compute_capability)) builder.add(std::move(part));
    auto program = std::move(builder).finish(ProgramUse::load, settings);
    if (options.verbose()) options.inform(resource_usage(*program));
    return program;
  });
}

std::string read_image_file(const char* path) {
  require(path != nullptr, CUDA_ERROR_INVALID_VALUE, "no file name");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Failure(CUDA_ERROR_FILE_NOT_FOUND, std::string("can't read ") + path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace softgpu::runtime
