#include <cuprum/launch.hpp>

#include "core/code/captured_kernels.hpp"
#include "core/code/kernel_resource.hpp"
#include "core/launch/launch_checks.hpp"
#include "core/launch/native_launch.hpp"
#include "core/stream/captures.hpp"
#include "core/stream/queue_call.hpp"
#include "core/stream/resources.hpp"

namespace cuprum::inline CUPRUM_ABI {

using core::NativeLaunch;
using core::Queue;
using core::ResolvedKernel;
using detail::Access;
using detail::ArgumentList;
using detail::KernelResource;

namespace {

void** checked(const ArgumentList& arguments, const KernelResource& kernel) {
  core::check_arguments(kernel, "launching", arguments.sizes, arguments.count);
  return arguments.addresses;
}

void** checked(const KernelArguments& arguments, const KernelResource& kernel) {
  core::check_arguments(kernel, "launching", arguments);
  return const_cast<void**>(arguments.addresses.data());  // the driver only reads
}

// Every launch of a program comes through here: no allocation, no lock, and, but for default streams and those of
// others, no driver call beside the launch itself. `stream()` is asked for when it fails.
template <typename Arguments, typename StreamOf>
void launch_on(const Queue& queue, const LaunchConfig& config, const Kernel& kernel, const Arguments& arguments,
               StreamOf&& stream) {
  KernelResource& resource = *Access::keep(kernel);
  void** const addresses = checked(arguments, resource);
  core::keep_if_captured(queue, [&] { return core::Owners{Access::keep(kernel)}; });
  const CUresult result = core::queue_call(queue, [&](const core::ContextRecord& context) {
    ResolvedKernel& resolved = resource.in(context);
    core::admit(config, resolved, resource.name);
    if (core::is_something_captured()) [[unlikely]]
      core::note_captured_kernel(resolved.function, Access::keep(kernel));
    return core::try_start(NativeLaunch(config), queue.handle, resolved.function, addresses);
  });
  if (result != CUDA_SUCCESS) [[unlikely]]
    core::refuse_start(result, {kernel, config, stream()});
}

template <typename Arguments>
void launch_on_foreign(CUstream_st* stream, const LaunchConfig& config, const Kernel& kernel,
                       const Arguments& arguments) {
  core::launch_on_foreign(stream, [&](const Queue& queue) {
    launch_on(queue, config, kernel, arguments, [&] { return Stream::from_handle(stream); });
  });
}

}  // namespace

void detail::launch(const Stream& stream, const LaunchConfig& config, const Kernel& kernel,
                    const ArgumentList& arguments) {
  const auto queue = Access::keep(stream);
  launch_on(*queue, config, kernel, arguments, [&]() -> const Stream& { return stream; });
}

void launch(const Stream& stream, const LaunchConfig& config, const Kernel& kernel, const KernelArguments& arguments) {
  const auto queue = Access::keep(stream);
  launch_on(*queue, config, kernel, arguments, [&]() -> const Stream& { return stream; });
}

void detail::launch(CUstream_st* stream, const LaunchConfig& config, const Kernel& kernel,
                    const ArgumentList& arguments) {
  launch_on_foreign(stream, config, kernel, arguments);
}

void detail::launch(CUstream_st* stream, const LaunchConfig& config, const Kernel& kernel,
                    const KernelArguments& arguments) {
  launch_on_foreign(stream, config, kernel, arguments);
}

}  // namespace cuprum::inline CUPRUM_ABI
