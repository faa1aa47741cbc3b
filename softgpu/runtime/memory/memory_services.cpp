#include "softgpu/runtime/memory/memory_services.hpp"

namespace softgpu::runtime {

MemoryServices::MemoryServices(WorkServices& work_services, const Devices& all_devices,
                               memory::AddressSpace& address_space)
    : work(work_services),
      devices(all_devices),
      space(address_space),
      host_heap(std::make_shared<memory::Heap>(space, memory::Heap::kUnlimited)) {}

const std::shared_ptr<memory::Heap>& MemoryServices::heap_of(const CUmemLocation& location) const {
  return location.type == CU_MEM_LOCATION_TYPE_DEVICE ? devices.at(location.id).heap() : host_heap;
}

}  // namespace softgpu::runtime
