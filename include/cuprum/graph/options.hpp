// How graphs are made, completed and printed.
#pragma once

#include <cuprum/detail/export.hpp>
#include <cuprum/device.hpp>
#include <cuprum/stream.hpp>
#include <functional>
#include <optional>
#include <vector>

namespace cuprum::inline CUPRUM_ABI::graph {

/// What a node does: CUgraphNodeType of <cuda.h>, with the same numbers.
enum class GraphNodeType {
  kernel = 0,
  memcpy = 1,
  memset = 2,
  host = 3,
  child_graph = 4,
  empty = 5,
  event_wait = 6,
  event_record = 7,
  external_semaphores_signal = 8,
  external_semaphores_wait = 9,
  alloc = 10,
  free = 11,
  batch_memory_operations = 12,
  conditional = 13
};

enum class GraphConditionalType { if_, while_, switch_ };

/// Where the memory of an allocation node is.
enum class GraphMemoryType {
  device,
  host,    ///< page-locked, which not all drivers have for graphs
  managed  ///< moves to where it is used; needs CUDA 13
};

struct GraphAllocOptions {
  std::optional<Device> device = {};  ///< the current one when not given
  GraphMemoryType memory_type = GraphMemoryType::device;
  std::vector<Device> peer_access = {};  ///< others that may read and write it
};

struct GraphCompleteOptions {
  bool auto_free_on_launch = false;          ///< what the graph allocated and nobody freed is freed at the next launch
  std::optional<Stream> upload_stream = {};  ///< uploads the graph on it right away
  bool device_launch = false;                ///< kernels can launch the graph; not together with auto_free_on_launch
  bool use_node_priority = false;            ///< kernels run with the priority of their nodes instead of the stream's
};

/// What GraphDefinition::debug_dot_print writes beside the nodes and edges.
struct GraphDebugPrintOptions {
  bool verbose = false;  ///< everything
  bool runtime_types = false;
  bool kernel_node_params = false;
  bool memcpy_node_params = false;
  bool memset_node_params = false;
  bool host_node_params = false;
  bool event_node_params = false;
  bool ext_semas_signal_node_params = false;
  bool ext_semas_wait_node_params = false;
  bool kernel_node_attributes = false;
  bool handles = false;
  bool mem_alloc_node_params = false;
  bool mem_free_node_params = false;
  bool batch_mem_op_node_params = false;
  bool extra_topo_info = false;
  bool conditional_node_params = false;
};

}  // namespace cuprum::inline CUPRUM_ABI::graph
