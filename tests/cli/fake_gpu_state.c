// An NVML that knows every device, and a little about it.
#include <stdlib.h>
#include <string.h>

int nvmlInit_v2(void) { return 0; }
const char* nvmlErrorString(int code) { return code ? "something is wrong" : "nothing is wrong"; }

int nvmlSystemGetDriverVersion(char* version, unsigned length) {
  strncpy(version, "580.82.07", length);
  return 0;
}

int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  *device = (void*)uuid;
  return strncmp(uuid, "GPU-", 4) == 0 ? 0 : 6;  // not found
}

int nvmlDeviceGetTemperature(void* device, int sensor, unsigned* celsius) {
  (void)device;
  (void)sensor;
  *celsius = 41;
  return 0;
}

int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
  (void)device;
  *milliwatts = 123456;
  return 0;
}

int nvmlDeviceGetFanSpeed(void* device, unsigned* percent) {
  (void)device;
  (void)percent;
  return 3;  // not supported: there is no fan
}

int nvmlDeviceGetMemoryInfo(void* device, unsigned long long memory[3]) {
  (void)device;
  memory[0] = 4ull << 30;
  memory[1] = 3ull << 30;
  memory[2] = 1ull << 30;
  return 0;
}

int nvmlDeviceGetUtilizationRates(void* device, unsigned use[2]) {
  (void)device;
  use[0] = 17;
  use[1] = 5;
  return 0;
}

// A hundred processes, the second with a long name and the last without any.
typedef struct {
  unsigned pid;
  unsigned long long memory;
  unsigned gpu_instance, compute_instance;
} Process;

int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, Process* processes) {
  (void)device;
  const unsigned room = *count;
  *count = 100;
  if (room < 100) return 7;  // insufficient size
  for (unsigned i = 0; i < 100; ++i) processes[i] = (Process){1000 + i, (unsigned long long)(i + 1) << 20, 0, 0};
  processes[98].memory = -1;  // not known
  return 0;
}

int nvmlSystemGetProcessName(unsigned pid, char* name, unsigned length) {
  if (pid == 1099) return 4;  // no permission
  strncpy(name, pid == 1001 ? "/home/somebody/projects/train/.venv/bin/python" : "/usr/bin/train", length);
  return 0;
}

// What `cuprum top` asks besides: there is one device.
int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  *version = 13000;
  return 0;
}

int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 1;
  return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = (void*)"GPU-0";
  return index == 0 ? 0 : 2;  // invalid argument
}

int nvmlDeviceGetIndex(void* device, unsigned* index) {
  (void)device;
  *index = 0;
  return 0;
}

int nvmlDeviceGetName(void* device, char* name, unsigned length) {
  (void)device;
  strncpy(name, "A device", length);
  return 0;
}

int nvmlDeviceGetUUID(void* device, char* uuid, unsigned length) {
  strncpy(uuid, device, length);
  return 0;
}

typedef struct {
  unsigned version;
  unsigned long long total, reserved, free, used;
} Memory;

int nvmlDeviceGetMemoryInfo_v2(void* device, Memory* memory) {
  (void)device;
  memory->total = 4ull << 30;
  memory->reserved = 0;
  memory->free = 3ull << 30;
  memory->used = 1ull << 30;
  return 0;
}
