// Launches that are made again and again, with arguments that are known only at run time.
//
//   UntypedPreparedLaunch step = prepare(stream, config, kernel, KernelArguments{addresses, sizes});
//   step.set(1, &factor, sizeof factor);
//   step();
#pragma once

#include <cstddef>
#include <cuprum/detail/export.hpp>
#include <cuprum/detail/launch_plan.hpp>
#include <cuprum/kernel.hpp>
#include <cuprum/launch.hpp>
#include <cuprum/launch_config.hpp>
#include <cuprum/stream.hpp>
#include <memory>
#include <vector>

namespace cuprum::inline CUPRUM_ABI {

/// What PreparedLaunch is for arguments whose types the compiler knows: the kernel, the configuration and the arguments
/// were looked up and checked once. The values are copied when it is made and by set(); launching allocates nothing.
///
/// Keeps alive: the kernel and the stream, also when that is closed. What the arguments point to is the caller's
/// business.
///
/// A copy has arguments of its own and shares the rest. Threads may launch one object at the same time; changing it
/// must not run beside any other use.
class CUPRUM_API UntypedPreparedLaunch {
 public:
  /// Use prepare().
  UntypedPreparedLaunch(const Stream& stream, const LaunchConfig& config, const Kernel& kernel,
                        const KernelArguments& arguments);
  /// The copy has values of its own.
  UntypedPreparedLaunch(const UntypedPreparedLaunch& other);
  UntypedPreparedLaunch(UntypedPreparedLaunch&& other) noexcept = default;
  /// The same; what this one kept goes.
  UntypedPreparedLaunch& operator=(const UntypedPreparedLaunch& other);
  UntypedPreparedLaunch& operator=(UntypedPreparedLaunch&& other) noexcept = default;
  ~UntypedPreparedLaunch() = default;

  /// Queues the kernel on the stream that it was prepared for, as PreparedLaunch does.
  void operator()() const { detail::launch(queue_, detail::plan_of(plan_), addresses()); }
  /// The same on another stream, as PreparedLaunch does.
  void operator()(const Stream& stream) const {
    detail::launch(detail::keep_queue(stream), detail::plan_of(plan_), addresses());
  }

  /// The same on the stream that an object of another library offers, which is needed only during the call.
  template <IsStreamType Foreign>
  void operator()(const Foreign& stream) const {
    detail::launch(detail::offered_stream(stream), detail::plan_of(plan_), addresses());
  }

  /// Copies a new value for argument number `index`, counted from 0, for the launches from now on; those that are
  /// queued keep theirs. Throws InvalidArgument when there is no such argument, or when it has another size.
  void set(std::size_t index, const void* value, std::size_t size);

  /// Replaces the configuration, which is checked as by launch(); after an exception the old one is still there.
  void set_config(const LaunchConfig& config);

  /// The number of arguments.
  std::size_t num_arguments() const { return sizes_.size(); }
  /// As prepare() or set_config() was given it. Valid until the next set_config().
  const LaunchConfig& config() const { return detail::config_of(detail::plan_of(plan_)); }
  /// The one that it launches.
  const Kernel& kernel() const { return detail::kernel_of(detail::plan_of(plan_)); }
  /// The one that it was prepared for.
  const Stream& stream() const { return stream_; }

 private:
  /// The driver takes them as not constant, and only reads.
  void** addresses() const { return const_cast<void**>(addresses_.data()); }
  void point_at_own_values();

  std::shared_ptr<const detail::LaunchPlan> plan_;
  Stream stream_;
  detail::Kept<detail::StreamResource> queue_;
  std::vector<std::size_t> sizes_;
  std::vector<std::byte> values_;  ///< one after the other, each aligned as any type needs at most
  std::vector<void*> addresses_;   ///< into `values_`
};

/// Prepares what launch() with the same arguments does, with the same checks, and throws as that does. The values are
/// copied.
inline UntypedPreparedLaunch prepare(const Stream& stream, const LaunchConfig& config, const Kernel& kernel,
                                     const KernelArguments& arguments) {
  return {stream, config, kernel, arguments};
}

}  // namespace cuprum::inline CUPRUM_ABI
