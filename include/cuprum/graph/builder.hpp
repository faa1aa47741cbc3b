// Graphs that are captured from streams.
//
//   GraphBuilder builder = stream.create_graph_builder();
//   builder.begin_building();
//   launch(builder, config, scale, data, 2.0f, n);       // a builder is taken wherever a stream is
//   data.copy_to(host, builder);
//   Graph graph = builder.end_building().complete();
//   graph.launch(stream);
#pragma once

#include <concepts>
#include <cstddef>
#include <cuprum/detail/export.hpp>
#include <cuprum/graph/definition.hpp>
#include <cuprum/graph/executable.hpp>
#include <cuprum/graph/options.hpp>
#include <cuprum/launch.hpp>
#include <cuprum/stream.hpp>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cuprum::inline CUPRUM_ABI::graph {
class GraphBuilder;
}

namespace cuprum::inline CUPRUM_ABI::detail {
class GraphBuilderSlot;

/// Makes the graph keep a kernel and buffers, if something is captured.
/// The result keeps the builder: its capture ends after the launch, also when another thread closes it meanwhile.
[[nodiscard]] CUPRUM_API std::shared_ptr<const void> keep_for_launch(const graph::GraphBuilder& builder,
                                                                     const Kernel& kernel, const KeptBuffers& buffers);
}  // namespace cuprum::inline CUPRUM_ABI::detail

namespace cuprum::inline CUPRUM_ABI::graph {

/// Which calls break a capture, because it can't see what they do: allocating memory in no stream's order, waiting for
/// a stream, and the like.
enum class CaptureMode {
  global,         ///< those of all threads
  thread_local_,  ///< those of the thread that captures
  relaxed         ///< none
};

/// A cheap handle: copies share one builder. What is queued on its stream between begin_building() and end_building()
/// does not run but becomes nodes of a graph, in the order that the stream, and others that wait for it, would give
/// it. One thread at a time may use it, and, unless the mode is relaxed, the one that began must end; any thread may
/// close it: what has begun comes to its end first. The builders of one split(), and those of conditional bodies, may
/// be used by a thread each. Made by Stream::create_graph_builder and Device::create_graph_builder, and by other
/// builders.
///
/// A call that can't be captured throws, and breaks the capture; end_building() then throws, too, and says which call
/// that was. The stream is as before then, and building can begin anew.
class CUPRUM_API GraphBuilder {
 public:
  /// An empty handle, for a variable that gets its value later; to use it before throws InvalidArgument.
  GraphBuilder() = default;

  /// What is captured, and what everything that takes a stream takes.
  Stream stream() const;
  /// So that a builder can be passed there. Throws InvalidArgument for one from split() that was not joined before the
  /// capture ended: what is queued there would not become a part of the graph.
  operator Stream() const;

  /// Begins the capture, and returns the builder. Throws InvalidArgument when it has begun already.
  GraphBuilder begin_building(CaptureMode mode = CaptureMode::relaxed) const;
  /// Ends the capture, and returns the builder. Throws InvalidArgument when it has not begun, and for a builder from
  /// split().
  GraphBuilder end_building() const;

  /// Whether its stream is being captured. Throws InvalidArgument when the capture is broken.
  bool is_building() const;

  /// Whether it came from split(): it ends by join() and not by end_building().
  bool is_join_required() const;

  /// What was captured, as a graph that can be looked at and changed like any other. For the body of a conditional node
  /// also before begin_building(), because that graph is there already: it need not be captured at all. Throws
  /// InvalidArgument during the capture and for a builder from split().
  GraphDefinition graph_definition() const;

  /// What was captured, ready to be launched; see GraphDefinition::instantiate. Throws InvalidArgument before
  /// end_building().
  Graph complete(const GraphCompleteOptions& options = {}) const;

  /// See GraphDefinition::debug_dot_print.
  void debug_dot_print(const std::string& path, const GraphDebugPrintOptions& options = {}) const;

  /// `count` builders, of which this is the first: what each captures from now on runs at the same time as what the
  /// others do. The others have streams of their own. When it throws, nothing of them takes part in the capture.
  std::vector<GraphBuilder> split(std::size_t count) const;

  /// Makes what one of them captures from now on come after what all have captured, and returns that: the one that is
  /// not from split(), if there is one, else the first. The others are closed; when it throws, none is. Throws
  /// InvalidArgument for builders of different captures.
  static GraphBuilder join(const std::vector<GraphBuilder>& builders);
  /// The same with the builders one by one.
  template <std::same_as<GraphBuilder>... Others>
  static GraphBuilder join(const GraphBuilder& first, const Others&... others) {
    return join(std::vector<GraphBuilder>{first, others...});
  }

  /// See GraphDefinition::create_condition. Throws InvalidArgument while nothing is captured.
  GraphCondition create_condition(std::optional<unsigned> default_value = {}) const;

  /// A conditional node, after what was captured so far; see NodePlace::if_then. The body is a builder with a stream of
  /// its own, which begins and ends by itself, at the latest before this one ends.
  GraphBuilder if_then(const GraphCondition& condition) const;
  /// The same with two bodies: for a condition that is not 0, and for 0. See NodePlace::if_else.
  std::pair<GraphBuilder, GraphBuilder> if_else(const GraphCondition& condition) const;
  /// The same with `count` bodies, at least one. See NodePlace::switch_.
  std::vector<GraphBuilder> switch_(const GraphCondition& condition, unsigned count) const;
  /// The same with a body that is repeated. See NodePlace::while_loop.
  GraphBuilder while_loop(const GraphCondition& condition) const;

  /// A copy of what another builder has captured as one node; it must have ended. See NodePlace::embed.
  void embed(const GraphBuilder& child) const;
  /// The same with any graph.
  void embed(const GraphDefinition& child) const;

  /// See NodePlace::callback.
  void callback(std::function<void()> function) const;
  /// The same with a C function; `owner`, if there is one, is kept.
  void callback(void (*function)(void*), void* user_data, std::shared_ptr<const void> owner = {}) const;

  /// Makes the graph keep what work that was or will be captured uses, such as what a struct among a kernel's arguments
  /// points to.
  void keep(std::shared_ptr<const void> owner) const;

  /// Ends a capture without a result; later use throws InvalidArgument. Closing twice does nothing. The stream stays.
  void close();

  /// Whether both stand for the same builder.
  friend bool operator==(const GraphBuilder& a, const GraphBuilder& b) noexcept { return a.shared_ == b.shared_; }

 private:
  friend struct cuprum::detail::GraphAccess;
  explicit GraphBuilder(std::shared_ptr<cuprum::detail::GraphBuilderSlot> shared) : shared_(std::move(shared)) {}
  std::shared_ptr<cuprum::detail::GraphBuilderSlot> shared_;
};

/// Prints "graph builder on stream 0x55d0c8a0 on device 0".
CUPRUM_API std::ostream& operator<<(std::ostream& out, const GraphBuilder& builder);

}  // namespace cuprum::inline CUPRUM_ABI::graph

namespace cuprum::inline CUPRUM_ABI {

/// A launch that becomes a node of the graph, which keeps the kernel and the buffers among the arguments.
template <typename... Arguments>
void launch(const graph::GraphBuilder& builder, const LaunchConfig& config, const Kernel& kernel,
            const Arguments&... arguments) {
  const auto kept = detail::keep_for_launch(builder, kernel, detail::kept_buffers(arguments...));
  launch(builder.stream(), config, kernel, arguments...);
}

}  // namespace cuprum::inline CUPRUM_ABI
