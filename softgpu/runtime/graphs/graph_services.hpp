// What graphs need of the process: one of it for all of them.
#pragma once

#include <cuda.h>

#include "softgpu/runtime/base/handles.hpp"
#include "softgpu/runtime/graphs/graph_memory.hpp"

namespace softgpu::runtime {

class Graph;
class GraphExec;
class GraphNode;
struct MemoryServices;
class UserObject;

// Thread-safe.
struct GraphServices {
  explicit GraphServices(MemoryServices& memory_services) : memory(memory_services), graph_memory(memory_services) {}

  MemoryServices& memory;
  GraphMemory graph_memory;
  HandleTable<CUgraph, Graph> graphs;
  HandleTable<CUgraphNode, GraphNode> nodes;
  HandleTable<CUgraphExec, GraphExec> execs;
  HandleTable<CUuserObject, UserObject> user_objects;
};

}  // namespace softgpu::runtime
