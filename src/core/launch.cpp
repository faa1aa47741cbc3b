#include <cuprum/launch.hpp>

#include "core/kernel_resource.hpp"
#include "core/launch_checks.hpp"
#include "core/native_launch.hpp"
#include "core/resources.hpp"

namespace cuprum {

using core::ContextGuard;
using core::NativeLaunch;
using core::ResolvedKernel;

// Every launch of a program comes through here: no allocation, no lock, and no driver call but the one that finds out
// which context is current and the launch itself.
void detail::launch(const Stream& stream, const LaunchConfig& config, const Kernel& kernel,
                    const ArgumentList& arguments) {
  const StreamResource& queue = *Access::resource(stream);
  KernelResource& resource = *Access::resource(kernel);
  if (arguments.sizes) core::check_arguments(resource, "launching", arguments.sizes, arguments.count);
  ContextGuard guard(queue.context());
  ResolvedKernel& resolved = resource.in(guard.context());
  core::admit(config, resolved, resource.name);
  const CUresult result = core::try_start(NativeLaunch(config), queue.handle, resolved.function, arguments.addresses);
  if (result != CUDA_SUCCESS) [[unlikely]]
    core::refuse_start(result, {kernel, config, stream});
}

}  // namespace cuprum
