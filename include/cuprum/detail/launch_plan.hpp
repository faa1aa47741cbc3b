// What a prepared launch has looked up.
#pragma once

#include <cstddef>
#include <cuprum/detail/export.hpp>
#include <cuprum/detail/kernel_arguments.hpp>
#include <cuprum/kernel.hpp>
#include <cuprum/launch.hpp>
#include <cuprum/launch_config.hpp>
#include <cuprum/stream.hpp>
#include <memory>

namespace cuprum::inline CUPRUM_ABI::detail {

/// A kernel and a configuration, checked and put into the driver's form for the context of a stream. Defined in the
/// library.
struct LaunchPlan;

/// Keeps a stream. Throws InvalidArgument when it is closed or empty.
CUPRUM_API Kept<StreamResource> keep_queue(const Stream& stream);

CUPRUM_API std::shared_ptr<const LaunchPlan> make_plan(const Stream& stream, const LaunchConfig& config,
                                                       const Kernel& kernel, const ArgumentSize* sizes,
                                                       std::size_t count);
CUPRUM_API std::shared_ptr<const LaunchPlan> make_plan(const Kept<StreamResource>& stream, const LaunchConfig& config,
                                                       const Kernel& kernel, const ArgumentSize* sizes,
                                                       std::size_t count);
CUPRUM_API std::shared_ptr<const LaunchPlan> make_plan(const Stream& stream, const LaunchConfig& config,
                                                       const Kernel& kernel, const KernelArguments& arguments);
CUPRUM_API void launch(const Kept<StreamResource>& stream, const LaunchPlan& plan, void** addresses);
CUPRUM_API void launch(CUstream_st* stream, const LaunchPlan& plan, void** addresses);
CUPRUM_API const Kernel& kernel_of(const LaunchPlan& plan);
CUPRUM_API const LaunchConfig& config_of(const LaunchPlan& plan);
[[noreturn]] CUPRUM_API void refuse_launch_without_plan();

/// The plan of a prepared launch. Throws InvalidArgument when that was moved from.
inline const LaunchPlan& plan_of(const std::shared_ptr<const LaunchPlan>& plan) {
  if (!plan) [[unlikely]]
    refuse_launch_without_plan();
  return *plan;
}

}  // namespace cuprum::inline CUPRUM_ABI::detail
