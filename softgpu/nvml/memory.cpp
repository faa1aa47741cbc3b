// A device's memory, and the processes that use it.
#include <algorithm>

#include "softgpu/nvml/library.hpp"

using namespace softgpu::nvml;
using softgpu::usage::Page;

namespace {

std::size_t ordinal_of(const DeviceFacts& facts) { return static_cast<std::size_t>(facts.ordinal()); }

// Processes don't see each other's memory, so together they may use more than each thinks there is.
unsigned long long used_memory(const Library& library, const DeviceFacts& facts) {
  unsigned long long used = 0;
  for (const Page& page : running_processes(library)) used += page.device[ordinal_of(facts)].memory_bytes;
  return std::min<unsigned long long>(used, facts.memory_bytes());
}

// Those that have a context on the device, or memory, which some calls give without one.
std::vector<Page> processes_on(const Library& library, const DeviceFacts& facts) {
  std::vector<Page> pages = running_processes(library);
  std::erase_if(pages, [&](const Page& page) {
    const auto& counters = page.device[ordinal_of(facts)];
    return counters.contexts == 0 && counters.memory_bytes == 0;
  });
  return pages;
}

void fill(ProcessInfoV1& info, const Page& page, std::size_t device) {
  info = {page.pid, page.device[device].memory_bytes};
}
void fill(ProcessInfo& info, const Page& page, std::size_t device) {
  info = {page.pid, page.device[device].memory_bytes, kNoInstance, kNoInstance};
}
void fill(ProcessDetail& info, const Page& page, std::size_t device) {
  info = {page.pid, page.device[device].memory_bytes, kNoInstance, kNoInstance, 0};
}

// As all lists of NVML: how many there are in any case, and the list itself where there is room for it.
template <typename Info>
Return list_processes(const std::vector<Page>& pages, std::size_t device, unsigned* count, Info* infos) {
  const unsigned capacity = *count;
  *count = static_cast<unsigned>(pages.size());
  if (pages.empty()) return Return::success;
  if (capacity < pages.size()) return Return::insufficient_size;
  if (infos == nullptr) return Return::invalid_argument;
  for (const Page& page : pages) fill(*infos++, page, device);
  return Return::success;
}

template <typename Info>
Return compute_processes(DeviceHandle* device, unsigned* count, Info* infos) {
  return with_device(
      device,
      [&](const Library& found, const DeviceFacts& facts) {
        return list_processes(processes_on(found, facts), ordinal_of(facts), count, infos);
      },
      count);
}

// Kernels are all that there is: no graphics, and nobody shares a context with others.
Return no_processes(DeviceHandle* device, unsigned* count) {
  return with_device(
      device,
      [&](const Library&, const DeviceFacts&) {
        *count = 0;
        return Return::success;
      },
      count);
}

}  // namespace

SOFTGPU_NVML nvmlDeviceGetMemoryInfo(DeviceHandle* device, Memory* memory) {
  return with_device(
      device,
      [&](const Library& found, const DeviceFacts& facts) {
        const unsigned long long used = used_memory(found, facts);
        *memory = {facts.memory_bytes(), facts.memory_bytes() - used, used};
        return Return::success;
      },
      memory);
}
SOFTGPU_NVML nvmlDeviceGetMemoryInfo_v2(DeviceHandle* device, MemoryV2* memory) {
  return with_struct(device, memory, 2, [&](const Library& found, const DeviceFacts& facts) {
    const unsigned long long used = used_memory(found, facts);
    *memory = {memory->version, facts.memory_bytes(), 0, facts.memory_bytes() - used, used};
    return Return::success;
  });
}

SOFTGPU_NVML nvmlDeviceGetComputeRunningProcesses_v3(DeviceHandle* device, unsigned* count, ProcessInfo* infos) {
  return compute_processes(device, count, infos);
}
SOFTGPU_NVML nvmlDeviceGetComputeRunningProcesses_v2(DeviceHandle* device, unsigned* count, ProcessInfo* infos) {
  return compute_processes(device, count, infos);
}
SOFTGPU_NVML nvmlDeviceGetComputeRunningProcesses(DeviceHandle* device, unsigned* count, ProcessInfoV1* infos) {
  return compute_processes(device, count, infos);
}
SOFTGPU_NVML nvmlDeviceGetRunningProcessDetailList(DeviceHandle* device, ProcessDetailList* list) {
  constexpr unsigned kCompute = 0, kModes = 3;
  return with_struct(device, list, 1, [&](const Library& found, const DeviceFacts& facts) {
    if (list->mode >= kModes) return Return::invalid_argument;
    const std::vector<Page> pages = list->mode == kCompute ? processes_on(found, facts) : std::vector<Page>();
    return list_processes(pages, ordinal_of(facts), &list->count, list->processes);
  });
}

#define SOFTGPU_NVML_NO_PROCESSES(name) \
  SOFTGPU_NVML name(DeviceHandle* device, unsigned* count, void*) { return no_processes(device, count); }
SOFTGPU_NVML_NO_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses)
SOFTGPU_NVML_NO_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v2)
SOFTGPU_NVML_NO_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v3)
SOFTGPU_NVML_NO_PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses)
SOFTGPU_NVML_NO_PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses_v2)
SOFTGPU_NVML_NO_PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses_v3)
