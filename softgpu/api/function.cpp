// Kernels of a module.
#include "softgpu/runtime/function.hpp"

#include "softgpu/api/functions.hpp"
#include "softgpu/runtime/device.hpp"

namespace softgpu::api {
namespace {

using runtime::Function;
using runtime::Module;

std::shared_ptr<Module> module_of(const Function& function) {
  auto module = function.module();
  require(module != nullptr, CUDA_ERROR_INVALID_HANDLE, "the kernel's module is unloaded");
  return module;
}

template <typename Body>
CUresult call_with_function(const char* name, CUfunction handle, Body&& body) {
  return call_in_context(name, [&](Context& context) {
    const auto function = find_function(handle, context);
    const auto module = module_of(*function);  // for the time of the call
    body(*function, *module);
  });
}

}  // namespace

std::shared_ptr<Function> find_function(CUfunction handle, Context& context) {
  auto& handles = Driver::get().handles();
  if (auto function = handles.functions.find(handle)) return function;
  const auto kernel = handles.kernels.find(reinterpret_cast<CUkernel>(handle));
  require(kernel != nullptr, CUDA_ERROR_INVALID_HANDLE, "not a kernel, or one that was unloaded");
  return kernel->function(context);
}

void give_parameter(const jit::KernelFacts& facts, size_t index, size_t* offset, size_t* size) {
  require_pointer(offset);
  require(index < facts.params.size(), CUDA_ERROR_INVALID_VALUE, "the kernel has fewer parameters");
  *offset = facts.params[index].offset;
  if (size != nullptr) *size = facts.params[index].size;
}

}  // namespace softgpu::api

using namespace softgpu::api;

extern "C" {

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  return call_with_function(__func__, function, [&](Function& f, Module& module) {
    require_pointer(value);
    *value = runtime::kernel_attribute(attribute, module.program(), f.index(), f.settings(),
                                       module.context().device().profile());
  });
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  return call_with_function(__func__, function, [&](Function& f, Module& module) {
    runtime::set_kernel_attribute(attribute, value, f.facts(), f.settings(), module.context().device().profile());
  });
}

// There is one cache for everything.
CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache) {
  return call_with_function(__func__, function, [](Function&, Module&) {});
}
CUresult cuFuncSetSharedMemConfig(CUfunction function, CUsharedconfig) {
  return call_with_function(__func__, function, [](Function&, Module&) {});
}

CUresult cuFuncGetModule(CUmodule* module, CUfunction function) {
  return call_with_function(__func__, function, [&](Function&, Module& m) {
    require_pointer(module);
    *module = m.handle();
  });
}

CUresult cuFuncGetName(const char** name, CUfunction function) {
  return call_with_function(__func__, function, [&](Function& f, Module&) {
    require_pointer(name);
    *name = f.facts().name.c_str();
  });
}

CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t* offset, size_t* size) {
  return call_with_function(__func__, function,
                            [&](Function& f, Module&) { give_parameter(f.facts(), index, offset, size); });
}

CUresult cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction function) {
  return call_with_function(__func__, function, [&](Function&, Module&) {
    require_pointer(state);
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
  });
}

CUresult cuFuncLoad(CUfunction function) {
  return call_with_function(__func__, function, [](Function&, Module&) {});
}

}  // extern "C"
