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
#include "core/base/empty_handle.hpp"
#include "support/counted.hpp"

namespace cuprum::core {

/// Lower numbers come first.
struct PriorityRange {
  int least;
  int greatest;
};

/// The cluster that a kernel was compiled for, by __cluster_dims__, or was told to have. Can change while others read.
class RequiredCluster {
 public:
  RequiredCluster(const Dim3& extents) noexcept { *this = extents; }
  RequiredCluster& operator=(const Dim3& extents) noexcept {
    const bool is_given = extents.x > 0 && extents.y > 0 && extents.z > 0;
    packed_.store(is_given ? pack(extents) : 0, std::memory_order_relaxed);
    return *this;
  }

  explicit operator bool() const noexcept { return packed_.load(std::memory_order_relaxed) != 0; }
  std::optional<Dim3> get() const noexcept {
    const std::uint64_t packed = packed_.load(std::memory_order_relaxed);
    if (!packed) return std::nullopt;
    const auto extent = [&](int at) { return static_cast<std::int64_t>((packed >> (at * bits)) & ((1u << bits) - 1)); };
    return Dim3(extent(0), extent(1), extent(2));
  }

 private:
  static constexpr int bits = 20;  // clusters have a few blocks
  static std::uint64_t pack(const Dim3& extents) noexcept {
    return static_cast<std::uint64_t>(extents.x) | static_cast<std::uint64_t>(extents.y) << bits |
           static_cast<std::uint64_t>(extents.z) << (2 * bits);
  }
  std::atomic<std::uint64_t> packed_{0};
};

/// A kernel in one context: what a launch needs, read once. A launch of a CUfunction is cheaper than one of a CUkernel,
/// which the driver has to look up in the context each time.
struct ResolvedKernel {
  /// The context. Null for the moment in which an entry of one that we have destroyed becomes one of another.
  std::atomic<const ContextRecord*> used_in;
  const DeviceFacts& device;
  CUfunction function;
  std::int64_t max_threads_per_block;                  ///< of this kernel: registers and __launch_bounds__ can limit it
  std::size_t static_shared_memory;                    ///< bytes per block
  std::atomic<std::size_t> max_dynamic_shared_memory;  ///< bytes that a launch may ask for; raised when needed
  RequiredCluster required_cluster;
  PriorityRange priorities;
  std::unique_ptr<ResolvedKernel> next = nullptr;

  /// For those who have the entry of a context that is there.
  const ContextRecord& context() const { return *used_in.load(std::memory_order_relaxed); }
};

}  // namespace cuprum::core

namespace cuprum::inline CUPRUM_ABI::detail {

struct KernelResource : support::Counted<KernelResource> {
  KernelResource(CUkernel the_handle, std::string the_name, std::shared_ptr<void> the_owner,
                 ObjectCodeResource* the_code, std::optional<std::vector<ParameterInfo>> the_parameters)
      : handle(the_handle),
        name(std::move(the_name)),
        owner(std::move(the_owner)),
        code(the_code),
        parameters(std::move(the_parameters)),
        parameter_sizes(sizes_of(parameters)) {}
  KernelResource(const KernelResource&) = delete;
  KernelResource& operator=(const KernelResource&) = delete;
  ~KernelResource();

  /// The kernel in a context, good until that is destroyed. Reading takes no lock: entries are only ever put in front,
  /// and one that is there is given another context when we have destroyed its own, which nobody uses any more.
  core::ResolvedKernel& in(const core::ContextRecord& context) {
    for (core::ResolvedKernel* entry = resolved_.load(std::memory_order_acquire); entry; entry = entry->next.get()) {
      if (entry->used_in.load(std::memory_order_acquire) == &context) return *entry;
    }
    return resolve(context);
  }

  /// The driver's kernel for a context, which must be current: devices of different architectures may have different
  /// libraries of one code.
  CUkernel handle_in(const core::ContextRecord& context) const;

  /// Sets an attribute in all contexts of the device that the kernel was used in and that are still there, and reads
  /// anew what launches there need to know.
  void set_where_used(int device, CUfunction_attribute attribute, int value);

  const CUkernel handle;
  const std::string name;
  const std::shared_ptr<void> owner;  ///< keeps the library loaded: object code, or what a wrapped kernel came with
  ObjectCodeResource* const code;     ///< the owner, when it is object code
  const std::optional<std::vector<ParameterInfo>> parameters;  ///< none when the driver is too old to tell
  const std::vector<ArgumentSize> parameter_sizes;             ///< the same, as launches read them

 private:
  static std::vector<ArgumentSize> sizes_of(const std::optional<std::vector<ParameterInfo>>& parameters);
  core::ResolvedKernel& resolve(const core::ContextRecord& context);
  core::ResolvedKernel& add(const core::ContextRecord& context);
  core::ResolvedKernel* of_destroyed_context(int device) const;
  void read_what_can_be_set(core::ResolvedKernel& kernel) const;

  std::mutex mutex_;
  std::atomic<core::ResolvedKernel*> resolved_{nullptr};
};

}  // namespace cuprum::inline CUPRUM_ABI::detail

namespace cuprum::core {

/// A context must be current. `code` is the owner, when that is object code.
std::shared_ptr<detail::KernelResource> make_kernel(CUkernel handle, std::string name, std::shared_ptr<void> owner,
                                                    detail::ObjectCodeResource* code = nullptr);

/// The kernel that KernelAttributes or KernelOccupancy are of. Throws WrongState when those were moved from.
inline detail::KernelResource& kernel_asked_about(const std::shared_ptr<detail::KernelResource>& kernel) {
  return *not_empty(kernel, "view of a kernel");
}

}  // namespace cuprum::core
