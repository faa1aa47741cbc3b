// The rest of the interface: each says that it is not supported, unless there is something wrong with the call itself.
// The parameters behind the first are of no interest, and in the calling conventions of C nobody has to name them.
#include "softgpu/nvml/library.hpp"

using namespace softgpu::nvml;

#define SOFTGPU_NVML_OF_DEVICE(name)                                                                      \
  SOFTGPU_NVML name(DeviceHandle* device) {                                                               \
    return with_device(device, [](const Library&, const DeviceFacts&) { return Return::not_supported; }); \
  }
#define SOFTGPU_NVML_OF_OTHERS(name)                                           \
  SOFTGPU_NVML name() {                                                        \
    return with_library([](const Library&) { return Return::not_supported; }); \
  }
#include "softgpu/nvml/unsupported.def"
