// How many blocks of a kernel a device runs at once.
#include <cuprum/kernel.hpp>
#include <cuprum/launch_config.hpp>
#include <exception>

#include "core/base/closable.hpp"
#include "core/code/kernel_resource.hpp"
#include "core/launch/launch_checks.hpp"
#include "core/launch/native_launch.hpp"
#include "core/stream/resources.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI {

using core::ContextGuard;
using core::NativeLaunch;
using core::ResolvedKernel;
using detail::Access;
using detail::Kept;
using detail::KernelResource;
using detail::StreamResource;
using driver::Api;
using driver::Doing;
using support::text;

namespace {

using SharedMemoryFunction = std::function<std::size_t(int)>;

/// Lets the driver, which takes a plain function, call any on this thread. What that throws must not get into the
/// driver: it waits here.
class Callback {
 public:
  explicit Callback(const SharedMemoryFunction& function) : function_(function), outer_(current_) { current_ = this; }
  ~Callback() { current_ = outer_; }
  Callback(const Callback&) = delete;
  Callback& operator=(const Callback&) = delete;

  static std::size_t call(int block_size) {
    if (current_->thrown_) return 0;
    try {
      return current_->function_(block_size);
    } catch (...) {
      current_->thrown_ = std::current_exception();
      return 0;
    }
  }

  void rethrow() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  static thread_local Callback* current_;
  const SharedMemoryFunction& function_;
  Callback* const outer_;  // a function may ask for another kernel's block size
  std::exception_ptr thrown_;
};
thread_local Callback* Callback::current_ = nullptr;

MaxPotentialBlockSize best_block_size(KernelResource& resource, const Device& device, CUoccupancyB2DSize shared_of,
                                      std::size_t shared, int limit) {
  const ResolvedKernel& kernel = resource.in(core::context_for(device.device_id()));
  ContextGuard guard(kernel.context());
  MaxPotentialBlockSize best{};
  driver::call<&Api::cuOccupancyMaxPotentialBlockSize>(
      Doing{[&] { return text("best block size of kernel ", resource.name); }}, &best.min_grid_size,
      &best.max_block_size, kernel.function, shared_of, shared, limit);
  return best;
}

// Asks the driver about a launch on a stream.
template <auto EntryPoint>
int ask_about_clusters(KernelResource& resource, const Device& device, const LaunchConfig& config, const Stream& stream,
                       const char* what) {
  const Kept<StreamResource> queue = Access::keep(stream);
  ContextGuard guard(queue->context());
  if (guard.context().device != device.device_id()) {
    throw InvalidArgument(text(what, " of kernel ", resource.name, " on device ", device.device_id(), ": ", stream,
                               " is on device ", guard.context().device));
  }
  const ResolvedKernel& kernel = resource.in(guard.context());
  core::check_shape(config, kernel, resource.name);
  const NativeLaunch launch(config);  // has the attributes that `native` points to
  const CUlaunchConfig native = launch.on(queue->handle);
  int result = 0;
  driver::call<EntryPoint>(Doing{[&] { return text(what, " of kernel ", resource.name); }}, &result, kernel.function,
                           &native);
  return result;
}

}  // namespace

int KernelOccupancy::max_active_blocks_per_multiprocessor(int block_size,
                                                          std::size_t dynamic_shared_memory_size) const {
  KernelResource& resource = core::kernel_asked_about(kernel_);
  const ResolvedKernel& kernel = resource.in(core::context_for(device_.device_id()));
  ContextGuard guard(kernel.context());
  int blocks = 0;
  driver::call<&Api::cuOccupancyMaxActiveBlocksPerMultiprocessor>(
      Doing{[&] { return text("occupancy of kernel ", resource.name, " with blocks of ", block_size, " threads"); }},
      &blocks, kernel.function, block_size, dynamic_shared_memory_size);
  return blocks;
}

MaxPotentialBlockSize KernelOccupancy::max_potential_block_size(std::size_t dynamic_shared_memory_needed,
                                                                int block_size_limit) const {
  return best_block_size(core::kernel_asked_about(kernel_), device_, nullptr, dynamic_shared_memory_needed,
                         block_size_limit);
}

MaxPotentialBlockSize KernelOccupancy::max_potential_block_size(
    const std::function<std::size_t(int block_size)>& dynamic_shared_memory_needed, int block_size_limit) const {
  KernelResource& kernel = core::kernel_asked_about(kernel_);
  if (!dynamic_shared_memory_needed) {
    throw InvalidArgument(text("best block size of kernel ", kernel.name, ": the function for shared memory is empty"));
  }
  const Callback callback(dynamic_shared_memory_needed);
  try {
    const MaxPotentialBlockSize best = best_block_size(kernel, device_, &Callback::call, 0, block_size_limit);
    callback.rethrow();
    return best;
  } catch (const DriverError&) {
    callback.rethrow();  // what it threw made the driver refuse
    throw;
  }
}

std::size_t KernelOccupancy::available_dynamic_shared_memory_per_block(int num_blocks_per_multiprocessor,
                                                                       int block_size) const {
  KernelResource& resource = core::kernel_asked_about(kernel_);
  const ResolvedKernel& kernel = resource.in(core::context_for(device_.device_id()));
  ContextGuard guard(kernel.context());
  std::size_t bytes = 0;
  driver::call<&Api::cuOccupancyAvailableDynamicSMemPerBlock>(
      Doing{[&] { return text("shared memory left to kernel ", resource.name); }}, &bytes, kernel.function,
      num_blocks_per_multiprocessor, block_size);
  return bytes;
}

int KernelOccupancy::max_potential_cluster_size(const LaunchConfig& config, const Stream& stream) const {
  LaunchConfig without_cluster = config;
  without_cluster.cluster.reset();
  return ask_about_clusters<&Api::cuOccupancyMaxPotentialClusterSize>(core::kernel_asked_about(kernel_), device_,
                                                                      without_cluster, stream, "largest cluster");
}

int KernelOccupancy::max_active_clusters(const LaunchConfig& config, const Stream& stream) const {
  return ask_about_clusters<&Api::cuOccupancyMaxActiveClusters>(core::kernel_asked_about(kernel_), device_, config,
                                                                stream, "number of active clusters");
}

}  // namespace cuprum::inline CUPRUM_ABI
