#include "core/device_facts.hpp"

#include <cuprum/driver.hpp>
#include <cuprum/error.hpp>
#include <map>
#include <memory>
#include <mutex>

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
  static std::mutex mutex;
  static auto& known = *new std::map<int, std::unique_ptr<const DeviceFacts>>;
  std::lock_guard lock(mutex);
  std::unique_ptr<const DeviceFacts>& facts = known[device];
  if (!facts) {
    if (int count = device_count(); device < 0 || device >= count) {
      throw InvalidArgument(text("there is no device ", device, ": this machine has ", count,
                                 count == 1 ? " device" : " devices", ", numbered from 0"));
    }
    facts = std::make_unique<const DeviceFacts>(read_facts(device));
  }
  return *facts;
}

}  // namespace cuprum::core
