// How graphs are made, completed and printed.
#pragma once

#include <cuprum/detail/export.hpp>
#include <cuprum/device.hpp>
#include <cuprum/stream.hpp>
#include <functional>
#include <optional>
#include <vector>

/// CUDA graphs: work that is defined once and launched many times.
namespace cuprum::inline CUPRUM_ABI::graph {

/// What a node does: CUgraphNodeType of <cuda.h>, with the same numbers.
enum class GraphNodeType {
  kernel = 0,                      ///< KernelNode
  memcpy = 1,                      ///< MemcpyNode
  memset = 2,                      ///< MemsetNode
  host = 3,                        ///< HostCallbackNode
  child_graph = 4,                 ///< ChildGraphNode
  empty = 5,                       ///< EmptyNode
  event_wait = 6,                  ///< EventWaitNode
  event_record = 7,                ///< EventRecordNode
  external_semaphores_signal = 8,  ///< of another API; only in graphs that other code made
  external_semaphores_wait = 9,    ///< of another API; only in graphs that other code made
  alloc = 10,                      ///< AllocNode
  free = 11,                       ///< FreeNode
  batch_memory_operations = 12,    ///< cuStreamBatchMemOp; only in graphs that other code made
  conditional = 13                 ///< ConditionalNode
};

/// How a conditional node decides.
enum class GraphConditionalType {
  if_,     ///< IfNode and IfElseNode
  while_,  ///< WhileNode
  switch_  ///< SwitchNode
};

/// Where the memory of an allocation node is.
enum class GraphMemoryType {
  device,  ///< that of GraphAllocOptions::device
  host,    ///< page-locked, which not all drivers have for graphs
  managed  ///< moves to where it is used; needs CUDA 13
};

/// For NodePlace::allocate.
struct GraphAllocOptions {
  std::optional<Device> device = {};                      ///< the current one when not given
  GraphMemoryType memory_type = GraphMemoryType::device;  ///< where the memory is
  std::vector<Device> peer_access = {};                   ///< others that may read and write it
};

/// For GraphDefinition::instantiate and GraphBuilder::complete.
struct GraphCompleteOptions {
  bool auto_free_on_launch = false;          ///< what the graph allocated and nobody freed is freed at the next launch
  std::optional<Stream> upload_stream = {};  ///< uploads the graph on it right away
  bool device_launch = false;                ///< kernels can launch the graph; not together with auto_free_on_launch
  bool use_node_priority = false;            ///< kernels run with the priority of their nodes instead of the stream's
};

/// What GraphDefinition::debug_dot_print writes beside the nodes and edges.
struct GraphDebugPrintOptions {
  bool verbose = false;                       ///< everything
  bool runtime_types = false;                 ///< as structs of CUDA's runtime instead of the driver's
  bool kernel_node_params = false;            ///< kernels, shapes and shared memory
  bool memcpy_node_params = false;            ///< addresses and sizes of copies
  bool memset_node_params = false;            ///< addresses, sizes and values of fills
  bool host_node_params = false;              ///< functions of callbacks, and what they are given
  bool event_node_params = false;             ///< handles of events that are recorded or waited for
  bool ext_semas_signal_node_params = false;  ///< of nodes that signal external semaphores
  bool ext_semas_wait_node_params = false;    ///< of nodes that wait for external semaphores
  bool kernel_node_attributes = false;        ///< attributes of kernel nodes, such as priorities
  bool handles = false;                       ///< of nodes and of the functions of kernels
  bool mem_alloc_node_params = false;         ///< addresses and sizes of allocations
  bool mem_free_node_params = false;          ///< addresses that are freed
  bool batch_mem_op_node_params = false;      ///< of nodes of batched memory operations
  bool extra_topo_info = false;               ///< numbers of edges
  bool conditional_node_params = false;       ///< of conditional nodes
};

}  // namespace cuprum::inline CUPRUM_ABI::graph
