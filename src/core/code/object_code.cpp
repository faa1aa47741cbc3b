#include <cuprum/object_code.hpp>
#include <ostream>

#include "core/base/closable.hpp"
#include "core/code/code_image.hpp"
#include "core/code/kernel_names.hpp"
#include "core/code/kernel_resource.hpp"
#include "core/code/load_library.hpp"
#include "core/code/object_code_resource.hpp"
#include "core/memory/buffer_resource.hpp"
#include "driver/release.hpp"
#include "support/c_string.hpp"
#include "support/enumeration.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI {

using core::ContextGuard;
using detail::Access;
using detail::KernelResource;
using detail::ObjectCodeResource;
using driver::Api;
using driver::Doing;
using support::text;

namespace {

/// The library of some code in the context where the caller is, which is current as long as this lives.
struct CurrentLibrary {
  explicit CurrentLibrary(ObjectCodeResource& code)
      : context(core::context_for(Device().device_id())), guard(context), handle(code.library(context)) {}

  const core::ContextRecord& context;
  ContextGuard guard;
  CUlibrary handle;
};

std::string symbol_of(const std::string& name, const detail::Code& code) {
  const auto mapped = code.symbol_mapping.find(name);
  return mapped == code.symbol_mapping.end() ? name : mapped->second;
}

// NVRTC's expressions for variables are addresses.
std::string symbol_of_variable(const std::string& name, const detail::Code& code) {
  const auto mapped = code.symbol_mapping.find("&" + name);
  return mapped == code.symbol_mapping.end() ? symbol_of(name, code) : mapped->second;
}

struct Variable {
  CUdeviceptr pointer = 0;
  std::size_t size = 0;
};

[[noreturn]] void refuse_unknown_variable(std::string_view name, const detail::Code& code) {
  throw InvalidArgument(
      text("there is no variable '", name, "' in ", core::title(code),
           ": it must be a __device__, __constant__ or __managed__ one that is not static; one of C++ is found by its "
           "name if that is extern \"C\" or among the name_expressions of the compilation, as \"&",
           name, "\""));
}

Variable find_variable(std::string_view name, CUlibrary library, const detail::Code& code) {
  const std::string symbol = symbol_of_variable(std::string(name), code);
  const char* const c_symbol = support::c_string(symbol, "the name of a variable");
  Variable variable;
  CUresult result = driver::try_call<&Api::cuLibraryGetGlobal>(&variable.pointer, &variable.size, library, c_symbol);
  if (result == CUDA_ERROR_NOT_FOUND)
    result = driver::try_call<&Api::cuLibraryGetManaged>(&variable.pointer, &variable.size, library, c_symbol);
  if (result == CUDA_ERROR_NOT_FOUND) refuse_unknown_variable(name, code);
  if (result != CUDA_SUCCESS) {
    driver::detail::raise(result, driver::detail::index_of_cuLibraryGetGlobal,
                          text("finding variable '", name, "' in ", core::title(code)));
  }
  return variable;
}

/// The code of each library that is loaded. Never ends: code may go after everything else.
struct LoadedLibraries {
  std::mutex mutex;
  std::unordered_map<CUlibrary, ObjectCodeResource*> code;
};

LoadedLibraries& loaded_libraries() {
  static LoadedLibraries& libraries = *new LoadedLibraries;
  return libraries;
}

}  // namespace

ObjectCodeResource::~ObjectCodeResource() {
  {
    std::lock_guard lock(loaded_libraries().mutex);
    for (CUlibrary library : {loaded_.own, loaded_.portable}) loaded_libraries().code.erase(library);
  }
  for (CUlibrary library : {loaded_.own, loaded_.portable})
    if (library) driver::release<&Api::cuLibraryUnload>(library);
}

CUlibrary ObjectCodeResource::library(const core::ContextRecord& context) {
  std::lock_guard lock(mutex_);
  if (const auto known = loaded_.by_device.find(context.device); known != loaded_.by_device.end()) return known->second;
  const CUlibrary library = core::load_library(code, context, loaded_);
  loaded_.by_device.emplace(context.device, library);
  std::lock_guard lock_of_all(loaded_libraries().mutex);
  loaded_libraries().code.emplace(library, this);
  return library;
}

std::shared_ptr<ObjectCodeResource> ObjectCodeResource::of_library(CUlibrary library) {
  std::lock_guard lock(loaded_libraries().mutex);  // whose destructor waits for it
  const auto found = loaded_libraries().code.find(library);
  return found == loaded_libraries().code.end() ? nullptr : found->second->weak_from_this().lock();
}

CUkernel ObjectCodeResource::kernel_in(const core::ContextRecord& context, CUkernel handle, const std::string& symbol) {
  const CUlibrary wanted = library(context);
  {
    std::lock_guard lock(mutex_);
    if (!loaded_.own || !loaded_.portable) return handle;  // there is one library only
  }
  CUkernel kernel = nullptr;
  driver::call<&Api::cuLibraryGetKernel>(
      Doing{
          [&] { return text("finding kernel '", symbol, "' in ", core::title(code), " for device ", context.device); }},
      &kernel, wanted, symbol.c_str());
  return kernel;
}

std::shared_ptr<KernelResource> ObjectCodeResource::kernel(CUkernel handle, const std::string& symbol) {
  std::lock_guard lock(mutex_);
  std::weak_ptr<KernelResource>& known = kernels_[handle];
  std::shared_ptr<KernelResource> kernel = known.lock();
  if (!kernel) known = kernel = core::make_kernel(handle, symbol, shared_from_this(), this);
  return kernel;
}

Kernel ObjectCode::get_kernel(std::string_view name) const {
  const CurrentLibrary library(*Access::keep(*this));
  const std::string symbol = symbol_of(std::string(name), Access::keep(*this)->code);
  CUkernel kernel = nullptr;
  const CUresult result = driver::try_call<&Api::cuLibraryGetKernel>(&kernel, library.handle,
                                                                     support::c_string(symbol, "the name of a kernel"));
  if (result == CUDA_ERROR_NOT_FOUND) core::refuse_unknown_kernel(name, library.handle, Access::keep(*this)->code);
  if (result != CUDA_SUCCESS) {
    driver::detail::raise(result, driver::detail::index_of_cuLibraryGetKernel,
                          text("finding kernel '", name, "' in ", core::title(Access::keep(*this)->code)));
  }
  return Access::make_kernel(Access::keep(*this)->kernel(kernel, symbol));
}

std::vector<std::string> ObjectCode::kernel_names() const {
  return core::kernel_names(CurrentLibrary(*Access::keep(*this)).handle, Access::keep(*this)->code);
}

Buffer ObjectCode::get_global(std::string_view name) const {
  const CurrentLibrary library(*Access::keep(*this));
  const Variable variable = find_variable(name, library.handle, Access::keep(*this)->code);
  return detail::wrap_buffer(variable.pointer, variable.size, resource_);
}

Buffer ObjectCode::get_global(std::string_view name, std::size_t size) const {
  Buffer variable = get_global(name);
  if (variable.size() == size) return variable;
  throw InvalidArgument(text("variable '", name, "' in ", core::title(Access::keep(*this)->code), " has ",
                             variable.size(), " bytes, not ", size));
}

CUmod_st* ObjectCode::get_module() const {
  const CurrentLibrary library(*Access::keep(*this));
  CUmodule module = nullptr;
  driver::call<&Api::cuLibraryGetModule>(Doing{[&] {
                                           return text("module of ", core::title(Access::keep(*this)->code),
                                                       " on device ", library.context.device);
                                         }},
                                         &module, library.handle);
  return module;
}

std::string_view ObjectCode::code() const { return Access::keep(*this)->code.bytes; }

Target ObjectCode::code_type() const { return Access::keep(*this)->code.type; }

const std::string& ObjectCode::name() const { return Access::keep(*this)->code.name; }

const std::unordered_map<std::string, std::string>& ObjectCode::symbol_mapping() const {
  return Access::keep(*this)->code.symbol_mapping;
}

CUlib_st* ObjectCode::handle() const {
  return *this == ObjectCode() ? nullptr : CurrentLibrary(*Access::keep(*this)).handle;
}

std::ostream& operator<<(std::ostream& out, Target target) {
  return support::print_word(out, {"ptx", "cubin", "ltoir", "fatbin", "object", "library", "pch"}, target);
}

}  // namespace cuprum::inline CUPRUM_ABI
