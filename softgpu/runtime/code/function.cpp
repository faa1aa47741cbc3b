#include "softgpu/runtime/code/function.hpp"

#include <cstdio>
#include <mutex>

#include "softgpu/runtime/base/error.hpp"

namespace softgpu::runtime {

namespace {

// What can't be run is refused when the module is loaded: this is a defect of softgpu, or of the machine. So it is said
// on stderr, too, whoever looks at codes alone.
exec::KernelCode compiled(jit::Image& image, std::size_t kernel, abi::Dim3 block, bool checks_access) try {
  return image.code(kernel, block, checks_access);
} catch (const jit::CompileFailure& failure) {
  std::fprintf(stderr, "softgpu: %s\n", failure.what());
  throw Failure(CUDA_ERROR_INVALID_PTX, failure.what());
}

}  // namespace

exec::KernelCode Function::code(jit::Image& image, abi::Dim3 block) {
  const auto same = [](abi::Dim3 a, abi::Dim3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; };
  {
    const std::scoped_lock lock(last_lock_);
    if (same(last_block_, block)) return last_code_;
  }
  const exec::KernelCode code = compiled(image, index_, block, false);
  loaded_ = true;
  const std::scoped_lock lock(last_lock_);
  last_block_ = block;
  return last_code_ = code;
}

exec::KernelCode Function::checking_code(jit::Image& image, abi::Dim3 block) {
  loaded_ = true;
  return compiled(image, index_, block, true);
}

}  // namespace softgpu::runtime
