// nvmlInit, nvmlShutdown, and what the codes mean.
#include "softgpu/nvml/library.hpp"

using namespace softgpu::nvml;

SOFTGPU_NVML nvmlInit_v2() { return init(); }
SOFTGPU_NVML nvmlInit() { return init(); }
SOFTGPU_NVML nvmlInitWithFlags(unsigned) { return init(); }
SOFTGPU_NVML nvmlShutdown() { return shut_down(); }

extern "C" __attribute__((visibility("default"))) const char* nvmlErrorString(int code) {
  struct Words {
    int code;
    const char* words;
  };
  static constexpr Words kWords[] = {
      {0, "Success"},
      {1, "Uninitialized"},
      {2, "Invalid Argument"},
      {3, "Not Supported"},
      {4, "Insufficient Permissions"},
      {5, "Already Initialized"},
      {6, "Not Found"},
      {7, "Insufficient Size"},
      {8, "Insufficient External Power"},
      {9, "Driver Not Loaded"},
      {10, "Timeout"},
      {11, "Interrupt Request Issue"},
      {12, "NVML Shared Library Not Found"},
      {13, "Function Not Found"},
      {14, "Corrupted infoROM"},
      {15, "GPU is lost"},
      {16, "GPU requires reset"},
      {17, "GPU access blocked by the operating system"},
      {18, "Driver/library version mismatch"},
      {19, "In use by another client"},
      {20, "Insufficient Memory"},
      {21, "No data"},
      {22, "vGPU operation not available with ECC enabled"},
      {23, "Insufficient resources"},
      {24, "Frequency not supported"},
      {25, "Argument version mismatch"},
      {26, "Deprecated"},
      {27, "Not ready"},
      {28, "GPU not found"},
      {29, "Invalid state"},
  };
  for (const Words& row : kWords)
    if (row.code == code) return row.words;
  return "Unknown Error";
}
