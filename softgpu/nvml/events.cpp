// Waiting for something to happen to a device: a kernel that ends its context is what can.
#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "softgpu/nvml/library.hpp"
#include "softgpu/usage/fault_log.hpp"
#include "softgpu/usage/process.hpp"

using namespace softgpu::nvml;
namespace usage = softgpu::usage;

namespace {

using Clock = std::chrono::steady_clock;
constexpr unsigned long long kXid = 8;
constexpr std::chrono::milliseconds kRest{10};

struct EventSet {
  std::vector<unsigned> devices;             // of which errors are wanted
  std::optional<usage::FaultReader> reader;  // from the first of these on
  std::deque<usage::Fault> waiting;          // for somebody to ask
};

// A handle is the address of one of these. Guarded by its mutex, and kept by who waits.
struct EventSets {
  std::mutex mutex;
  std::map<void*, std::shared_ptr<EventSet>> all;

  std::shared_ptr<EventSet> find(void* handle) {
    const std::scoped_lock lock(mutex);
    const auto found = all.find(handle);
    return found != all.end() ? found->second : nullptr;
  }
  void* add() {
    auto made = std::make_shared<EventSet>();
    const std::scoped_lock lock(mutex);
    all.emplace(made.get(), made);
    return made.get();
  }
  bool remove(void* handle) {
    const std::scoped_lock lock(mutex);
    return all.erase(handle) != 0;
  }
};

EventSets& device_sets() {
  static auto& sets = *new EventSets;
  return sets;
}
EventSets& system_sets() {
  static auto& sets = *new EventSets;
  return sets;
}

bool is_watched(const EventSet& set, unsigned device) {
  return std::find(set.devices.begin(), set.devices.end(), device) != set.devices.end();
}

// Errors of processes that have another number where we are may be those of another machine's devices.
void look(EventSet& set) {
  if (!set.reader) return;
  const std::uint64_t ours = usage::pid_namespace();
  for (const usage::Fault& fault : set.reader->next())
    if (fault.pid_namespace == ours && is_watched(set, fault.unit)) set.waiting.push_back(fault);
}

bool take_fault(EventSet& set, EventData& data) {
  look(set);
  if (set.waiting.empty()) return false;
  const usage::Fault fault = set.waiting.front();
  set.waiting.pop_front();
  data = {handle_of(fault.unit), kXid, fault.xid, kNoInstance, kNoInstance};
  return true;
}

// Errors from now on: what there was before is looked at first, for the other devices.
void watch(EventSet& set, const Library& library, unsigned device) {
  if (set.reader)
    look(set);
  else
    set.reader.emplace(library.config.runtime_dir);
  if (!is_watched(set, device)) set.devices.push_back(device);
}

Return wait(void* handle, EventData* data, unsigned timeout_ms) {
  return with_library([&](const Library&) {
    const std::shared_ptr<EventSet> set = device_sets().find(handle);
    if (set == nullptr || data == nullptr) return Return::invalid_argument;
    const Clock::time_point end = Clock::now() + std::chrono::milliseconds(timeout_ms);
    for (;;) {
      {
        const std::scoped_lock lock(device_sets().mutex);
        if (take_fault(*set, *data)) return Return::success;
      }
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
      if (left.count() <= 0) return Return::timeout;
      std::this_thread::sleep_for(std::min(left, kRest));
    }
  });
}

}  // namespace

SOFTGPU_NVML nvmlEventSetCreate(void** set) {
  return with_library([&](const Library&) {
    if (set == nullptr) return Return::invalid_argument;
    *set = device_sets().add();
    return Return::success;
  });
}
SOFTGPU_NVML nvmlEventSetFree(void* set) {
  return with_library(
      [&](const Library&) { return device_sets().remove(set) ? Return::success : Return::invalid_argument; });
}
SOFTGPU_NVML nvmlDeviceGetSupportedEventTypes(DeviceHandle* device, unsigned long long* types) {
  return with_device(
      device,
      [&](const Library&, const DeviceFacts&) {
        *types = kXid;
        return Return::success;
      },
      types);
}
SOFTGPU_NVML nvmlDeviceRegisterEvents(DeviceHandle* device, unsigned long long types, void* handle) {
  return with_device(device, [&](const Library& found, const DeviceFacts& facts) {
    const std::shared_ptr<EventSet> set = device_sets().find(handle);
    if (set == nullptr) return Return::invalid_argument;
    if ((types & ~kXid) != 0) return Return::not_supported;
    if (types == 0) return Return::success;
    const std::scoped_lock lock(device_sets().mutex);
    watch(*set, found, static_cast<unsigned>(facts.ordinal()));
    return Return::success;
  });
}
SOFTGPU_NVML nvmlEventSetWait_v2(void* set, EventData* data, unsigned timeout_ms) {
  return wait(set, data, timeout_ms);
}
SOFTGPU_NVML nvmlEventSetWait(void* set, EventData* data, unsigned timeout_ms) { return wait(set, data, timeout_ms); }

// Devices that come and go with a kernel's driver: softgpu's stay, so waiting ends with the time that was given.
SOFTGPU_NVML nvmlSystemEventSetCreate(SystemEventSetRequest* request) {
  return with_library([&](const Library&) {
    if (request == nullptr) return Return::invalid_argument;
    if (request->version != version_of<SystemEventSetRequest>(1)) return Return::argument_version_mismatch;
    request->set = system_sets().add();
    return Return::success;
  });
}
SOFTGPU_NVML nvmlSystemEventSetFree(SystemEventSetRequest* request) {
  return with_library([&](const Library&) {
    if (request == nullptr) return Return::invalid_argument;
    if (request->version != version_of<SystemEventSetRequest>(1)) return Return::argument_version_mismatch;
    return system_sets().remove(request->set) ? Return::success : Return::invalid_argument;
  });
}
SOFTGPU_NVML nvmlSystemRegisterEvents(SystemRegisterRequest* request) {
  constexpr unsigned long long kBindAndUnbind = 3;
  return with_library([&](const Library&) {
    if (request == nullptr) return Return::invalid_argument;
    if (request->version != version_of<SystemRegisterRequest>(1)) return Return::argument_version_mismatch;
    if (system_sets().find(request->set) == nullptr) return Return::invalid_argument;
    return (request->types & ~kBindAndUnbind) != 0 ? Return::not_supported : Return::success;
  });
}
SOFTGPU_NVML nvmlSystemEventSetWait(SystemWaitRequest* request) {
  return with_library([&](const Library&) {
    if (request == nullptr) return Return::invalid_argument;
    if (request->version != version_of<SystemWaitRequest>(1)) return Return::argument_version_mismatch;
    if (system_sets().find(request->set) == nullptr || request->data == nullptr || request->capacity == 0)
      return Return::invalid_argument;
    request->count = 0;
    std::this_thread::sleep_for(std::chrono::milliseconds(request->timeout_ms));
    return Return::timeout;
  });
}
