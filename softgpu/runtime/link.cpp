#include "softgpu/runtime/link.hpp"

#include "softgpu/runtime/error.hpp"
#include "softgpu/runtime/program.hpp"

namespace softgpu::runtime {

void Link::add(CUjitInputType type, const void* data, std::size_t size) {
  try {
    require(data != nullptr && size != 0, CUDA_ERROR_INVALID_VALUE, "an empty input");
    require(type == CU_JIT_INPUT_PTX || type == CU_JIT_INPUT_FATBINARY, CUDA_ERROR_NOT_SUPPORTED,
            "softgpu links PTX and fatbins that hold it, no machine code, objects or libraries");
    require(ptx_.empty(), CUDA_ERROR_NOT_SUPPORTED, "softgpu links one input; put the code into one PTX module");
    std::string ptx = ptx_of(data, size, compute_capability_);
    load_program(ptx.data(), ptx.size(), compute_capability_, options_);  // for its errors
    ptx_ = std::move(ptx);
  } catch (const Failure& failure) {
    options_.write_error_log(failure.what());
    throw;
  }
}

const std::string& Link::complete() {
  require(!ptx_.empty(), CUDA_ERROR_INVALID_VALUE, "nothing was added to link");
  return ptx_;
}

}  // namespace softgpu::runtime
