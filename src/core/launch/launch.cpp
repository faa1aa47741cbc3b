#include <cuprum/launch.hpp>

#include "core/code/kernel_resource.hpp"
#include "core/launch/launch_checks.hpp"
#include "core/launch/native_launch.hpp"
#include "core/stream/queue_call.hpp"
#include "core/stream/resources.hpp"

namespace cuprum {

using core::NativeLaunch;
using core::ResolvedKernel;

// Every launch of a program comes through here: no allocation, no lock, and, but for default streams, no driver call
// beside the launch itself.
void detail::launch(const Stream& stream, const LaunchConfig& config, const Kernel& kernel,
                    const ArgumentList& arguments) {
  const StreamResource& queue = *Access::resource(stream);
  KernelResource& resource = *Access::resource(kernel);
  core::check_arguments(resource, "launching", arguments.sizes, arguments.count);
  const CUresult result = core::queue_call(queue, [&](const core::ContextRecord& context) {
    ResolvedKernel& resolved = resource.in(context);
    core::admit(config, resolved, resource.name);
    return core::try_start(NativeLaunch(config), queue.handle, resolved.function, arguments.addresses);
  });
  if (result != CUDA_SUCCESS) [[unlikely]]
    core::refuse_start(result, {kernel, config, stream});
}

}  // namespace cuprum
