// Adding nodes to a graph.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cuprum/detail/export.hpp>
#include <cuprum/detail/kernel_arguments.hpp>
#include <cuprum/event.hpp>
#include <cuprum/graph/condition.hpp>
#include <cuprum/graph/operand.hpp>
#include <cuprum/graph/options.hpp>
#include <cuprum/kernel.hpp>
#include <cuprum/launch.hpp>
#include <cuprum/launch_config.hpp>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

namespace cuprum::inline CUPRUM_ABI::detail {
struct GraphAccess;
struct GraphResource;
struct NodeRecord;

/// The buffers among the arguments of a kernel node, which its graph keeps, and what keeps the textures and surfaces.
using KeptBuffers = std::vector<Kept<BufferResource>>;

template <typename T>
void keep_buffer(KeptBuffers& kept, const T& argument) {
  if constexpr (std::derived_from<T, Buffer>) {
    kept.push_back(keep_memory(argument));
  } else if constexpr (View<T>) {
    kept.push_back(MemoryOf::view(argument));
  } else if constexpr (Bindless<T>) {
    kept.push_back(keep_as_memory(argument));
  } else if constexpr (TensorMap<T>) {
    kept.push_back(MemoryOf::tensor_map(argument));
  } else if constexpr (std::same_as<T, KernelArguments>) {
    for (const Buffer& buffer : argument.buffers) kept.push_back(keep_memory(buffer));
  }
}

template <typename... Arguments>
KeptBuffers kept_buffers(const Arguments&... arguments) {
  KeptBuffers kept;
  (keep_buffer(kept, arguments), ...);
  return kept;
}

/// Calls `use(ArgumentList, buffers)` with a kernel's arguments.
template <typename Use, typename... Values>
decltype(auto) use_values(Use&& use, KeptBuffers buffers, const Values&... values) {
  void* addresses[] = {argument_address(values)..., nullptr};
  static constexpr ArgumentSize sizes[] = {sizeof(Values)..., 0};
  return use(ArgumentList{addresses, sizes, sizeof...(Values)}, std::move(buffers));
}
template <typename Use, typename... Arguments>
decltype(auto) use_arguments(Use&& use, const Arguments&... arguments) {
  return use_values(std::forward<Use>(use), kept_buffers(arguments...), argument_value(arguments)...);
}

/// The bits that a fill repeats, and of how many bytes.
struct FillPattern {
  std::uint32_t bits;
  unsigned width;

  template <Pattern T>
  static FillPattern of(const T& value) {
    FillPattern pattern{0, sizeof(T)};
    std::memcpy(&pattern.bits, &value, sizeof(T));
    return pattern;
  }

  /// Throws InvalidArgument unless there are 1, 2 or 4.
  CUPRUM_API static FillPattern of_bytes(std::span<const std::byte> value);
};
}  // namespace cuprum::inline CUPRUM_ABI::detail

namespace cuprum::inline CUPRUM_ABI::graph {

class AllocNode;
class ChildGraphNode;
class EmptyNode;
class EventRecordNode;
class EventWaitNode;
class FreeNode;
class GraphDefinition;
class GraphNode;
class HostCallbackNode;
class IfElseNode;
class IfNode;
class KernelNode;
class MemcpyNode;
class MemsetNode;
class SwitchNode;
class WhileNode;

/// Where nodes are added: a GraphDefinition, whose new nodes wait for nothing, or a GraphNode, whose new nodes run
/// after it. More dependencies come by join() and GraphNode::pred.
///
/// A graph keeps what its nodes use, however it was cloned, made executable and launched: buffers, events, kernels,
/// functions. close() of the handle that a node was given does not take it away from the graph. Addresses are not kept,
/// unless an owner comes with them.
///
/// Nodes that need a context (kernels, copies, fills, conditional nodes) get the one that is current, or device 0's
/// primary context when none is. Functions throw InvalidArgument for what can be checked, such as arguments that don't
/// match a kernel, and DriverError for what the driver refuses; the graph is as before then. All definitions and nodes
/// of one graph, its child graphs and conditional bodies included, may be used by one thread at a time.
class CUPRUM_API NodePlace {
 public:
  /// A launch; arguments as launch() takes them. Throws InvalidArgument, too, for programmatic_stream_serialization,
  /// which is a matter of streams.
  template <typename... Arguments>
  KernelNode launch(const LaunchConfig& config, const Kernel& kernel, const Arguments&... arguments) const;
  /// The same with arguments known at run time. What they point to is not kept, but for their `buffers`.
  KernelNode launch(const LaunchConfig& config, const Kernel& kernel, const KernelArguments& arguments) const;

  /// A node that does nothing, after this place and all of `nodes`.
  EmptyNode join(const std::vector<GraphNode>& nodes) const;
  /// The same with the nodes one by one: graph.join(left, right).
  template <std::derived_from<GraphNode>... Nodes>
  EmptyNode join(const Nodes&... nodes) const;

  /// Memory that the graph allocates when it gets here. Its address is known now: AllocNode::dptr.
  AllocNode allocate(std::size_t size, const GraphAllocOptions& options = {}) const;

  /// Frees memory that an allocation node of this or another graph made.
  FreeNode deallocate(DevicePointer dptr) const;
  /// The same by the node that allocated it.
  FreeNode deallocate(const AllocNode& node) const;

  /// Sets `width` elements in each of `height` rows, `pitch` bytes apart, to a value of 1, 2 or 4 bytes. The type must
  /// be named, as for Buffer::fill: memset<int>(data, 7, 100).
  template <cuprum::detail::Pattern T>
  MemsetNode memset(const Operand& dst, std::type_identity_t<T> value, std::size_t width, std::size_t height = 1,
                    std::size_t pitch = 0) const;

  /// The same with the bytes of a value, of which there must be 1, 2 or 4.
  MemsetNode memset(const Operand& dst, std::span<const std::byte> value, std::size_t width, std::size_t height = 1,
                    std::size_t pitch = 0) const;

  /// Copies `size` bytes between any two kinds of memory.
  MemcpyNode memcpy(const Operand& dst, const Operand& src, std::size_t size) const;
  /// The same in two or three dimensions.
  MemcpyNode memcpy(const Operand& dst, const Operand& src, const CopyExtent& extent) const;

  /// A copy of `child` as one node. The driver takes no child with conditional, allocation or free nodes.
  ChildGraphNode embed(const GraphDefinition& child) const;

  /// Records the event, for streams and graphs to wait for.
  EventRecordNode record(const Event& event) const;
  /// Makes the nodes behind it wait for the latest record of the event.
  EventWaitNode wait(const Event& event) const;

  /// Calls `function` on a thread of the driver; later nodes wait until it returns. It must not use CUDA, and what it
  /// throws goes to the log hook. The graph keeps it, and it is destroyed by a thread that may use CUDA.
  HostCallbackNode callback(std::function<void()> function) const;

  /// The same with a C function; `owner`, if there is one, is kept.
  HostCallbackNode callback(void (*function)(void*), void* user_data, std::shared_ptr<const void> owner = {}) const;

  /// Runs a graph of its own, which is empty at first, when the condition is not 0.
  IfNode if_then(const GraphCondition& condition) const;
  /// The same with another one for 0. Needs CUDA 12.8.
  IfElseNode if_else(const GraphCondition& condition) const;
  /// Runs a graph of its own as long as the condition is not 0.
  WhileNode while_loop(const GraphCondition& condition) const;
  /// Runs the graph whose number the condition is; none when there are not as many. Needs CUDA 12.8.
  SwitchNode switch_(const GraphCondition& condition, unsigned count) const;

 protected:
  NodePlace() = default;
  /// For the library itself.
  NodePlace(std::shared_ptr<cuprum::detail::GraphResource> graph, std::shared_ptr<cuprum::detail::NodeRecord> node)
      : graph_(std::move(graph)), node_(std::move(node)) {}

  std::shared_ptr<cuprum::detail::GraphResource> graph_;  ///< keeps the whole graph that it is part of
  std::shared_ptr<cuprum::detail::NodeRecord> node_;      ///< null for a definition

 private:
  friend struct cuprum::detail::GraphAccess;
  KernelNode add_kernel(const LaunchConfig& config, const Kernel& kernel, const cuprum::detail::ArgumentList& arguments,
                        cuprum::detail::KeptBuffers buffers) const;
  MemsetNode add_memset(const Operand& dst, cuprum::detail::FillPattern pattern, std::size_t width, std::size_t height,
                        std::size_t pitch) const;
};

}  // namespace cuprum::inline CUPRUM_ABI::graph
