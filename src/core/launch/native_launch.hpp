// A launch in the driver's own form.
#pragma once

#include <array>
#include <cuprum/driver.hpp>
#include <cuprum/kernel.hpp>
#include <cuprum/launch_config.hpp>
#include <cuprum/stream.hpp>

#include "core/code/kernel_resource.hpp"

namespace cuprum::core {

/// Checks everything about a launch but its arguments, and sees to it that the kernel may have its shared memory.
void admit(const LaunchConfig& config, ResolvedKernel& kernel, const std::string& name);

/// The driver's launch configuration, without a stream. Cheap to make: attributes that are not used are not even
/// cleared.
class NativeLaunch {
 public:
  explicit NativeLaunch(const LaunchConfig& config);

  /// Valid as long as this object; copies point to their own attributes.
  CUlaunchConfig on(CUstream stream) const {
    CUlaunchConfig config = config_;
    config.hStream = stream;
    // Null without attributes, as in programs that have none: a driver need not look at what it points to.
    config.attrs = config.numAttrs == 0 ? nullptr : const_cast<CUlaunchAttribute*>(attributes_.data());
    return config;
  }

 private:
  CUlaunchAttribute& add(CUlaunchAttributeID id);

  CUlaunchConfig config_;
  std::array<CUlaunchAttribute, 4> attributes_;
};

/// What a message about a launch names.
struct LaunchSubject {
  const Kernel& kernel;
  const LaunchConfig& config;
  const Stream& stream;
};

/// Queues the launch.
inline CUresult try_start(const NativeLaunch& launch, CUstream stream, CUfunction function, void** addresses) {
  const CUlaunchConfig config = launch.on(stream);
  return driver::try_call<&driver::Api::cuLaunchKernelEx>(&config, function, addresses, static_cast<void**>(nullptr));
}

[[noreturn]] void refuse_start(CUresult result, const LaunchSubject& subject);

}  // namespace cuprum::core
