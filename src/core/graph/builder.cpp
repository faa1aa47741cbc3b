#include <algorithm>
#include <cuprum/context.hpp>
#include <cuprum/device.hpp>
#include <cuprum/graph/builder.hpp>
#include <ostream>
#include <span>

#include "core/base/deferred.hpp"
#include "core/base/empty_handle.hpp"
#include "core/graph/add_nodes.hpp"
#include "core/graph/capture.hpp"
#include "core/graph/executable.hpp"
#include "core/graph/node_params.hpp"
#include "core/graph/resources.hpp"
#include "core/memory/keeper.hpp"
#include "core/stream/default_streams.hpp"
#include "driver/capture_failures.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI {

using detail::GraphAccess;
using detail::GraphBuilderResource;

std::shared_ptr<GraphBuilderResource> detail::GraphAccess::builder(const graph::GraphBuilder& builder) {
  if (!builder.shared_) core::refuse_empty("graph builder");
  if (auto resource = open_builder(builder)) return resource;
  throw WrongState("Graph builder has been closed: close() was called on it or on a copy, or it was joined");
}

graph::GraphBuilder Stream::create_graph_builder() const {
  // A handle of its own: the capture ends on the stream also when this one is closed.
  return GraphAccess::builder(std::make_unique<GraphBuilderResource>(core::handle_of(detail::Access::keep(*this)),
                                                                     GraphBuilderResource::Kind::primary,
                                                                     GraphBuilderResource::State::not_started));
}

graph::GraphBuilder Device::create_graph_builder() const { return create_stream().create_graph_builder(); }

}  // namespace cuprum::inline CUPRUM_ABI

namespace cuprum::core {
namespace {

// The node that it is for is not known: the graph keeps it until it goes.
void keep_in_graph(const detail::GraphBuilderResource& resource, const graph::GraphBuilder& builder, Owners owners) {
  if (!resource.graph)
    throw WrongState(support::text("keeping something for ", builder, ": begin_building() comes first"));
  // A graph that is captured into may go at any time, when the capture breaks.
  const bool is_captured = resource.is_capturing();
  const CUgraph graph = is_captured ? capture_point(resource.stream).graph : resource.graph->handle;
  if (!graph) return;
  if (!is_captured) {
    PendingAttachment(graph, std::move(owners)).commit();
    return;
  }
  detail::CaptureInProgress& capture = *resource.capture;
  const std::scoped_lock lock(capture.mutex);  // first: a driver need not take two objects for a graph at a time
  PendingAttachment attachment(graph, std::move(owners));
  capture.kept.emplace_back();  // may fail, behind which nothing does
  capture.kept.back() = attachment.commit();
}

}  // namespace
}  // namespace cuprum::core

namespace cuprum::inline CUPRUM_ABI::graph {

using core::NodeRequest;
using cuprum::detail::GraphAccess;
using cuprum::detail::GraphBuilderResource;
using cuprum::detail::GraphResource;
using cuprum::detail::NodeRecord;
using support::text;
using Kind = GraphBuilderResource::Kind;
using State = GraphBuilderResource::State;

namespace {

/// A builder for each body of a conditional node, which is added.
std::vector<GraphBuilder> add_bodies(const GraphBuilder& builder, const GraphCondition& condition,
                                     GraphConditionalType type, unsigned count) {
  const auto kept_resource = GraphAccess::builder(builder);
  GraphBuilderResource& resource = *kept_resource;
  const Context context = resource.stream.context();
  std::vector<Stream> streams;  // first: nothing may fail once the node is there
  for (unsigned i = 0; i < count; ++i) streams.push_back(context.create_stream());
  NodeRequest request = core::conditional_request(core::context_of(context.handle()), condition, type, count);
  const std::shared_ptr<NodeRecord> node = core::add_captured_node(resource, "adding a conditional node", request);
  std::vector<GraphBuilder> bodies;
  const std::scoped_lock lock(resource.capture->mutex);
  for (unsigned i = 0; i < count; ++i) {
    GraphResource& body = resource.graph->inner(node->known.conditional->bodies[i], node->handle);
    bodies.push_back(GraphAccess::builder(std::make_unique<GraphBuilderResource>(
        streams[i], Kind::body, State::not_started, std::shared_ptr<GraphResource>(resource.graph, &body))));
    GraphAccess::builder(bodies.back())->outer = resource.capture;
  }
  return bodies;
}

/// Makes the streams of builders take part in the capture of another one: all of them or none.
void fork(const GraphBuilderResource& builder, std::span<const GraphBuilder> builders) {
  const Event here = builder.stream.record();
  std::vector<Stream> taking_part;
  taking_part.reserve(builders.size());
  try {
    for (const GraphBuilder& part : builders) {
      const auto forked = GraphAccess::builder(part);
      forked->capture = builder.capture;
      forked->failures_before_begin = builder.failures_before_begin;
      {
        const std::scoped_lock lock(builder.capture->mutex);
        builder.capture->streams.push_back(cuprum::detail::Access::keep(forked->stream));
      }
      forked->stream.wait(here);
      taking_part.push_back(forked->stream);
    }
  } catch (...) {
    // The capture could not end as long as one of them had not been joined.
    try {
      for (const Stream& stream : taking_part) builder.stream.wait(stream);
    } catch (const Error&) {
      // end_building() will say so
    }
    throw;
  }
}

/// That they can be joined, before any is.
void check_joined(const std::vector<GraphBuilder>& builders) {
  if (builders.size() < 2) throw InvalidArgument(text("join of ", builders.size(), ": it takes at least 2 builders"));
  const auto first = GraphAccess::builder(builders.front());
  for (const GraphBuilder& builder : builders) {
    const auto resource = GraphAccess::builder(builder);
    if (!resource->is_capturing()) throw WrongState(text("join: ", builder, " is not building"));
    if (resource->capture != first->capture)
      throw InvalidArgument(text("join: ", builder, " takes part in another capture than ", builders.front()));
    if (std::count(builders.begin(), builders.end(), builder) > 1)
      throw InvalidArgument(text("join: ", builder, " is there twice"));
  }
}

[[noreturn]] void refuse_broken(const GraphBuilderResource& builder) {
  const driver::CaptureFailure last = driver::last_capture_failure();
  throw WrongState(text("the capture of ", builder.stream, " is broken",
                        last.count == builder.failures_before_begin ? std::string() : text(" (", last.text, ")"),
                        ": end_building() ends it"));
}

/// What is queued there would run and not become a part of the graph.
void check_not_left_over(const GraphBuilderResource& builder) {
  if (!builder.is_left_over()) return;
  throw WrongState(text("graph builder on ", builder.stream,
                        " is from split(), and the capture that it took part in has ended: split() comes again after "
                        "the next begin_building()"));
}

}  // namespace

Stream GraphBuilder::stream() const { return GraphAccess::builder(*this)->stream; }

GraphBuilder::operator Stream() const {
  const auto builder = GraphAccess::builder(*this);
  check_not_left_over(*builder);
  return builder->stream;
}

GraphBuilder GraphBuilder::begin_building(CaptureMode mode) const {
  const auto kept_builder = GraphAccess::builder(*this);
  GraphBuilderResource& builder = *kept_builder;
  check_not_left_over(builder);
  if (builder.state == State::capturing)
    throw WrongState(text("Graph builder is already building: ", *this, " needs no second begin_building()"));
  if (builder.state == State::ended)
    throw WrongState(text("Cannot resume building after building has ended: make another builder than ", *this));
  core::begin_capture(builder, mode);
  return *this;
}

GraphBuilder GraphBuilder::end_building() const {
  const auto kept_builder = GraphAccess::builder(*this);
  GraphBuilderResource& builder = *kept_builder;
  if (builder.kind == Kind::forked)
    throw WrongState(text("end_building: ", *this, " is from split(); join() it to the others"));
  if (builder.state != State::capturing)
    throw WrongState(text("end_building: ", *this, " is not building; begin_building() comes first"));
  core::check_bodies(builder);
  core::end_capture(builder);
  return *this;
}

bool GraphBuilder::is_building() const {
  const auto kept_builder = GraphAccess::builder(*this);
  const GraphBuilderResource& builder = *kept_builder;
  const CUstreamCaptureStatus status = core::capture_point(builder.stream).status;
  if (status == CU_STREAM_CAPTURE_STATUS_INVALIDATED) refuse_broken(builder);
  return status == CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

bool GraphBuilder::is_join_required() const { return GraphAccess::builder(*this)->kind == Kind::forked; }

GraphDefinition GraphBuilder::graph_definition() const {
  const auto kept_builder = GraphAccess::builder(*this);
  const GraphBuilderResource& builder = *kept_builder;
  if (builder.kind == Kind::forked)
    throw WrongState("graph_definition of a forked builder, one from split(): ask the one that was split");
  if (builder.state == State::capturing)
    throw WrongState("graph_definition while the capture is in progress: end_building() comes first");
  if (builder.kind == Kind::primary && builder.state == State::not_started)
    throw WrongState("graph_definition before begin_building(): there is no graph yet");
  return GraphAccess::definition(builder.graph);
}

Graph GraphBuilder::complete(const GraphCompleteOptions& options) const {
  const auto kept_builder = GraphAccess::builder(*this);
  GraphBuilderResource& builder = *kept_builder;
  if (builder.state != State::ended)
    throw WrongState(text("Graph has not finished building: end_building() of ", *this, " comes before complete()"));
  return core::instantiate(*builder.graph, options);
}

void GraphBuilder::debug_dot_print(const std::string& path, const GraphDebugPrintOptions& options) const {
  const auto kept_builder = GraphAccess::builder(*this);
  const GraphBuilderResource& builder = *kept_builder;
  if (builder.state != State::ended)
    throw WrongState(text("debug_dot_print: ", *this, " has not finished building; end_building() comes first"));
  GraphAccess::definition(builder.graph).debug_dot_print(path, options);
}

std::vector<GraphBuilder> GraphBuilder::split(std::size_t count) const {
  const auto kept_builder = GraphAccess::builder(*this);
  const GraphBuilderResource& builder = *kept_builder;
  if (count < 2) throw InvalidArgument(text("split into ", count, ": it takes at least 2"));
  check_not_left_over(builder);
  if (builder.state != State::capturing)
    throw WrongState(
        text("Graph builder must be building before it can be split: begin_building() of ", *this, " comes first"));
  const Context context = builder.stream.context();
  std::vector<GraphBuilder> builders{*this};
  for (std::size_t i = 1; i < count; ++i) {
    builders.push_back(GraphAccess::builder(std::make_unique<GraphBuilderResource>(
        context.create_stream(), Kind::forked, State::capturing, builder.graph)));
  }
  fork(builder, std::span(builders).subspan(1));
  return builders;
}

GraphBuilder GraphBuilder::join(const std::vector<GraphBuilder>& builders) {
  check_joined(builders);
  const auto unsplit = std::find_if(builders.begin(), builders.end(),
                                    [](const GraphBuilder& builder) { return !builder.is_join_required(); });
  GraphBuilder root = unsplit == builders.end() ? builders.front() : *unsplit;
  for (const GraphBuilder& builder : builders) {
    if (builder != root) root.stream().wait(builder.stream());
  }
  for (GraphBuilder builder : builders) {
    if (builder != root) builder.close();
  }
  return root;
}

GraphCondition GraphBuilder::create_condition(std::optional<unsigned> default_value) const {
  const auto kept_builder = GraphAccess::builder(*this);
  const GraphBuilderResource& builder = *kept_builder;
  const core::CapturePoint point = core::capture_point(builder.stream);
  if (point.status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
    throw WrongState(text("create_condition: ", *this, " is not building; begin_building() comes first"));
  const Context context = builder.stream.context();
  return core::create_condition(core::context_of(context.handle()), point.graph, default_value);
}

GraphBuilder GraphBuilder::if_then(const GraphCondition& condition) const {
  return add_bodies(*this, condition, GraphConditionalType::if_, 1)[0];
}

std::pair<GraphBuilder, GraphBuilder> GraphBuilder::if_else(const GraphCondition& condition) const {
  const std::vector<GraphBuilder> bodies = add_bodies(*this, condition, GraphConditionalType::if_, 2);
  return {bodies[0], bodies[1]};
}

std::vector<GraphBuilder> GraphBuilder::switch_(const GraphCondition& condition, unsigned count) const {
  if (count == 0) throw InvalidArgument("a switch node of 0 branches: it needs at least one");
  return add_bodies(*this, condition, GraphConditionalType::switch_, count);
}

GraphBuilder GraphBuilder::while_loop(const GraphCondition& condition) const {
  return add_bodies(*this, condition, GraphConditionalType::while_, 1)[0];
}

void GraphBuilder::embed(const GraphBuilder& child) const {
  if (GraphAccess::builder(child)->state != State::ended)
    throw WrongState(text("embed: ", child, " has not finished building; end_building() comes first"));
  embed(child.graph_definition());
}

void GraphBuilder::embed(const GraphDefinition& child) const {
  const auto kept_builder = GraphAccess::builder(*this);
  GraphBuilderResource& builder = *kept_builder;
  const GraphResource& original = GraphAccess::graph(child);
  NodeRequest request = core::child_request(original.handle);
  core::add_captured_node(builder, "embedding a graph", request, [&](const NodeRecord& node) {
    core::copy_records(core::child_of(*builder.graph, node.handle), original);
  });
}

void GraphBuilder::callback(std::function<void()> function) const {
  const auto kept_builder = GraphAccess::builder(*this);
  GraphBuilderResource& builder = *kept_builder;
  NodeRequest request = core::callback_request(std::move(function));
  core::add_captured_node(builder, "adding a callback", request);
}

void GraphBuilder::callback(void (*function)(void*), void* user_data, std::shared_ptr<const void> owner) const {
  const auto kept_builder = GraphAccess::builder(*this);
  GraphBuilderResource& builder = *kept_builder;
  NodeRequest request = core::callback_request(function, user_data, std::move(owner));
  core::add_captured_node(builder, "adding a callback", request);
}

void GraphBuilder::keep(std::shared_ptr<const void> owner) const {
  core::keep_in_graph(*GraphAccess::builder(*this), *this, {std::move(owner)});
}

void GraphBuilder::close() {
  if (shared_) shared_->close();
  core::destroy_deferred();
}

void Graph::update(const GraphBuilder& source) const {
  if (source == GraphBuilder()) core::refuse_empty("graph builder");
  const auto builder = GraphAccess::open_builder(source);
  if (!builder) throw WrongState(text("Source graph builder has been closed: ", *this, " can't be updated from it"));
  if (builder->state != State::ended)
    throw WrongState(text("Graph has not finished building: ", *this, " is updated after end_building() of ", source));
  update(source.graph_definition());
}

std::ostream& operator<<(std::ostream& out, const GraphBuilder& builder) {
  if (builder == GraphBuilder()) return out << "an empty graph builder";
  const auto open = GraphAccess::open_builder(builder);
  if (!open) return out << "a closed graph builder";
  return out << "graph builder on " << open->stream;
}

}  // namespace cuprum::inline CUPRUM_ABI::graph

namespace cuprum::inline CUPRUM_ABI::detail {

std::shared_ptr<const void> keep_for_launch(const graph::GraphBuilder& builder, const Kernel& kernel,
                                            const KeptBuffers& buffers) {
  std::shared_ptr<GraphBuilderResource> kept = GraphAccess::builder(builder);
  graph::check_not_left_over(*kept);
  if (!kept->is_capturing()) return kept;  // a plain launch
  core::Owners owners{core::keeper(kernel)};
  for (const auto& buffer : buffers) owners.push_back(core::memory_keeper(buffer));
  core::keep_in_graph(*kept, builder, std::move(owners));
  return kept;
}

}  // namespace cuprum::inline CUPRUM_ABI::detail
