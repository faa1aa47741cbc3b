// Finding entry points: cuGetProcAddress and cuGetExportTable.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <span>
#include <string_view>

#include "softgpu/api/base/call.hpp"
#include "softgpu/api/base/entry_point_table.hpp"

namespace softgpu::api {
namespace {

struct Found {
  void* address = nullptr;
  CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
};

// The newest form that is not newer than `version`; a per-thread one first, if that is asked for.
Found find_entry_point(std::string_view name, int version, bool per_thread) {
  const std::span<const EntryPoint> table = entry_points();
  const auto by_name = [](const EntryPoint& a, std::string_view b) { return a.name < b; };
  const EntryPoint* best = nullptr;
  Found found;
  for (auto it = std::lower_bound(table.begin(), table.end(), name, by_name); it != table.end() && it->name == name;
       ++it) {
    if (it->per_thread && !per_thread) continue;
    found.status = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
    if (it->version > version) continue;
    if (best == nullptr || it->per_thread > best->per_thread ||
        (it->per_thread == best->per_thread && it->version > best->version))
      best = &*it;
  }
  return best == nullptr ? found : Found{best->address, CU_GET_PROC_ADDRESS_SUCCESS};
}

Found look_up(const char* symbol, void** address, int version, cuuint64_t flags) {
  constexpr cuuint64_t kBoth = CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  require(symbol != nullptr && address != nullptr, CUDA_ERROR_INVALID_VALUE, "a null pointer");
  *address = nullptr;
  require((flags & ~kBoth) == 0 && (flags & kBoth) != kBoth, CUDA_ERROR_INVALID_VALUE,
          "unknown or contradicting flags");
  require(version <= Driver::cuda_version(), CUDA_ERROR_INVALID_VALUE, "a version newer than the driver's");
  const Found found = find_entry_point(symbol, version, (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0);
  *address = found.address;
  return found;
}

// The first table without which NVIDIA's CUDA runtime, in all releases from 12.1 to 13.4, does not initialise. Others,
// nvJitLink for one, ask for tables of theirs, and do without.
constexpr unsigned char kRuntimeTable[sizeof(CUuuid)] = {0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a,
                                                         0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9};

// Said whether asked for or not: of a runtime that does not initialise, a program sees nothing but error 500.
void say_once_that_the_runtime_fails() {
  static std::atomic_flag said;
  if (said.test_and_set()) return;
  std::fputs(
      "softgpu: cuGetExportTable: the private tables of NVIDIA's driver are not offered. NVIDIA's CUDA runtime "
      "(cudart) "
      "can't initialise without them: all its calls fail with error 500, cudaErrorSymbolNotFound. Use the driver API; "
      "in cuda.core, Stream.sync() in place of Device.sync(), and properties.pci_bus_id in place of "
      "Device.pci_bus_id\n",
      stderr);
}

}  // namespace
}  // namespace softgpu::api

using namespace softgpu::api;

extern "C" {

// That there is none is no error in this form.
CUresult cuGetProcAddress_v2(const char* symbol, void** address, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* status) {
  return call_before_init(__func__, [&] {
    if (status != nullptr) *status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    const Found found = look_up(symbol, address, version, flags);
    if (status != nullptr) *status = found.status;
  });
}

CUresult cuGetProcAddress(const char* symbol, void** address, int version, cuuint64_t flags) {
  return call_before_init(__func__, [&] {
    return look_up(symbol, address, version, flags).address == nullptr ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS;
  });
}

// Tables of undocumented functions, some of which are there to recognise NVIDIA's driver. softgpu has none.
CUresult cuGetExportTable(const void** table, const CUuuid* id) {
  return call_before_init(__func__, [&] {
    require(table != nullptr && id != nullptr, CUDA_ERROR_INVALID_VALUE, "a null pointer");
    *table = nullptr;
    if (std::memcmp(id->bytes, kRuntimeTable, sizeof kRuntimeTable) == 0) say_once_that_the_runtime_fails();
    return CUDA_ERROR_NOT_FOUND;
  });
}

}  // extern "C"
