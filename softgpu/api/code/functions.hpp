// What modules, libraries and their kernels have in common.
#pragma once

#include <memory>
#include <span>

#include "softgpu/api/base/call.hpp"
#include "softgpu/runtime/code/function.hpp"
#include "softgpu/runtime/code/launch.hpp"
#include "softgpu/runtime/code/library.hpp"
#include "softgpu/runtime/code/module.hpp"

namespace softgpu::api {

// A CUkernel can be passed where a CUfunction is expected: it stands for its function in `context`.
std::shared_ptr<runtime::Function> find_function(CUfunction handle, Context& context);

// As cuFuncGetParamInfo and cuKernelGetParamInfo give it.
void give_parameter(const jit::KernelFacts& facts, size_t index, size_t* offset, size_t* size);

// As cuModuleGetGlobal and cuLibraryGetGlobal give it: one of the two may be null.
void give_symbol(const runtime::Module::Symbol& symbol, CUdeviceptr* pointer, size_t* bytes);

void require_cache_config(CUfunc_cache config);

// Into a launch of a node. Throws what cuLaunchKernelEx returns for attributes that can't be had.
void apply_attributes(runtime::LaunchRequest& request, std::span<const CUlaunchAttribute> attributes);

}  // namespace softgpu::api
