#include "core/memory/pointer_facts.hpp"

#include <cuprum/driver.hpp>

#include "support/text.hpp"

namespace cuprum::core {

PointerFacts facts_of(DevicePointer pointer) {
  if (!pointer) return {.is_device_accessible = false, .is_host_accessible = true, .is_managed = false, .device = {}};
  CUmemorytype type{};  // stays 0 for an unknown address: this query, unlike that for one attribute, does not fail then
  unsigned managed = 0;
  int device = 0;
  CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                      CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
  void* values[] = {&type, &managed, &device};
  driver::call<&driver::Api::cuPointerGetAttributes>(
      driver::Doing{[&] { return support::text("asking what memory is at ", reinterpret_cast<void*>(pointer)); }}, 3u,
      attributes, values, pointer);
  const bool known = static_cast<int>(type) != 0;
  return {
      .is_device_accessible = known,
      .is_host_accessible = !known || type == CU_MEMORYTYPE_HOST || managed != 0,
      .is_managed = managed != 0,
      .device = known ? std::optional(device) : std::nullopt,
  };
}

}  // namespace cuprum::core
