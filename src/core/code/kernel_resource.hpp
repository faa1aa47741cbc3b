#pragma once

#include <atomic>
#include <cuprum/detail/kernel_arguments.hpp>
#include <cuprum/driver.hpp>
#include <cuprum/kernel.hpp>
#include <cuprum/launch_config.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/base/context.hpp"
#include "core/base/device_facts.hpp"
#include "support/counted.hpp"

namespace cuprum::core {

/// Lower numbers come first.
struct PriorityRange {
  int least;
  int greatest;
};

/// A kernel in one context: what a launch needs, read once. A launch of a CUfunction is cheaper than one of a CUkernel,
/// which the driver has to look up in the context each time.
struct ResolvedKernel {
  const ContextRecord& context;
  const DeviceFacts& device;
  CUfunction function;
  std::int64_t max_threads_per_block;                  ///< of this kernel: registers and __launch_bounds__ can limit it
  std::size_t static_shared_memory;                    ///< bytes per block
  std::atomic<std::size_t> max_dynamic_shared_memory;  ///< bytes that a launch may ask for; raised when needed
  std::optional<Dim3> required_cluster;                ///< that the kernel was compiled for, by __cluster_dims__
  PriorityRange priorities;
  std::unique_ptr<ResolvedKernel> next = nullptr;
};

}  // namespace cuprum::core

namespace cuprum::inline CUPRUM_ABI::detail {

struct KernelResource : support::Counted<KernelResource> {
  KernelResource(CUkernel the_handle, std::string the_name, std::shared_ptr<void> the_owner,
                 std::optional<std::vector<ParameterInfo>> the_parameters)
      : handle(the_handle),
        name(std::move(the_name)),
        owner(std::move(the_owner)),
        parameters(std::move(the_parameters)),
        parameter_sizes(sizes_of(parameters)) {}
  KernelResource(const KernelResource&) = delete;
  KernelResource& operator=(const KernelResource&) = delete;
  ~KernelResource();

  /// The kernel in a context. Reading takes no lock: entries are only ever put in front.
  core::ResolvedKernel& in(const core::ContextRecord& context) {
    for (core::ResolvedKernel* entry = resolved_.load(std::memory_order_acquire); entry; entry = entry->next.get()) {
      if (&entry->context == &context) return *entry;
    }
    return resolve(context);
  }

  /// Sets an attribute in all contexts of the device that the kernel was used in, and reads anew what launches there
  /// need to know.
  void set_where_used(int device, CUfunction_attribute attribute, int value);

  const CUkernel handle;
  const std::string name;
  const std::shared_ptr<void> owner;  ///< keeps the library loaded: object code, or what a wrapped kernel came with
  const std::optional<std::vector<ParameterInfo>> parameters;  ///< none when the driver is too old to tell
  const std::vector<ArgumentSize> parameter_sizes;             ///< the same, as launches read them

 private:
  static std::vector<ArgumentSize> sizes_of(const std::optional<std::vector<ParameterInfo>>& parameters);
  core::ResolvedKernel& resolve(const core::ContextRecord& context);
  core::ResolvedKernel& put_in_front(const core::ContextRecord& context);

  std::mutex mutex_;
  std::atomic<core::ResolvedKernel*> resolved_{nullptr};
};

}  // namespace cuprum::inline CUPRUM_ABI::detail

namespace cuprum::core {

/// A context must be current.
std::shared_ptr<detail::KernelResource> make_kernel(CUkernel handle, std::string name, std::shared_ptr<void> owner);

}  // namespace cuprum::core
