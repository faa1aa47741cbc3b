// An NVML without GPUs. FAKE_NVML_INIT is what its initialisation returns.
#include <cstdlib>

struct nvmlDevice_st;

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT int nvmlInit_v2() {
  const char* result = std::getenv("FAKE_NVML_INIT");
  return result ? std::atoi(result) : 0;
}
EXPORT const char* nvmlErrorString(int code) { return code == 9 ? "Driver Not Loaded" : "Something Else"; }
EXPORT int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  *version = 13000;
  return 0;
}
EXPORT int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 3;
  return 0;
}
EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned, nvmlDevice_st**) { return 2; }
EXPORT int nvmlDeviceGetPowerUsage(nvmlDevice_st*, unsigned*) { return 3; }
