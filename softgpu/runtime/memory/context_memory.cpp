#include "softgpu/runtime/memory/context_memory.hpp"

#include "softgpu/runtime/memory/array.hpp"
#include "softgpu/runtime/memory/external_memory.hpp"
#include "softgpu/runtime/memory/memory_operations.hpp"
#include "softgpu/runtime/memory/memory_services.hpp"
#include "softgpu/runtime/memory/texture_object.hpp"
#include "softgpu/runtime/work/context.hpp"

namespace softgpu::runtime {

void release_memory_of(MemoryServices& services, const Context& context) {
  const auto mine = [&](const auto& object) { return &object.context() == &context; };
  services.external_memory.remove_if(mine);
  services.arrays.remove_if(mine);
  services.mipmapped_arrays.remove_if(mine);
  destroy_texture_objects(context);
  services.allocations.erase_context(context.id(),
                                     [&](const memory::Allocation& allocation) { release(services, allocation); });
}

}  // namespace softgpu::runtime
