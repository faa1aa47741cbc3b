#include <cuprum/kernel.hpp>
#include <cuprum/object_code.hpp>
#include <ostream>

#include "core/base/closable.hpp"
#include "core/code/code_image.hpp"
#include "core/code/kernel_resource.hpp"
#include "core/code/object_code_resource.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI {

using core::ContextGuard;
using core::ResolvedKernel;
using detail::Access;
using detail::KernelResource;
using driver::Api;
using driver::Doing;
using support::text;

namespace {

std::optional<std::vector<ParameterInfo>> parameters_of(CUkernel kernel) {
  if (!driver::api().cuKernelGetParamInfo.function) return std::nullopt;
  std::vector<ParameterInfo> parameters;
  // There is no count: the driver refuses the first index that is too large.
  for (std::size_t index = 0;; ++index) {
    ParameterInfo info{};
    const CUresult result = driver::try_call<&Api::cuKernelGetParamInfo>(kernel, index, &info.offset, &info.size);
    if (result == CUDA_ERROR_INVALID_VALUE) return parameters;
    if (result != CUDA_SUCCESS) {
      driver::detail::raise(result, driver::detail::index_of_cuKernelGetParamInfo,
                            text("reading parameter ", index, " of a kernel"));
    }
    parameters.push_back(info);
  }
}

int function_attribute(CUfunction function, CUfunction_attribute which) {
  int value = 0;
  driver::call<&Api::cuFuncGetAttribute>(&value, which, function);
  return value;
}

// Older drivers don't know clusters; kernels have none there.
Dim3 required_cluster(CUfunction function) {
  auto extent = [&](CUfunction_attribute which) {
    int value = 0;
    return driver::try_call<&Api::cuFuncGetAttribute>(&value, which, function) == CUDA_SUCCESS ? value : 0;
  };
  return {extent(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH), extent(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT),
          extent(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH)};
}

core::PriorityRange priorities_of_current_context() {
  core::PriorityRange range{};
  driver::call<&Api::cuCtxGetStreamPriorityRange>(&range.least, &range.greatest);
  return range;
}

void check_handle(CUkernel handle) {
  if (!handle) throw InvalidArgument("Kernel::from_handle: the handle is null");
}

std::string name_of(CUkernel handle) {
  const char* name = "(wrapped)";
  if (driver::api().cuKernelGetName.function) driver::call<&Api::cuKernelGetName>(&name, handle);
  return name;
}

// Drivers before CUDA 12.5 don't tell: null.
CUlibrary library_of(CUkernel handle) {
  if (!driver::api().cuKernelGetLibrary.function) return nullptr;
  CUlibrary library = nullptr;
  driver::call<&Api::cuKernelGetLibrary>(&library, handle);
  return library;
}

// Where the driver does not tell, the caller is believed.
void check_library(CUkernel handle, CUlibrary expected, const detail::Code& code) {
  const CUlibrary library = library_of(handle);
  if (!library || library == expected) return;
  throw InvalidArgument(
      text("Kernel::from_handle: kernel ", name_of(handle), " does not belong to ", core::title(code)));
}

}  // namespace

KernelResource::~KernelResource() { delete resolved_.load(); }

std::vector<detail::ArgumentSize> KernelResource::sizes_of(
    const std::optional<std::vector<ParameterInfo>>& parameters) {
  std::vector<detail::ArgumentSize> sizes;
  if (parameters)
    for (const ParameterInfo& parameter : *parameters)
      sizes.push_back(static_cast<detail::ArgumentSize>(parameter.size));
  return sizes;
}

ResolvedKernel& KernelResource::resolve(const core::ContextRecord& context) {
  std::lock_guard lock(mutex_);
  for (ResolvedKernel* entry = resolved_.load(); entry; entry = entry->next.get()) {
    if (&entry->context() == &context) return *entry;  // another thread was faster
  }
  return add(context);
}

// A function's own setting, such as launches make for shared memory, comes before the kernel's, so it has to be set as
// well.
void KernelResource::set_where_used(int device, CUfunction_attribute attribute, int value) {
  std::lock_guard lock(mutex_);
  for (ResolvedKernel* entry = resolved_.load(); entry; entry = entry->next.get()) {
    const core::ContextRecord& context = entry->context();
    if (context.device != device || context.destroyed.load() || !core::is_alive(context)) continue;
    ContextGuard guard(context);
    driver::call<&Api::cuFuncSetAttribute>(
        Doing{[&] { return text("setting an attribute of kernel ", name, " to ", value); }}, entry->function, attribute,
        value);
    read_what_can_be_set(*entry);
  }
}

void KernelResource::read_what_can_be_set(ResolvedKernel& kernel) const {
  kernel.max_dynamic_shared_memory =
      static_cast<std::size_t>(function_attribute(kernel.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES));
  kernel.required_cluster = required_cluster(kernel.function);
}

CUkernel KernelResource::handle_in(const core::ContextRecord& context) const {
  return code ? code->kernel_in(context, handle, name) : handle;
}

ResolvedKernel* KernelResource::of_destroyed_context(int device) const {
  for (ResolvedKernel* entry = resolved_.load(); entry; entry = entry->next.get()) {
    if (entry->context().device == device && entry->context().destroyed.load(std::memory_order_acquire)) return entry;
  }
  return nullptr;
}

// A program may make and destroy any number of contexts.
ResolvedKernel& KernelResource::add(const core::ContextRecord& context) {
  ContextGuard guard(context);
  CUfunction function = nullptr;
  driver::call<&Api::cuKernelGetFunction>(
      Doing{[&] { return text("preparing kernel ", name, " for device ", context.device); }}, &function,
      handle_in(context));
  const core::DeviceFacts& device = core::device_facts(context.device);
  const int threads = function_attribute(function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  const int shared = function_attribute(function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  const int dynamic = function_attribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  const Dim3 cluster = required_cluster(function);
  if (ResolvedKernel* const entry = of_destroyed_context(context.device)) {
    entry->used_in.store(nullptr, std::memory_order_relaxed);
    entry->function = function;
    entry->max_dynamic_shared_memory = static_cast<std::size_t>(dynamic);
    entry->required_cluster = cluster;
    entry->used_in.store(&context, std::memory_order_release);
    return *entry;
  }
  auto* entry = new ResolvedKernel{&context,
                                   device,
                                   function,
                                   threads,
                                   static_cast<std::size_t>(shared),
                                   static_cast<std::size_t>(dynamic),
                                   cluster,
                                   priorities_of_current_context()};
  entry->next.reset(resolved_.load());
  resolved_.store(entry, std::memory_order_release);
  return *entry;
}

}  // namespace cuprum::inline CUPRUM_ABI

namespace cuprum::core {

std::shared_ptr<KernelResource> make_kernel(CUkernel handle, std::string name, std::shared_ptr<void> owner,
                                            detail::ObjectCodeResource* code) {
  return std::make_shared<KernelResource>(handle, std::move(name), std::move(owner), code, parameters_of(handle));
}

}  // namespace cuprum::core

namespace cuprum::inline CUPRUM_ABI {

Kernel Kernel::from_handle(CUkern_st* handle, std::shared_ptr<void> owner) {
  check_handle(handle);
  ContextGuard guard(core::context_for(Device().device_id()));
  if (!owner) {
    const CUlibrary library = library_of(handle);
    if (const auto code = library ? detail::ObjectCodeResource::of_library(library) : nullptr)
      return Access::make_kernel(code->kernel(handle, name_of(handle)));
  }
  return Access::make_kernel(core::make_kernel(handle, name_of(handle), std::move(owner)));
}

Kernel Kernel::from_handle(CUkern_st* handle, const ObjectCode& code) {
  check_handle(handle);
  const std::shared_ptr<detail::ObjectCodeResource>& resource = Access::keep(code);
  const core::ContextRecord& context = core::context_for(Device().device_id());
  ContextGuard guard(context);
  check_library(handle, resource->library(context), resource->code);
  return Access::make_kernel(resource->kernel(handle, name_of(handle)));
}

const std::vector<ParameterInfo>& Kernel::arguments_info() const {
  const KernelResource& resource = *Access::keep(*this);
  if (!resource.parameters) {
    throw NotSupported(text("the parameters of kernel ", resource.name, " are told by drivers of CUDA 12.4 or newer"));
  }
  return *resource.parameters;
}

std::optional<std::span<const ParameterInfo>> Kernel::known_arguments_info() const {
  const KernelResource& resource = *Access::keep(*this);
  if (!resource.parameters) return std::nullopt;
  return *resource.parameters;
}

// Before CUDA 12.4 asking for the function loads it.
void Kernel::load(const Device& device) const {
  KernelResource& resource = *Access::keep(*this);
  const ResolvedKernel& kernel = resource.in(core::context_for(device.device_id()));
  if (!driver::api().cuFuncLoad.function) return;
  ContextGuard guard(kernel.context());
  driver::call<&Api::cuFuncLoad>(
      Doing{[&] { return text("loading kernel ", resource.name, " on device ", device.device_id()); }},
      kernel.function);
}

const std::shared_ptr<KernelResource>& Kernel::resource() const { return Access::keep(*this); }

const std::string& Kernel::name() const { return resource()->name; }

CUkern_st* Kernel::handle() const { return resource_ ? resource_->handle : nullptr; }

std::ostream& operator<<(std::ostream& out, const Kernel& kernel) {
  return kernel.handle() ? out << "kernel " << kernel.name() : out << "an empty kernel";
}

}  // namespace cuprum::inline CUPRUM_ABI
