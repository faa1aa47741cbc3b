#include "softgpu/runtime/code/function.hpp"

#include <mutex>

#include "softgpu/runtime/code/module.hpp"

namespace softgpu::runtime {

exec::KernelCode Function::code(Module& module, abi::Dim3 block) {
  const auto same = [](abi::Dim3 a, abi::Dim3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; };
  {
    const std::scoped_lock lock(last_lock_);
    if (same(last_block_, block)) return last_code_;
  }
  const exec::KernelCode code = module.image().code(index_, block);
  loaded_ = true;
  const std::scoped_lock lock(last_lock_);
  last_block_ = block;
  return last_code_ = code;
}

}  // namespace softgpu::runtime
