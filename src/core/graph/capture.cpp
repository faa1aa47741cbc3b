#include "core/graph/capture.hpp"

#include <optional>

#include "core/base/deferred.hpp"
#include "core/graph/add_nodes.hpp"
#include "core/stream/captures.hpp"
#include "core/stream/graph_changes.hpp"
#include "driver/capture_failures.hpp"
#include "driver/release.hpp"
#include "support/log.hpp"
#include "support/text.hpp"

namespace cuprum::core {

using detail::GraphBuilderResource;
using detail::GraphResource;
using detail::NodeRecord;
using driver::Api;
using driver::Doing;
using graph::CaptureMode;
using support::text;
using Kind = GraphBuilderResource::Kind;
using State = GraphBuilderResource::State;

namespace {

CUstreamCaptureMode native_mode(CaptureMode mode) {
  switch (mode) {
    case CaptureMode::global: return CU_STREAM_CAPTURE_MODE_GLOBAL;
    case CaptureMode::thread_local_: return CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    case CaptureMode::relaxed: break;
  }
  return CU_STREAM_CAPTURE_MODE_RELAXED;
}

std::vector<GraphAttachment> take_kept(detail::CaptureInProgress& capture) noexcept {
  const std::scoped_lock lock(capture.mutex);
  return std::exchange(capture.kept, {});
}

void leave_capture(GraphBuilderResource& builder, State next) noexcept {
  builder.state = next;
  builder.capture->has_ended = true;
  if (builder.outer) {
    const std::scoped_lock lock(builder.outer->mutex);
    builder.outer->bodies.remove(&builder);
  }
  builder.capture->streams.clear();
  builder.capture->unwanted.clear();
  take_kept(*builder.capture);
  driver::captures_under_way.fetch_sub(1, std::memory_order_relaxed);
  release_after_captures();
}

void remove_unwanted(GraphBuilderResource& builder) noexcept {
  for (const CUgraphNode node : builder.capture->unwanted) {
    {
      const GraphChange change;
      driver::release<&Api::cuGraphDestroyNode>(node);
    }
    const auto known = builder.graph->records.find(node);
    if (known != builder.graph->records.end()) detach(builder.graph->handle, known->second->attachment);
    builder.graph->forget(node);
  }
}

// The stream that the capture began on, which is there also when the builder's handle of it was closed.
CUstream origin(const GraphBuilderResource& builder) { return builder.capture->streams.front()->handle; }

// Nothing when the driver does not tell.
std::optional<CUstreamCaptureStatus> capture_status(CUstream stream) noexcept {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  if (!driver::try_release<&Api::cuStreamIsCapturing>(stream, &status)) return {};
  return status;
}

// The driver destroys the graph of a capture that ends in an error.
void forget_captured(GraphBuilderResource& builder) noexcept {
  if (builder.kind == Kind::primary && builder.graph) {
    builder.graph->invalidate();
    builder.graph.reset();
  }
  leave_capture(builder, State::not_started);
  if (builder.kind == Kind::body) {
    const std::scoped_lock lock(builder.outer->mutex);
    builder.is_broken_body = builder.outer->has_broken_body = true;
    if (builder.capture->has_destroyed_body) builder.outer->has_destroyed_body = true;
  }
  destroy_deferred();
}

void leave_streams_to_driver(const GraphBuilderResource& builder) noexcept {
  for (const auto& stream : builder.capture->streams) leave_to_driver(stream->handle);
}

// Takes a graph that nobody may destroy what it keeps; the rest of it is the driver's for ever.
void leave_graph_to_driver(GraphResource& graph, std::vector<GraphAttachment> kept) noexcept {
  for (const auto& [node, record] : graph.records) detach(graph.handle, record->attachment);
  for (GraphAttachment& attachment : kept) detach(graph.handle, attachment);
  graph.invalidate();
}

// The graph of an abandoned capture is destroyed with its last handle, of which builders of its bodies may have some.
void take_abandoned(GraphBuilderResource& builder, CUgraph graph) noexcept {
  builder.graph->adopt(graph);
  if (builder.capture->has_destroyed_body) {
    leave_graph_to_driver(*builder.graph, take_kept(*builder.capture));
  } else {
    builder.graph->ownership = GraphResource::Ownership::ours;
  }
  builder.graph.reset();
}

// A capture whose result nobody wants.
void abandon_capture(GraphBuilderResource& builder) noexcept {
  while (!builder.capture->bodies.empty()) abandon_capture(*builder.capture->bodies.back());
  const CUstream stream = origin(builder);
  if (builder.capture->has_destroyed_body && capture_status(stream) != CU_STREAM_CAPTURE_STATUS_ACTIVE) {
    leave_streams_to_driver(builder);
    return forget_captured(builder);
  }
  CUgraph graph = nullptr;
  const driver::Released ended = [&] {
    const GraphChange change;
    return driver::try_release<&Api::cuStreamEndCapture>(stream, &graph);
  }();
  if (ended && builder.kind == Kind::primary) take_abandoned(builder, graph);
  if (!ended) {
    if (driver::is_capture_error(ended.code)) {
      builder.capture->has_destroyed_body = true;  // which is this one, where it is a body
    } else {
      ended.log();
    }
    if (capture_status(stream) != CU_STREAM_CAPTURE_STATUS_NONE) leave_streams_to_driver(builder);
  }
  forget_captured(builder);
}

std::string what_broke_it(const GraphBuilderResource& builder, CUresult code) {
  if (code == CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD)
    return "; the thread that began it must end it, unless its mode is relaxed: it has ended now, and its graph is "
           "lost";
  if (code == CUDA_ERROR_STREAM_CAPTURE_UNJOINED)
    return "; a stream takes part in it that was not joined: join() what split() made, or make the stream wait for it";
  const driver::CaptureFailure last = driver::last_capture_failure();
  if (last.count == builder.failures_before_begin) return "; no call of this library broke it, so other code did";
  return text("; what broke it: ", last.text);
}

}  // namespace

CapturePoint capture_point(const Stream& stream) {
  CapturePoint point;
  cuuint64_t id = 0;
  const CUgraphNode* nodes = nullptr;
  const CUgraphEdgeData* edges = nullptr;
  std::size_t count = 0;
  const auto queue = detail::Access::keep(stream);
  driver::call<&Api::cuStreamGetCaptureInfo>(Doing{[&] { return text("asking what ", stream, " captures"); }},
                                             queue->handle, &point.status, &id, &point.graph, &nodes, &edges, &count);
  if (point.status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return {.status = point.status};
  point.after.assign(nodes, nodes + count);
  if (edges) point.edges.assign(edges, edges + count);
  return point;
}

void begin_capture(GraphBuilderResource& builder, CaptureMode mode) {
  const driver::CaptureFailure before = driver::last_capture_failure();
  const Doing doing{[&] { return text("beginning to capture ", builder.stream); }};
  auto capture = std::make_shared<detail::CaptureInProgress>();
  capture->streams.push_back(detail::Access::keep(builder.stream));
  std::list<GraphBuilderResource*> body{&builder};  // first: nothing may fail once the driver captures
  const CUstream stream = capture->streams.front()->handle;
  if (builder.kind == Kind::body) {
    if (!builder.graph->handle)
      throw WrongState(text("beginning to capture ", builder.stream, ": the graph that this is a body of is gone"));
    // The driver has destroyed its graph.
    if (builder.is_broken_body)
      throw WrongState(text("beginning to capture ", builder.stream,
                            ": the capture of this conditional body broke; build the graph anew that it is a body of"));
    const GraphChange change;
    driver::call<&Api::cuStreamBeginCaptureToGraph>(
        doing, stream, builder.graph->handle, static_cast<const CUgraphNode*>(nullptr),
        static_cast<const CUgraphEdgeData*>(nullptr), std::size_t{0}, native_mode(mode));
  } else {
    builder.graph = make_deferrable<GraphResource>(nullptr, GraphResource::Ownership::foreign);
    driver::call<&Api::cuStreamBeginCapture>(doing, stream, native_mode(mode));
  }
  builder.failures_before_begin = before.count;
  builder.capture = std::move(capture);
  builder.state = State::capturing;
  if (builder.outer) {
    const std::scoped_lock lock(builder.outer->mutex);
    builder.outer->bodies.splice(builder.outer->bodies.end(), body);
  }
  driver::captures_under_way.fetch_add(1, std::memory_order_relaxed);
  if (builder.kind == Kind::body) return;
  try {
    builder.graph->adopt(capture_point(builder.stream).graph);
  } catch (...) {
    abandon_capture(builder);
    throw;
  }
}

void check_bodies(GraphBuilderResource& builder) {
  const detail::CaptureInProgress& capture = *builder.capture;
  if (!capture.bodies.empty())
    throw WrongState(text("end_building: graph builder on ", builder.stream,
                          " has a conditional body that is still building, on ", capture.bodies.front()->stream,
                          "; end_building() of that one comes first"));
  if (capture.has_lost_body) {
    abandon_capture(builder);
    throw WrongState(text("end_building: a conditional body of graph builder on ", builder.stream,
                          " was closed before it had ended building: the capture has ended now, and its graph is "
                          "lost; end_building() of bodies comes first"));
  }
  if (capture.has_broken_body) {
    abandon_capture(builder);
    throw WrongState(text("end_building: the capture of a conditional body of graph builder on ", builder.stream,
                          " broke: the capture has ended now, and its graph is lost"));
  }
}

void end_capture(GraphBuilderResource& builder) {
  CUgraph graph = nullptr;
  const CUresult result = [&] {
    const GraphChange change;
    return driver::try_call<&Api::cuStreamEndCapture>(origin(builder), &graph);
  }();
  if (result == CUDA_SUCCESS) {
    remove_unwanted(builder);
    leave_capture(builder, State::ended);
    if (builder.kind == Kind::primary) builder.graph->ownership = GraphResource::Ownership::ours;
    return;
  }
  if (!driver::is_capture_error(result)) {
    driver::detail::raise(result, driver::detail::index_of_cuStreamEndCapture,
                          text("ending the capture of ", builder.stream));
  }
  const std::string reason = what_broke_it(builder, result);
  builder.capture->has_destroyed_body = true;  // which is this one, where it is a body
  forget_captured(builder);
  driver::detail::raise(result, driver::detail::index_of_cuStreamEndCapture,
                        text("ending the capture of ", builder.stream, reason));
}

std::shared_ptr<NodeRecord> add_captured_node(GraphBuilderResource& builder, const char* doing, NodeRequest& request,
                                              const std::function<void(const NodeRecord&)>& complete) {
  const CapturePoint point = capture_point(builder.stream);
  if (point.status != CU_STREAM_CAPTURE_STATUS_ACTIVE || !builder.is_capturing())
    throw WrongState(text(doing, " on ", builder.stream, ": nothing is captured; begin_building() comes first"));
  const std::scoped_lock lock(builder.capture->mutex);
  builder.capture->unwanted.reserve(builder.capture->unwanted.size() + 1);
  std::shared_ptr<NodeRecord> node =
      add_node(*builder.graph, point.after, request, point.edges, &builder.capture->unwanted);
  try {
    if (complete) complete(*node);
    const GraphChange change;
    driver::call<&Api::cuStreamUpdateCaptureDependencies>(Doing{[&] { return text(doing, " on ", builder.stream); }},
                                                          builder.stream.handle(), &node->handle,
                                                          static_cast<const CUgraphEdgeData*>(nullptr), std::size_t{1},
                                                          static_cast<unsigned>(CU_STREAM_SET_CAPTURE_DEPENDENCIES));
  } catch (...) {
    builder.capture->unwanted.push_back(node->handle);
    throw;
  }
  return node;
}

}  // namespace cuprum::core

namespace cuprum::inline CUPRUM_ABI::detail {

GraphBuilderResource::~GraphBuilderResource() {
  if (state == State::capturing && kind != Kind::forked) core::abandon_capture(*this);
  if (!is_broken_body) return;
  const std::scoped_lock lock(outer->mutex);
  outer->has_lost_body = true;
}

}  // namespace cuprum::inline CUPRUM_ABI::detail
