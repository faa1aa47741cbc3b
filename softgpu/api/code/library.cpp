// Libraries and their kernels.
#include "softgpu/runtime/code/library.hpp"

#include <algorithm>

#include "softgpu/api/code/functions.hpp"
#include "softgpu/runtime/base/device.hpp"
#include "softgpu/runtime/code/program.hpp"
#include "softgpu/runtime/work/stream_capture.hpp"

namespace softgpu::api {
namespace {

using runtime::JitOptions;
using runtime::Kernel;
using runtime::Library;
using runtime::Module;

void load_library(CUlibrary* handle, const void* code, std::size_t size, CUjit_option* options, void** values,
                  unsigned count) {
  require_pointer(handle);
  // All devices have the same compute capability.
  const unsigned capability = Driver::get().device(0).compute_capability();
  auto library = Library::load(
      Driver::get().code(),
      runtime::load_program(code, size, capability, JitOptions(count, options, values, JitOptions::Use::load),
                            Driver::get().code().compiler_settings));
  *handle = Driver::get().code().libraries.add(library);
  library->set_handle(*handle);
}

std::shared_ptr<Library> find_library(CUlibrary handle) {
  return find(Driver::get().code().libraries, handle, "not a library, or one that was unloaded");
}

std::shared_ptr<Kernel> find_kernel(CUkernel handle) {
  return find(Driver::get().code().kernels, handle, "not a kernel, or one that was unloaded");
}

// `code` stays where it is as long as the library does: that is of use only to drivers that keep it.
void check_library_options(const CUlibraryOption* options, void** values, unsigned count, bool from_file) {
  require(count == 0 || (options != nullptr && values != nullptr), CUDA_ERROR_INVALID_VALUE, "options without values");
  for (unsigned i = 0; i < count; ++i) {
    require(options[i] >= 0 && options[i] < CU_LIBRARY_NUM_OPTIONS, CUDA_ERROR_INVALID_VALUE, "no such library option");
    require(options[i] != CU_LIBRARY_BINARY_IS_PRESERVED || !from_file, CUDA_ERROR_INVALID_VALUE,
            "CU_LIBRARY_BINARY_IS_PRESERVED is for code in memory");
    require(options[i] != CU_LIBRARY_HOST_UNIVERSAL_FUNCTION_AND_DATA_TABLE, CUDA_ERROR_NOT_SUPPORTED,
            "softgpu has no functions that host and device share");
  }
}

}  // namespace
}  // namespace softgpu::api

using namespace softgpu::api;

extern "C" {

CUresult cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option* options, void** values, unsigned count,
                           CUlibraryOption* library_options, void** library_values, unsigned library_count) {
  return call(__func__, [&] {
    check_library_options(library_options, library_values, library_count, false);
    load_library(library, code, runtime::kUnknownSize, options, values, count);
  });
}

CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* path, CUjit_option* options, void** values,
                               unsigned count, CUlibraryOption* library_options, void** library_values,
                               unsigned library_count) {
  return call(__func__, [&] {
    const std::string image = runtime::read_image_file(path);
    require(!image.empty(), CUDA_ERROR_INVALID_IMAGE, "the file is empty");
    check_library_options(library_options, library_values, library_count, true);
    load_library(library, image.data(), image.size(), options, values, count);
  });
}

CUresult cuLibraryUnload(CUlibrary library) {
  return call(__func__, [&] {
    runtime::require_unsafe_calls_allowed();
    const auto removed = Driver::get().code().libraries.remove(library);
    require_handle(removed != nullptr, CUDA_ERROR_INVALID_HANDLE, "not a library, or one that was unloaded");
    removed->unload();
  });
}

CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  return call(__func__, [&] {
    require_pointer(kernel);
    require_pointer(name, "no name");
    const auto found = find_library(library)->find_kernel(name);
    if (found == nullptr)
      throw Failure(CUDA_ERROR_NOT_FOUND, std::string("the library has no kernel named '") + name + "'");
    *kernel = found->handle();
  });
}

CUresult cuLibraryGetKernelCount(unsigned* count, CUlibrary library) {
  return call(__func__, [&] {
    require_pointer(count);
    *count = static_cast<unsigned>(find_library(library)->kernels().size());
  });
}

CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned room, CUlibrary library) {
  return call(__func__, [&] {
    require_pointer(kernels);
    const auto& all = find_library(library)->kernels();
    for (std::size_t i = 0; i < std::min<std::size_t>(room, all.size()); ++i) kernels[i] = all[i]->handle();
  });
}

CUresult cuLibraryGetModule(CUmodule* module, CUlibrary library) {
  return call_in_context(__func__, [&](Context& context) {
    require_pointer(module);
    *module = find_library(library)->module(context)->handle();
  });
}

CUresult cuLibraryGetGlobal(CUdeviceptr* pointer, size_t* bytes, CUlibrary library, const char* name) {
  return call_in_context(__func__, [&](Context& context) {
    require_pointer(name, "no name");
    give_symbol(find_library(library)->module(context)->symbol(name), pointer, bytes);
  });
}

CUresult cuLibraryGetManaged(CUdeviceptr* pointer, size_t* bytes, CUlibrary library, const char* name) {
  return call_in_context(__func__, [&](Context& context) {
    require_pointer(name, "no name");
    const Module::Symbol symbol = find_library(library)->module(context)->symbol(name);
    require(symbol.managed, CUDA_ERROR_NOT_FOUND, "the variable is not managed");
    give_symbol(symbol, pointer, bytes);
  });
}

// CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS is 0.
CUresult cuLibraryGetUnifiedFunction(void** function, CUlibrary library, const char* name) {
  return call(__func__, [&] {
    require_pointer(function);
    require_pointer(name, "no name");
    find_library(library);
    throw Failure(CUDA_ERROR_INVALID_VALUE, std::string("the library has no unified function named '") + name + "'");
  });
}

CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  return call_in_context(__func__, [&](Context& context) {
    require_pointer(function);
    *function = find_kernel(kernel)->function(context)->handle();
  });
}

CUresult cuKernelGetLibrary(CUlibrary* library, CUkernel kernel) {
  return call(__func__, [&] {
    require_pointer(library);
    const auto owner = find_kernel(kernel)->library();
    require(owner != nullptr, CUDA_ERROR_INVALID_HANDLE, "the kernel's library is unloaded");
    *library = owner->handle();
  });
}

CUresult cuKernelGetAttribute(int* value, CUfunction_attribute attribute, CUkernel kernel, CUdevice device) {
  return call(__func__, [&] {
    require_pointer(value);
    *value = find_kernel(kernel)->attribute(attribute, Driver::get().device(device));
  });
}

CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice device) {
  return call(__func__, [&] { find_kernel(kernel)->set_attribute(attribute, value, Driver::get().device(device)); });
}

CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice device) {
  return call(__func__, [&] {
    find_kernel(kernel);
    Driver::get().device(device);
    require_cache_config(config);
  });
}

CUresult cuKernelGetName(const char** name, CUkernel kernel) {
  return call(__func__, [&] {
    require_pointer(name);
    *name = find_kernel(kernel)->facts().name.c_str();
  });
}

CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t* offset, size_t* size) {
  return call_in_context(__func__,
                         [&](Context&) { give_parameter(find_kernel(kernel)->facts(), index, offset, size); });
}

}  // extern "C"
