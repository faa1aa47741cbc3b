// The kinds of nodes that a graph has. What a node says of itself is asked of the driver each time. update() replaces
// what it does, for all copies of the handle and for what is made of the graph from then on, not for graphs that are
// executable already; when it throws, the node is as before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuprum/graph/node.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace cuprum::inline CUPRUM_ABI::graph {

/// Does nothing; nodes wait for it, and it for others.
class CUPRUM_API EmptyNode : public GraphNode {
 public:
  /// See GraphNode::as.
  static bool is_kind_of(const GraphNode& node);
};

/// Launches a kernel.
class CUPRUM_API KernelNode : public GraphNode {
 public:
  /// Blocks; also of a kernel with clusters, other than in config().
  Dim3 grid() const;
  /// Threads of a block.
  Dim3 block() const;
  /// Bytes of dynamic shared memory per block.
  std::size_t shmem_size() const;
  /// Throws NotSupported for a node that somebody else made of a CUfunction: the driver doesn't say which kernel that
  /// is.
  Kernel kernel() const;
  /// All of the shape, as launch() takes it.
  LaunchConfig config() const;

  /// Another shape, with the same kernel and arguments.
  void update(const LaunchConfig& config) const;
  /// Other arguments, with the same kernel and shape.
  template <typename... Arguments>
  void update_arguments(const Arguments&... arguments) const {
    cuprum::detail::use_arguments([this](const auto& list, auto buffers) { replace(list, std::move(buffers)); },
                                  arguments...);
  }
  /// The same with arguments known at run time, as NodePlace::launch takes them.
  void update_arguments(const KernelArguments& arguments) const { update(config(), kernel(), arguments); }
  /// All of it.
  template <typename... Arguments>
  void update(const LaunchConfig& config, const Kernel& kernel, const Arguments&... arguments) const {
    cuprum::detail::use_arguments(
        [&](const auto& list, auto buffers) { replace(config, kernel, list, std::move(buffers)); }, arguments...);
  }
  /// The same with arguments known at run time.
  void update(const LaunchConfig& config, const Kernel& kernel, const KernelArguments& arguments) const;

  /// See GraphNode::as.
  static bool is_kind_of(const GraphNode& node);

 private:
  void replace(const cuprum::detail::ArgumentList& arguments, cuprum::detail::KeptBuffers buffers) const;
  void replace(const LaunchConfig& config, const Kernel& kernel, const cuprum::detail::ArgumentList& arguments,
               cuprum::detail::KeptBuffers buffers) const;
};

/// Allocates memory.
class CUPRUM_API AllocNode : public GraphNode {
 public:
  /// The address, which is the same at each launch.
  DevicePointer dptr() const;
  /// The size, in bytes.
  std::size_t bytesize() const;
  /// The device that the memory is on; 0 for host memory.
  int device_id() const;
  /// Where the memory is.
  GraphMemoryType memory_type() const;
  /// The other devices that may use it.
  std::vector<Device> peer_access() const;

  /// See GraphNode::as.
  static bool is_kind_of(const GraphNode& node);
};

/// Frees memory that an allocation node made.
class CUPRUM_API FreeNode : public GraphNode {
 public:
  /// The address that it frees.
  DevicePointer dptr() const;
  /// See GraphNode::as.
  static bool is_kind_of(const GraphNode& node);
};

/// Sets memory.
class CUPRUM_API MemsetNode : public GraphNode {
 public:
  /// Where the first row begins.
  DevicePointer dptr() const;
  /// The same as something to pass to update(), with what keeps it.
  Operand dst_operand() const;
  std::uint32_t value() const;    ///< the bits that are repeated, in the lowest bytes
  unsigned element_size() const;  ///< of the value, in bytes: 1, 2 or 4
  std::size_t width() const;      ///< elements of a row
  std::size_t height() const;     ///< rows
  std::size_t pitch() const;      ///< bytes from one row to the next; without meaning for one row

  /// See NodePlace::memset.
  template <cuprum::detail::Pattern T>
  void update(const Operand& dst, std::type_identity_t<T> value, std::size_t width, std::size_t height = 1,
              std::size_t pitch = 0) const {
    replace(dst, cuprum::detail::FillPattern::of(value), width, height, pitch);
  }
  /// The same with the bytes of a value, of which there must be 1, 2 or 4.
  void update(const Operand& dst, std::span<const std::byte> value, std::size_t width, std::size_t height = 1,
              std::size_t pitch = 0) const {
    replace(dst, cuprum::detail::FillPattern::of_bytes(value), width, height, pitch);
  }
  /// Another value for the same memory; it may have another size when the bytes of a row are a multiple of it.
  template <cuprum::detail::Pattern T>
  void update_value(std::type_identity_t<T> value) const {
    replace(cuprum::detail::FillPattern::of(value));
  }
  /// The same value for other memory of the same shape.
  void update(const Operand& dst) const;

  /// See GraphNode::as.
  static bool is_kind_of(const GraphNode& node);

 private:
  void replace(const Operand& dst, cuprum::detail::FillPattern pattern, std::size_t width, std::size_t height,
               std::size_t pitch) const;
  void replace(cuprum::detail::FillPattern pattern) const;
};

/// Copies memory.
class CUPRUM_API MemcpyNode : public GraphNode {
 public:
  /// Where it writes.
  DevicePointer dst() const;
  /// Where it reads.
  DevicePointer src() const;
  /// Where it writes as something to pass to update(), with what keeps it. Throws NotSupported for an array, and for a
  /// part at an offset, as there are in captured nodes and in those of other code.
  Operand dst_operand() const;
  /// Where it reads, in the same way.
  Operand src_operand() const;
  /// Bytes that are copied.
  std::size_t size() const;
  /// The shape; pitches and heights that were not given are as the driver has them.
  CopyExtent extent() const;

  /// See NodePlace::memcpy.
  void update(const Operand& dst, const Operand& src, std::size_t size) const;
  /// The same in two or three dimensions.
  void update(const Operand& dst, const Operand& src, const CopyExtent& extent) const;
  /// The same copy to other memory; see src_operand().
  void update_dst(const Operand& dst) const;
  /// The same copy from other memory; see dst_operand().
  void update_src(const Operand& src) const;

  /// See GraphNode::as.
  static bool is_kind_of(const GraphNode& node);
};

/// Runs a graph of its own.
class CUPRUM_API ChildGraphNode : public GraphNode {
 public:
  /// A view of the graph in the node: what is done with it is done with the node.
  GraphDefinition child_graph() const;

  /// Puts a copy of another graph in place of it. Views of the one before are not valid any more. Throws
  /// InvalidArgument for a graph that this node is part of.
  void update(const GraphDefinition& child) const;

  /// See GraphNode::as.
  static bool is_kind_of(const GraphNode& node);
};

/// Records an event.
class CUPRUM_API EventRecordNode : public GraphNode {
 public:
  /// The one that it records; wrapped when somebody else added the node.
  Event event() const;
  /// Records another one. The graph keeps it.
  void update(const Event& event) const;
  /// See GraphNode::as.
  static bool is_kind_of(const GraphNode& node);
};

/// Waits for an event.
class CUPRUM_API EventWaitNode : public GraphNode {
 public:
  /// The one that it waits for; wrapped when somebody else added the node.
  Event event() const;
  /// Waits for another one. The graph keeps it.
  void update(const Event& event) const;
  /// See GraphNode::as.
  static bool is_kind_of(const GraphNode& node);
};

/// Calls a function of the host.
class CUPRUM_API HostCallbackNode : public GraphNode {
 public:
  using NodePlace::callback;  // with a function: another node behind this one
  /// The function that it calls; empty for one that was given as a C function.
  std::function<void()> callback() const;
  /// Another function; see NodePlace::callback.
  void update(std::function<void()> function) const;
  /// The same with a C function; `owner`, if there is one, is kept.
  void update(void (*function)(void*), void* user_data, std::shared_ptr<const void> owner = {}) const;
  /// See GraphNode::as.
  static bool is_kind_of(const GraphNode& node);
};

/// Decides by a condition what runs. Drivers don't tell about conditional nodes: of one that somebody else added, and
/// not this library, nothing is known.
class CUPRUM_API ConditionalNode : public GraphNode {
 public:
  /// What it looks at; none when nothing is known.
  std::optional<GraphCondition> condition() const;
  /// How it decides; none when nothing is known.
  std::optional<GraphConditionalType> cond_type() const;
  /// Views of the graphs that it chooses from; empty when nothing is known.
  std::vector<GraphDefinition> branches() const;
  /// See GraphNode::as.
  static bool is_kind_of(const GraphNode& node);
};

/// Runs its graph when the condition is not 0.
class CUPRUM_API IfNode : public ConditionalNode {
 public:
  /// A view of the graph that runs then.
  GraphDefinition then() const;
  /// See GraphNode::as.
  static bool is_kind_of(const GraphNode& node);
};

/// Runs one of two graphs.
class CUPRUM_API IfElseNode : public ConditionalNode {
 public:
  /// A view of the graph that runs when the condition is not 0.
  GraphDefinition then() const;
  /// A view of the graph that runs when it is 0.
  GraphDefinition else_() const;
  /// See GraphNode::as.
  static bool is_kind_of(const GraphNode& node);
};

/// Runs its graph as long as the condition is not 0.
class CUPRUM_API WhileNode : public ConditionalNode {
 public:
  /// A view of the graph that is repeated.
  GraphDefinition body() const;
  /// See GraphNode::as.
  static bool is_kind_of(const GraphNode& node);
};

/// Runs the one of branches() whose number the condition is, or none.
class CUPRUM_API SwitchNode : public ConditionalNode {
 public:
  /// See GraphNode::as.
  static bool is_kind_of(const GraphNode& node);
};

template <typename... Arguments>
KernelNode NodePlace::launch(const LaunchConfig& config, const Kernel& kernel, const Arguments&... arguments) const {
  return cuprum::detail::use_arguments(
      [&](const auto& list, auto buffers) { return add_kernel(config, kernel, list, std::move(buffers)); },
      arguments...);
}

template <std::derived_from<GraphNode>... Nodes>
EmptyNode NodePlace::join(const Nodes&... nodes) const {
  return join(std::vector<GraphNode>{nodes...});
}

template <cuprum::detail::Pattern T>
MemsetNode NodePlace::memset(const Operand& dst, std::type_identity_t<T> value, std::size_t width, std::size_t height,
                             std::size_t pitch) const {
  return add_memset(dst, cuprum::detail::FillPattern::of(value), width, height, pitch);
}

}  // namespace cuprum::inline CUPRUM_ABI::graph
