#include "softgpu/runtime/graphs/capture.hpp"

#include <algorithm>
#include <unordered_set>

#include "softgpu/runtime/base/error.hpp"
#include "softgpu/runtime/work/context.hpp"
#include "softgpu/runtime/work/stream.hpp"

namespace softgpu::runtime {
namespace {

std::uint64_t next_capture_id() {
  static std::atomic<std::uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

struct Point final : CapturePoint {
  Point(std::shared_ptr<StreamCapture> in, Capture::Frontier at)
      : CapturePoint(std::move(in)), frontier(std::move(at)) {}
  const Capture::Frontier frontier;
};

void add_missing(Capture::Frontier& frontier, const Capture::Frontier& more) {
  for (const Dependency& dependency : more)
    if (std::none_of(frontier.begin(), frontier.end(), [&](const Dependency& d) { return d.node == dependency.node; }))
      frontier.push_back(dependency);
}

// A kernel that may start before those before it have ended.
bool starts_early(const NodeWork& work) {
  const auto* kernel = std::get_if<KernelWork>(&work);
  return kernel != nullptr &&
         std::any_of(kernel->attributes.begin(), kernel->attributes.end(), [](const CUlaunchAttribute& attribute) {
           return attribute.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION &&
                  attribute.value.programmaticStreamSerializationAllowed != 0;
         });
}

void make_programmatic(Capture::Frontier& frontier) {
  for (auto& [node, data] : frontier)
    if (node->type() == CU_GRAPH_NODE_TYPE_KERNEL)
      data = {CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC, 0, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC, {}};
}

}  // namespace

Capture::Capture(Stream& origin, std::shared_ptr<Graph> graph, CUstreamCaptureMode mode, bool owns_graph)
    : StreamCapture(mode),
      id_(next_capture_id()),
      origin_(&origin),
      graph_(std::move(graph)),
      owns_graph_(owns_graph) {}

std::shared_ptr<Capture> Capture::of(const Stream& stream) {
  return std::static_pointer_cast<Capture>(stream.capture());
}

void Capture::begin(GraphServices& services, Stream& stream, std::shared_ptr<Graph> graph, Frontier after,
                    CUstreamCaptureMode mode) {
  require(mode >= CU_STREAM_CAPTURE_MODE_GLOBAL && mode <= CU_STREAM_CAPTURE_MODE_RELAXED, CUDA_ERROR_INVALID_VALUE,
          "no such capture mode");
  require(stream.kind() != StreamKind::legacy, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
          "the legacy default stream can't be captured");
  require(!stream.is_captured(), CUDA_ERROR_ILLEGAL_STATE, "the stream is captured already");
  const bool owns_graph = graph == nullptr;
  if (owns_graph) graph = Graph::create(services);
  const std::shared_ptr<Capture> capture(new Capture(stream, std::move(graph), mode, owns_graph));
  capture->members_[&stream].frontier = std::move(after);
  capture->graph_->count_capture(1);
  capture->announce();
  stream.set_capture(capture);
}

std::shared_ptr<Graph> Capture::end(Stream& stream) {
  const auto capture = of(stream);
  require(capture != nullptr, CUDA_ERROR_ILLEGAL_STATE, "the stream is not captured");
  require(capture->origin_ == &stream, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "the capture began in another stream");
  const bool own_thread = capture->may_end_here(), valid = capture->valid(), joined = capture->all_joined();
  capture->finish();
  if (own_thread && valid && joined) return capture->graph_;
  capture->lose_graph();
  require(own_thread, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, "the capture began in another thread");
  require(valid, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "the capture became invalid before it ended");
  throw Failure(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "work of another stream was captured, but not joined");
}

// NVIDIA's driver destroys the body of a conditional node, too, and then does not survive that the node is destroyed.
void Capture::lose_graph() {
  if (!owns_graph_ && !graph_->is_child()) return;
  graph_->drop_handles();
  graph_->user_objects() = {};
}

void Capture::finish() {
  std::map<Stream*, Member> members;
  {
    const std::scoped_lock lock(mutex_);
    ended_ = true;
    members.swap(members_);
  }
  graph_->count_capture(-1);
  for (const auto& [stream, member] : members) stream->set_capture(nullptr);
  withdraw();
}

// Whether every stream's frontier comes before the origin's.
bool Capture::all_joined() const {
  const std::scoped_lock lock(mutex_);
  std::unordered_set<const GraphNode*> joined;
  std::vector<const GraphNode*> open;
  const auto visit = [&](const GraphNode* node) {
    if (joined.insert(node).second) open.push_back(node);
  };
  for (const Dependency& dependency : members_.at(origin_).frontier) visit(dependency.node.get());
  while (!open.empty()) {
    const GraphNode* node = open.back();
    open.pop_back();
    for (const GraphEdge& edge : node->dependencies()) visit(edge.node);
  }
  const auto is_joined = [&](const Frontier& frontier) {
    return std::all_of(frontier.begin(), frontier.end(),
                       [&](const Dependency& dependency) { return joined.contains(dependency.node.get()); });
  };
  return is_joined(of_destroyed_) && std::all_of(members_.begin(), members_.end(),
                                                 [&](const auto& entry) { return is_joined(entry.second.frontier); });
}

Capture::Member& Capture::member(Stream& stream) {
  require_valid();
  const auto it = members_.find(&stream);
  require(it != members_.end(), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "the capture has ended");
  return it->second;
}

std::shared_ptr<GraphNode> Capture::add(Stream& stream, NodeWork work) {
  const std::scoped_lock lock(mutex_);
  Frontier& frontier = member(stream).frontier;
  if (starts_early(work)) make_programmatic(frontier);
  auto node = graph_->add(std::move(work), frontier);
  frontier.assign(1, {node, {}});
  return node;
}

std::shared_ptr<const CapturePoint> Capture::point(Stream& stream) {
  const std::scoped_lock lock(mutex_);
  return std::make_shared<Point>(shared_from_this(), member(stream).frontier);
}

void Capture::join(Stream& stream, const CapturePoint& point) {
  require(!ended_, CUDA_ERROR_CAPTURED_EVENT, "the event was recorded in a capture that has ended");
  require_valid();
  if (const auto other = stream.capture(); other != nullptr && other.get() != this) {
    other->invalidate();
    refuse(CUDA_ERROR_STREAM_CAPTURE_MERGE, "the stream is captured into another graph");
  }
  if (stream.kind() == StreamKind::legacy)
    refuse(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, "the legacy default stream can't be captured");
  const std::scoped_lock lock(mutex_);
  add_missing(members_[&stream].frontier, static_cast<const Point&>(point).frontier);
  stream.set_capture(shared_from_this());
}

void Capture::change_frontier(Stream& stream, Frontier frontier, Change change) {
  const std::scoped_lock lock(mutex_);
  for (const Dependency& dependency : frontier)
    require(&dependency.node->graph() == graph_.get(), CUDA_ERROR_INVALID_VALUE, "a node of another graph");
  Frontier& current = member(stream).frontier;
  if (change == Change::set) current.clear();
  add_missing(current, frontier);
}

bool Capture::began_in(const Stream& stream) {
  const auto capture = of(stream);
  return capture != nullptr && capture->origin_ == &stream;
}

void Capture::forget(Stream& stream) {
  if (&stream == origin_) {
    invalidate();
    finish();
    lose_graph();
    return;
  }
  const std::scoped_lock lock(mutex_);
  if (auto member = members_.extract(&stream)) add_missing(of_destroyed_, member.mapped().frontier);
}

CUstreamCaptureStatus Capture::status() const {
  return valid() ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_INVALIDATED;
}

const Capture::Report& Capture::report(Stream& stream) {
  const std::scoped_lock lock(mutex_);
  Member& captured = member(stream);
  captured.report = {};
  for (const auto& [node, data] : captured.frontier) {
    captured.report.nodes.push_back(node->handle());
    captured.report.edges.push_back(data);
    captured.report.has_edge_data |= data.from_port != 0 || data.type != 0;
  }
  return captured.report;
}

bool Capture::has_blocking_stream_of(const Context& context) const {
  const std::scoped_lock lock(mutex_);
  return std::any_of(members_.begin(), members_.end(), [&](const auto& entry) {
    return &entry.first->context() == &context && entry.first->kind() == StreamKind::blocking;
  });
}

bool Capture::has_stream_of(const Context& context, std::uint64_t green) const {
  const std::scoped_lock lock(mutex_);
  return std::any_of(members_.begin(), members_.end(), [&](const auto& entry) {
    return &entry.first->context() == &context && (green == 0 || entry.first->green_id() == green);
  });
}

void capture_work(Stream& stream, NodeWork work) {
  if (const auto capture = Capture::of(stream)) capture->add(stream, std::move(work));
}

}  // namespace softgpu::runtime
