#include <cuprum/prepared_launch.hpp>

#include "core/base/empty_handle.hpp"
#include "core/code/kernel_resource.hpp"
#include "core/launch/launch_checks.hpp"
#include "core/launch/native_launch.hpp"
#include "core/stream/queue_call.hpp"
#include "core/stream/resources.hpp"

namespace cuprum::inline CUPRUM_ABI::detail {

using core::ContextGuard;
using core::NativeLaunch;
using core::Queue;
using core::ResolvedKernel;

/// What a prepared launch has looked up.
struct LaunchPlan {
  Kernel kernel;
  LaunchConfig config;
  const core::ContextRecord& context;  ///< that the function is of: what was resolved there may end with it
  CUfunction function;
  NativeLaunch native;
  std::size_t argument_count;
};

namespace {

std::shared_ptr<const LaunchPlan> plan_for(const StreamResource& queue, const LaunchConfig& config,
                                           const Kernel& kernel, std::size_t argument_count) {
  KernelResource& resource = *Access::keep(kernel);
  ContextGuard guard(queue.context());
  ResolvedKernel& resolved = resource.in(guard.context());
  core::admit(config, resolved, resource.name);
  return std::make_shared<const LaunchPlan>(
      LaunchPlan{kernel, config, guard.context(), resolved.function, NativeLaunch(config), argument_count});
}

// A default stream means another context each time, so that is looked up as launch() does: by `look_up()`. `stream()`
// is asked for when the launch fails.
template <typename LookUp, typename StreamOf>
void launch_plan(const Queue& queue, const LaunchPlan& plan, void** addresses, LookUp&& look_up, StreamOf&& stream) {
  if (queue.context != core::ContextChoice(plan.context)) [[unlikely]]
    return look_up();
  const CUresult result = core::queue_call(queue, [&](const core::ContextRecord&) {
    return core::try_start(plan.native, queue.handle, plan.function, addresses);
  });
  if (result != CUDA_SUCCESS) [[unlikely]]
    core::refuse_start(result, {plan.kernel, plan.config, stream()});
}

}  // namespace

std::shared_ptr<const LaunchPlan> make_plan(const Stream& stream, const LaunchConfig& config, const Kernel& kernel,
                                            const ArgumentSize* sizes, std::size_t count) {
  return make_plan(keep_queue(stream), config, kernel, sizes, count);
}

std::shared_ptr<const LaunchPlan> make_plan(const Kept<StreamResource>& stream, const LaunchConfig& config,
                                            const Kernel& kernel, const ArgumentSize* sizes, std::size_t count) {
  core::check_arguments(*Access::keep(kernel), "launching", sizes, count);
  return plan_for(*stream, config, kernel, count);
}

std::shared_ptr<const LaunchPlan> make_plan(const Stream& stream, const LaunchConfig& config, const Kernel& kernel,
                                            const KernelArguments& arguments) {
  const Kept<StreamResource> queue = keep_queue(stream);
  core::check_arguments(*Access::keep(kernel), "launching", arguments);
  return plan_for(*queue, config, kernel, arguments.sizes.size());
}

Kept<StreamResource> keep_queue(const Stream& stream) { return Access::keep(stream); }

void launch(const Kept<StreamResource>& stream, const LaunchPlan& plan, void** addresses) {
  launch_plan(
      *stream, plan, addresses,
      [&] {
        launch(core::handle_of(stream), plan.config, plan.kernel,
               ArgumentList{addresses, nullptr, plan.argument_count});
      },
      [&] { return core::handle_of(stream); });
}

void launch(CUstream_st* stream, const LaunchPlan& plan, void** addresses) {
  core::launch_on_foreign(stream, [&](const Queue& queue) {
    launch_plan(
        queue, plan, addresses,
        [&] { launch(stream, plan.config, plan.kernel, ArgumentList{addresses, nullptr, plan.argument_count}); },
        [&] { return Stream::from_handle(stream); });
  });
}

const Kernel& kernel_of(const LaunchPlan& plan) { return plan.kernel; }

const LaunchConfig& config_of(const LaunchPlan& plan) { return plan.config; }

void refuse_launch_without_plan() { core::refuse_empty("prepared launch"); }

}  // namespace cuprum::inline CUPRUM_ABI::detail
