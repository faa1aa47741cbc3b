// The functions of abi/runtime_calls.def, for the JIT to bind.
#pragma once

#include <span>
#include <string_view>

namespace softgpu::exec {

struct RuntimeCall {
  std::string_view symbol;  // softgpu_rt_<name>
  void* address;
};
std::span<const RuntimeCall> runtime_calls();

}  // namespace softgpu::exec
