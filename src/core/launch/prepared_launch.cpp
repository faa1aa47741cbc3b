#include <cuprum/prepared_launch.hpp>

#include "core/code/kernel_resource.hpp"
#include "core/launch/launch_checks.hpp"
#include "core/launch/native_launch.hpp"
#include "core/stream/queue_call.hpp"
#include "core/stream/resources.hpp"

namespace cuprum::detail {

using core::ContextGuard;
using core::NativeLaunch;
using core::ResolvedKernel;

/// What a prepared launch has looked up.
struct LaunchPlan {
  Kernel kernel;
  LaunchConfig config;
  const ResolvedKernel& resolved;  ///< of `kernel`, which keeps it
  NativeLaunch native;
  std::size_t argument_count;
};

std::shared_ptr<const LaunchPlan> make_plan(const Stream& stream, const LaunchConfig& config, const Kernel& kernel,
                                            const ArgumentSize* sizes, std::size_t count) {
  const StreamResource& queue = *Access::resource(stream);
  KernelResource& resource = *Access::resource(kernel);
  core::check_arguments(resource, "launching", sizes, count);
  ContextGuard guard(queue.context());
  ResolvedKernel& resolved = resource.in(guard.context());
  core::admit(config, resolved, resource.name);
  return std::make_shared<const LaunchPlan>(LaunchPlan{kernel, config, resolved, NativeLaunch(config), count});
}

// A default stream means another context each time, so that is looked up as launch() does.
void launch(const Stream& stream, const LaunchPlan& plan, void** addresses) {
  const StreamResource& queue = *Access::resource(stream);
  if (queue.context() != core::ContextChoice(plan.resolved.context)) [[unlikely]]
    return launch(stream, plan.config, plan.kernel, {addresses, nullptr, plan.argument_count});
  const CUresult result = core::queue_call(queue, [&](const core::ContextRecord&) {
    return core::try_start(plan.native, queue.handle, plan.resolved.function, addresses);
  });
  if (result != CUDA_SUCCESS) [[unlikely]]
    core::refuse_start(result, {plan.kernel, plan.config, stream});
}

const Kernel& kernel_of(const LaunchPlan& plan) { return plan.kernel; }

const LaunchConfig& config_of(const LaunchPlan& plan) { return plan.config; }

}  // namespace cuprum::detail
