// Loading device code, as far as it does not depend on a context.
#pragma once

#include <memory>

#include "softgpu/jit/program.hpp"
#include "softgpu/runtime/code/device_code.hpp"
#include "softgpu/runtime/code/jit_options.hpp"

namespace softgpu::runtime {

// Finds the PTX, parses and checks it, and links it when it is several modules. What is wrong goes to the error log of
// the options and into the Failure.
std::shared_ptr<const jit::Program> load_program(const void* image, std::size_t size, unsigned compute_capability,
                                                 JitOptions options, const jit::CompilerSettings& settings);

// The contents of a file, for cuModuleLoad and the like. Throws CUDA_ERROR_FILE_NOT_FOUND.
std::string read_image_file(const char* path);

}  // namespace softgpu::runtime
