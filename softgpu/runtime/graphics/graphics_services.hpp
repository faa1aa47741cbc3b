// What graphics resources need of the process: one of it for all of them.
#pragma once

#include <cuda.h>

#include "softgpu/runtime/base/handles.hpp"

namespace softgpu::runtime {

class Context;
class GraphicsResource;
struct MemoryServices;

// Thread-safe.
struct GraphicsServices {
  explicit GraphicsServices(MemoryServices& memory_services) : memory(memory_services) {}

  MemoryServices& memory;
  HandleTable<CUgraphicsResource, GraphicsResource> resources;
};

// When a context goes: its resources lose their handles. Their memory goes with that of the context.
void drop_graphics_of(GraphicsServices& services, const Context& context);

}  // namespace softgpu::runtime
