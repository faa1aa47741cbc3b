// Modules.
#include "softgpu/runtime/code/module.hpp"

#include <algorithm>

#include "softgpu/api/base/call.hpp"
#include "softgpu/api/code/functions.hpp"
#include "softgpu/runtime/base/device.hpp"
#include "softgpu/runtime/code/program.hpp"
#include "softgpu/runtime/memory/memory_operations.hpp"
#include "softgpu/runtime/work/stream_capture.hpp"

namespace softgpu::api {
namespace {

using runtime::JitOptions;
using runtime::kUnknownSize;
using runtime::Module;

void load_module(Context& context, CUmodule* handle, const void* image, std::size_t size, JitOptions options = {}) {
  require_pointer(handle);
  auto program = runtime::load_program(image, size, context.device().compute_capability(), std::move(options),
                                       Driver::get().code().compiler_settings);
  auto module = Module::load(Driver::get().code(), context, std::move(program));
  *handle = Driver::get().code().modules.add(module);
  module->set_handle(*handle);
}

std::shared_ptr<Module> find_module(CUmodule handle) {
  return find(Driver::get().code().modules, handle, "not a module, or one that was unloaded");
}

[[noreturn]] void refuse_reference(const void* result, CUmodule module, const char* name) {
  require_pointer(result);
  require_pointer(name, "no name");
  find_module(module);
  throw Failure(CUDA_ERROR_NOT_FOUND, std::string("the module has no texture or surface named '") + name + "'");
}

}  // namespace
}  // namespace softgpu::api

using namespace softgpu::api;

extern "C" {

CUresult cuModuleLoad(CUmodule* module, const char* path) {
  return call_in_context(__func__, [&](Context& context) {
    const std::string image = runtime::read_image_file(path);
    load_module(context, module, image.data(), image.size());
  });
}

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return call_in_context(__func__, [&](Context& context) { load_module(context, module, image, kUnknownSize); });
}

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count, CUjit_option* options, void** values) {
  return call_in_context(__func__, [&](Context& context) {
    load_module(context, module, image, kUnknownSize, JitOptions(count, options, values, JitOptions::Use::load));
  });
}

CUresult cuModuleLoadFatBinary(CUmodule* module, const void* fatbin) {
  return call_in_context(__func__, [&](Context& context) { load_module(context, module, fatbin, kUnknownSize); });
}

// Kernels under way keep what they need.
CUresult cuModuleUnload(CUmodule module) {
  return call(__func__, [&] {
    runtime::require_unsafe_calls_allowed();
    const auto removed = Driver::get().code().modules.remove(module);
    require_handle(removed != nullptr, CUDA_ERROR_INVALID_HANDLE, "not a module, or one that was unloaded");
    removed->drop_handles();
    require_healthy(removed->context());
  });
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  return call(__func__, [&] {
    require_pointer(mode);
    *mode = runtime::loading_mode();
  });
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return call_in_context(__func__, [&](Context&) {
    require_pointer(function);
    require_pointer(name, "no name");
    const auto found = find_module(module)->find_function(name);
    if (found == nullptr)
      throw Failure(CUDA_ERROR_NOT_FOUND, std::string("the module has no kernel named '") + name + "'");
    found->load();
    *function = found->handle();
  });
}

CUresult cuModuleGetFunctionCount(unsigned* count, CUmodule module) {
  return call_in_context(__func__, [&](Context&) {
    require_pointer(count);
    *count = static_cast<unsigned>(find_module(module)->functions().size());
  });
}

CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned room, CUmodule module) {
  return call_in_context(__func__, [&](Context&) {
    require_pointer(functions);
    const auto& all = find_module(module)->functions();
    for (std::size_t i = 0; i < std::min<std::size_t>(room, all.size()); ++i) functions[i] = all[i]->handle();
  });
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr* pointer, size_t* bytes, CUmodule module, const char* name) {
  return call_in_context(__func__, [&](Context&) {
    require_pointer(name, "no name");
    give_symbol(find_module(module)->symbol(name), pointer, bytes);
  });
}

// softgpu refuses PTX with references to textures and surfaces, so that no module has any.
CUresult cuModuleGetTexRef(CUtexref* reference, CUmodule module, const char* name) {
  return call_in_context(__func__, [&](Context&) { refuse_reference(reference, module, name); });
}
CUresult cuModuleGetSurfRef(CUsurfref* reference, CUmodule module, const char* name) {
  return call_in_context(__func__, [&](Context&) { refuse_reference(reference, module, name); });
}

}  // extern "C"
