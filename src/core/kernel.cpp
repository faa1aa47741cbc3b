#include <cuprum/kernel.hpp>
#include <ostream>

#include "core/closable.hpp"
#include "core/kernel_resource.hpp"
#include "support/text.hpp"

namespace cuprum {

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
std::optional<Dim3> required_cluster(CUfunction function) {
  auto extent = [&](CUfunction_attribute which) {
    int value = 0;
    return driver::try_call<&Api::cuFuncGetAttribute>(&value, which, function) == CUDA_SUCCESS ? value : 0;
  };
  const Dim3 cluster(extent(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH),
                     extent(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT),
                     extent(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH));
  return cluster.x > 0 && cluster.y > 0 && cluster.z > 0 ? std::optional(cluster) : std::nullopt;
}

core::PriorityRange priorities_of_current_context() {
  core::PriorityRange range{};
  driver::call<&Api::cuCtxGetStreamPriorityRange>(&range.least, &range.greatest);
  return range;
}

int kernel_attribute(const KernelResource& kernel, const Device& device, CUfunction_attribute which, const char* name) {
  int value = 0;
  const core::Context& context = core::context_for(device.device_id());
  ContextGuard guard(context);
  driver::call<&Api::cuKernelGetAttribute>(Doing{[&] { return text("reading ", name, " of kernel ", kernel.name); }},
                                           &value, which, kernel.handle, device.device_id());
  return value;
}

}  // namespace

KernelResource::~KernelResource() { delete resolved_.load(); }

ResolvedKernel& KernelResource::resolve(const core::Context& context) {
  std::lock_guard lock(mutex_);
  for (ResolvedKernel* entry = resolved_.load(); entry; entry = entry->next.get()) {
    if (&entry->context == &context) return *entry;  // another thread was faster
  }
  ContextGuard guard(context);
  CUfunction function = nullptr;
  driver::call<&Api::cuKernelGetFunction>(
      Doing{[&] { return text("preparing kernel ", name, " for device ", context.device); }}, &function, handle);
  const core::DeviceFacts& device = core::device_facts(context.device);
  const int threads = function_attribute(function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  const int shared = function_attribute(function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  const int dynamic = function_attribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  auto* entry = new ResolvedKernel{context,
                                   device,
                                   function,
                                   threads,
                                   static_cast<std::size_t>(shared),
                                   static_cast<std::size_t>(dynamic),
                                   required_cluster(function),
                                   priorities_of_current_context()};
  entry->next.reset(resolved_.load());
  resolved_.store(entry, std::memory_order_release);
  return *entry;
}

std::shared_ptr<KernelResource> core::make_kernel(CUkernel handle, std::string name,
                                                  std::shared_ptr<detail::ObjectCodeResource> code) {
  return std::make_shared<KernelResource>(handle, std::move(name), std::move(code), parameters_of(handle));
}

Kernel Kernel::from_handle(CUkern_st* handle) {
  ContextGuard guard(core::context_for(Device().device_id()));
  const char* name = "(wrapped)";
  if (driver::api().cuKernelGetName.function) driver::call<&Api::cuKernelGetName>(&name, handle);
  return Access::make_kernel(core::make_kernel(handle, name, nullptr));
}

const std::vector<ParameterInfo>& Kernel::arguments_info() const {
  if (!resource_->parameters) {
    throw NotSupported(
        text("the parameters of kernel ", resource_->name, " are told by drivers of CUDA 12.4 or newer"));
  }
  return *resource_->parameters;
}

const std::string& Kernel::name() const { return resource_->name; }

CUkern_st* Kernel::handle() const { return resource_->handle; }

std::ostream& operator<<(std::ostream& out, const Kernel& kernel) { return out << "kernel " << kernel.name(); }

#define CUPRUM_KERNEL_ATTRIBUTE(type, name, ATTRIBUTE)                                                   \
  type KernelAttributes::name() const {                                                                  \
    return static_cast<type>(kernel_attribute(*kernel_, device_, CU_FUNC_ATTRIBUTE_##ATTRIBUTE, #name)); \
  }
#include <cuprum/detail/kernel_attributes.def>

int KernelOccupancy::max_active_blocks_per_multiprocessor(int block_size,
                                                          std::size_t dynamic_shared_memory_size) const {
  const ResolvedKernel& kernel = kernel_->in(core::context_for(device_.device_id()));
  ContextGuard guard(kernel.context);
  int blocks = 0;
  driver::call<&Api::cuOccupancyMaxActiveBlocksPerMultiprocessor>(
      Doing{[&] { return text("occupancy of kernel ", kernel_->name, " with blocks of ", block_size, " threads"); }},
      &blocks, kernel.function, block_size, dynamic_shared_memory_size);
  return blocks;
}

MaxPotentialBlockSize KernelOccupancy::max_potential_block_size(std::size_t dynamic_shared_memory_needed,
                                                                int block_size_limit) const {
  const ResolvedKernel& kernel = kernel_->in(core::context_for(device_.device_id()));
  ContextGuard guard(kernel.context);
  MaxPotentialBlockSize best{};
  driver::call<&Api::cuOccupancyMaxPotentialBlockSize>(
      Doing{[&] { return text("best block size of kernel ", kernel_->name); }}, &best.min_grid_size,
      &best.max_block_size, kernel.function, nullptr, dynamic_shared_memory_needed, block_size_limit);
  return best;
}

std::size_t KernelOccupancy::available_dynamic_shared_memory_per_block(int num_blocks_per_multiprocessor,
                                                                       int block_size) const {
  const ResolvedKernel& kernel = kernel_->in(core::context_for(device_.device_id()));
  ContextGuard guard(kernel.context);
  std::size_t bytes = 0;
  driver::call<&Api::cuOccupancyAvailableDynamicSMemPerBlock>(
      Doing{[&] { return text("shared memory left to kernel ", kernel_->name); }}, &bytes, kernel.function,
      num_blocks_per_multiprocessor, block_size);
  return bytes;
}

}  // namespace cuprum
