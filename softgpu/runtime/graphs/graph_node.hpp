// What the nodes of a graph do, as values: a graph can be copied, and a node's work replaced, at any time.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "softgpu/runtime/code/launch.hpp"
#include "softgpu/runtime/memory/memory_operations.hpp"
#include "softgpu/runtime/memory/stream_memory.hpp"
#include "softgpu/runtime/work/op.hpp"
#include "softgpu/runtime/work/semaphore_op.hpp"

namespace softgpu::exec {
class UpdatableNode;
}

namespace softgpu::runtime {

class ConditionalVariable;
class Event;
class Function;
class Graph;
class GraphAllocation;
struct GraphServices;
class Module;

struct KernelWork {
  static constexpr auto kType = CU_GRAPH_NODE_TYPE_KERNEL;
  std::shared_ptr<Function> function;
  std::shared_ptr<Module> module;  // stays while a graph uses it, unloaded or not
  LaunchRequest request;           // without the arguments
  std::vector<std::byte> arguments;
  std::vector<CUlaunchAttribute> attributes;
  std::shared_ptr<exec::UpdatableNode> updatable = {};  // for a node that kernels may change; the attributes name it
};

struct CopyWork {
  static constexpr auto kType = CU_GRAPH_NODE_TYPE_MEMCPY;
  std::shared_ptr<Context> context;
  Copy copy;
  std::optional<CUDA_MEMCPY3D> request;  // as the program gave it; none for a copy that was captured
};

struct FillWork {
  static constexpr auto kType = CU_GRAPH_NODE_TYPE_MEMSET;
  std::shared_ptr<Context> context;
  Fill fill;
};

struct HostWork {
  static constexpr auto kType = CU_GRAPH_NODE_TYPE_HOST;
  CUhostFn function = nullptr;
  void* data = nullptr;
};

struct ChildWork {
  static constexpr auto kType = CU_GRAPH_NODE_TYPE_GRAPH;
  std::shared_ptr<Graph> graph;  // the node's own
};

struct EmptyWork {
  static constexpr auto kType = CU_GRAPH_NODE_TYPE_EMPTY;
};

struct WaitWork {
  static constexpr auto kType = CU_GRAPH_NODE_TYPE_WAIT_EVENT;
  std::shared_ptr<Event> event;
  CUevent handle = nullptr;
};

struct RecordWork {
  static constexpr auto kType = CU_GRAPH_NODE_TYPE_EVENT_RECORD;
  std::shared_ptr<Event> event;
  CUevent handle = nullptr;
};

struct SignalSemaphoresWork {
  static constexpr auto kType = CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL;
  std::vector<SemaphoreValue> values;
  // As the program gave them, for programs that ask.
  std::vector<CUexternalSemaphore> handles;
  std::vector<CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS> params;
};

struct WaitSemaphoresWork {
  static constexpr auto kType = CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT;
  std::vector<SemaphoreValue> values;
  std::vector<CUexternalSemaphore> handles;
  std::vector<CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS> params;
};

struct AllocateWork {
  static constexpr auto kType = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
  std::shared_ptr<GraphAllocation> allocation;
};

struct FreeWork {
  static constexpr auto kType = CU_GRAPH_NODE_TYPE_MEM_FREE;
  std::shared_ptr<GraphAllocation> allocation;
};

struct MemoryOperationsWork {
  static constexpr auto kType = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
  std::shared_ptr<Context> context;
  std::vector<MemoryOperation> operations;
};

struct ConditionalWork {
  static constexpr auto kType = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  std::shared_ptr<Context> context;
  std::shared_ptr<ConditionalVariable> variable;
  CUgraphConditionalNodeType type = CU_GRAPH_COND_TYPE_IF;
  std::vector<std::shared_ptr<Graph>> bodies;  // the node's own
  std::vector<CUgraph> handles;                // of the bodies, as the program sees them
};

using NodeWork = std::variant<EmptyWork, KernelWork, CopyWork, FillWork, HostWork, ChildWork, WaitWork, RecordWork,
                              SignalSemaphoresWork, WaitSemaphoresWork, AllocateWork, FreeWork, MemoryOperationsWork,
                              ConditionalWork>;

inline CUgraphNodeType type_of(const NodeWork& work) {
  return std::visit([](const auto& one) { return CUgraphNodeType{one.kType}; }, work);
}

// The graphs that belong to the node: a child graph, or the bodies of a condition.
std::span<const std::shared_ptr<Graph>> graphs_inside(const NodeWork& work);

// Checks, copies and compiles what the launches of such a node need. `context`: the only one that the kernel may be of;
// null: any.
KernelWork make_kernel_work(const std::shared_ptr<Function>& function, const LaunchRequest& request,
                            const Context* context = nullptr);

// Gives the kernel the attributes of a node, which stay when that gets another kernel.
void keep_attributes(KernelWork& work, const KernelWork& of_node);

// What kernels change of the node; null: they can't.
exec::UpdatableNode* updatable(const NodeWork& work);
// Makes it a node that they can change, if the attributes say so and it is none; the attributes get its handle. Throws
// CUDA_ERROR_INVALID_VALUE for attributes that say it is none when it is.
void apply_updatable(KernelWork& work);

// Whose priority kernels of a graph have.
enum class Priority { of_stream, of_node };

// How the Ops of a launch are made.
struct OpSettings {
  const GraphServices& services;
  OpPlace place;
  Priority priority;
  std::shared_ptr<exec::DeviceGraphs> graphs;  // for kernels that launch graphs; null: none does
};

// The Op that does it once, for a launch of the graph there. Child graphs have none: their nodes have. Those of
// conditional nodes are made by GraphSteps.
OpRef make_op(const NodeWork& work, const OpSettings& settings);

}  // namespace softgpu::runtime
