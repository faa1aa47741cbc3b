// Kernels of a module.
#include "softgpu/runtime/code/function.hpp"

#include "softgpu/api/code/functions.hpp"
#include "softgpu/runtime/base/device.hpp"
#include "softgpu/runtime/memory/memory_operations.hpp"

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

runtime::KernelOnDevice on_device(const Function& function, const Module& module) {
  return {function.facts(), module.program().module(), module.context().device().profile()};
}

// What CUDA knows of a function only once it is loaded.
void require_loaded(const Function& function, CUfunction_attribute attribute) {
  const bool needs_loading = attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ||
                             attribute == CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES ||
                             attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
  require(!needs_loading || function.is_loaded(), CUDA_ERROR_FUNCTION_NOT_LOADED,
          "an enumerated function, which is not loaded; cuFuncLoad does that");
}

}  // namespace

std::shared_ptr<Function> find_function(CUfunction handle, Context& context) {
  const runtime::CodeServices& code = Driver::get().code();
  if (auto function = code.functions.find(handle)) return function;
  const auto kernel = code.kernels.find(reinterpret_cast<CUkernel>(handle));
  require(kernel != nullptr, CUDA_ERROR_INVALID_HANDLE, "not a kernel, or one that was unloaded");
  return kernel->function(context);
}

void give_parameter(const jit::KernelFacts& facts, size_t index, size_t* offset, size_t* size) {
  require_pointer(offset);
  require(index < facts.params.size(), CUDA_ERROR_INVALID_VALUE, "the kernel has fewer parameters");
  *offset = facts.params[index].offset;
  if (size != nullptr) *size = facts.params[index].size;
}

void give_symbol(const Module::Symbol& symbol, CUdeviceptr* pointer, size_t* bytes) {
  require(pointer != nullptr || bytes != nullptr, CUDA_ERROR_INVALID_VALUE,
          "neither a pointer nor a size is asked for");
  if (pointer != nullptr) *pointer = runtime::to_device(symbol.address);
  if (bytes != nullptr) *bytes = symbol.bytes;
}

void require_cache_config(CUfunc_cache config) {
  require(config >= CU_FUNC_CACHE_PREFER_NONE && config <= CU_FUNC_CACHE_PREFER_EQUAL, CUDA_ERROR_INVALID_VALUE,
          "no such configuration of the cache");
}

}  // namespace softgpu::api

using namespace softgpu::api;

extern "C" {

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  return call_with_function(__func__, function, [&](Function& f, Module& module) {
    require_pointer(value);
    require_loaded(f, attribute);
    *value = runtime::kernel_attribute(attribute, on_device(f, module), f.settings());
  });
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  return call_with_function(__func__, function, [&](Function& f, Module& module) {
    runtime::set_kernel_attribute(attribute, value, on_device(f, module), f.settings());
  });
}

// There is one cache for everything.
CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config) {
  return call_with_function(__func__, function, [&](Function&, Module&) { require_cache_config(config); });
}
CUresult cuFuncSetSharedMemConfig(CUfunction function, CUsharedconfig config) {
  return call_with_function(__func__, function, [&](Function&, Module&) {
    require(config >= CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE && config <= CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE,
            CUDA_ERROR_INVALID_VALUE, "no such configuration of shared memory");
  });
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
  return call_with_function(__func__, function, [&](Function& f, Module&) {
    require_pointer(state);
    *state = f.is_loaded() ? CU_FUNCTION_LOADING_STATE_LOADED : CU_FUNCTION_LOADING_STATE_UNLOADED;
  });
}

CUresult cuFuncLoad(CUfunction function) {
  return call_with_function(__func__, function, [](Function& f, Module&) { f.load(); });
}

}  // extern "C"
