// Where the devices are: on the cores of this machine, all of them on the same.
#include <sched.h>

#include <fstream>

#include "softgpu/nvml/library.hpp"

using namespace softgpu::nvml;

namespace {

constexpr unsigned kScopes = 2, kBitsPerWord = 64;

Return set_bits(const std::vector<unsigned>& numbers, unsigned words, unsigned long* bits) {
  for (unsigned i = 0; i < words; ++i) bits[i] = 0;
  for (const unsigned number : numbers) {
    if (number / kBitsPerWord >= words) return Return::insufficient_size;
    bits[number / kBitsPerWord] |= 1UL << number % kBitsPerWord;
  }
  return Return::success;
}

// The nodes of memory that are there, as "0-1,4"; a kernel that knows none has one.
std::vector<unsigned> memory_nodes() {
  std::ifstream file("/sys/devices/system/node/online");
  std::vector<unsigned> nodes;
  for (unsigned first = 0; file >> first;) {
    unsigned last = first;
    if (file.peek() == '-') {
      file.get();
      file >> last;
    }
    for (unsigned node = first; node <= last; ++node) nodes.push_back(node);
    if (file.get() != ',') break;
  }
  if (nodes.empty()) nodes.push_back(0);
  return nodes;
}

Return pin_to(const std::vector<unsigned>& cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const unsigned core : cores) CPU_SET(core, &set);
  return sched_setaffinity(0, sizeof set, &set) == 0 ? Return::success : Return::unknown;
}

}  // namespace

SOFTGPU_NVML nvmlDeviceGetCpuAffinity(DeviceHandle* device, unsigned words, unsigned long* bits) {
  return with_device(
      device,
      [&](const Library& found, const DeviceFacts&) {
        return words == 0 ? Return::invalid_argument : set_bits(found.cores, words, bits);
      },
      bits);
}
SOFTGPU_NVML nvmlDeviceGetCpuAffinityWithinScope(DeviceHandle* device, unsigned words, unsigned long* bits,
                                                 unsigned scope) {
  if (library() != nullptr && scope >= kScopes) return Return::invalid_argument;
  return nvmlDeviceGetCpuAffinity(device, words, bits);
}
SOFTGPU_NVML nvmlDeviceGetMemoryAffinity(DeviceHandle* device, unsigned words, unsigned long* bits, unsigned scope) {
  return with_device(
      device,
      [&](const Library&, const DeviceFacts&) {
        return words == 0 || scope >= kScopes ? Return::invalid_argument : set_bits(memory_nodes(), words, bits);
      },
      bits);
}
// Both are for the calling thread; the second is back to what the process began with.
SOFTGPU_NVML nvmlDeviceSetCpuAffinity(DeviceHandle* device) {
  return with_device(device, [](const Library& found, const DeviceFacts&) { return pin_to(found.cores); });
}
SOFTGPU_NVML nvmlDeviceClearCpuAffinity(DeviceHandle* device) { return nvmlDeviceSetCpuAffinity(device); }

SOFTGPU_NVML nvmlDeviceGetNumaNodeId(DeviceHandle* device, unsigned* node) {
  return with_device(
      device,
      [&](const Library&, const DeviceFacts&) {
        const std::vector<unsigned> nodes = memory_nodes();
        return give(nodes.size() == 1 ? std::optional(nodes.front()) : std::nullopt, node);
      },
      node);
}
