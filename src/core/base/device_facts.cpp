#include "core/base/device_facts.hpp"

#include <atomic>
#include <cuprum/driver.hpp>
#include <cuprum/error.hpp>
#include <mutex>
#include <vector>

#include "support/text.hpp"

namespace cuprum::core {
namespace {

using driver::Api;
using support::text;

int attribute(int device, CUdevice_attribute which) {
  int value = 0;
  driver::call<&Api::cuDeviceGetAttribute>(
      driver::Doing{[&] { return text("reading attribute ", static_cast<int>(which), " of device ", device); }}, &value,
      which, device);
  return value;
}

// An attribute that an older driver doesn't know is one of a feature that it doesn't have.
bool feature(int device, CUdevice_attribute which) {
  int value = 0;
  return driver::try_call<&Api::cuDeviceGetAttribute>(&value, which, device) == CUDA_SUCCESS && value != 0;
}

std::string name_of(int device) {
  char name[256] = {};
  driver::call<&Api::cuDeviceGetName>(name, static_cast<int>(sizeof name), device);
  return name;
}

DeviceFacts read_facts(int device) {
  auto get = [&](CUdevice_attribute which) { return attribute(device, which); };
  return {
      .device = device,
      .name = name_of(device),
      .compute_capability = {get(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
                             get(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)},
      .multiprocessor_count = get(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
      .max_threads_per_block = get(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
      .max_block_dim = {get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X), get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y),
                        get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)},
      .max_grid_dim = {get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X), get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y),
                       get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)},
      .max_shared_memory_per_block = static_cast<std::size_t>(get(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)),
      .max_shared_memory_per_block_optin =
          static_cast<std::size_t>(get(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)),
      .cluster_launch = feature(device, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH),
      .cooperative_launch = feature(device, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH),
      .memory_pools = feature(device, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED),
      .host_memory_pools = feature(device, CU_DEVICE_ATTRIBUTE_HOST_MEMORY_POOLS_SUPPORTED),
  };
}

}  // namespace

int device_count() {
  int count = 0;
  driver::call<&Api::cuDeviceGetCount>(&count);
  return count;
}

const DeviceFacts& device_facts(int device) {
  static auto& known = *new std::vector<std::atomic<const DeviceFacts*>>(static_cast<std::size_t>(device_count()));
  if (device < 0 || static_cast<std::size_t>(device) >= known.size()) {
    throw InvalidArgument(text("there is no device ", device, ": this machine has ", known.size(),
                               known.size() == 1 ? " device" : " devices", ", numbered from 0"));
  }
  std::atomic<const DeviceFacts*>& facts = known[static_cast<std::size_t>(device)];
  if (const DeviceFacts* read = facts.load(std::memory_order_acquire)) return *read;
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  if (!facts) facts.store(new const DeviceFacts(read_facts(device)), std::memory_order_release);
  return *facts;
}

}  // namespace cuprum::core
