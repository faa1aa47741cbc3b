// Captures that make nodes of a graph of what streams are given, instead of doing it.
//
// A capture starts in one stream and spreads to others that wait for events recorded in it. Every captured stream has a
// frontier: the nodes that its next operation comes after. Before the capture ends, in the stream where it began, the
// others' work has to be joined to that stream's.
#pragma once

#include <cuda.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "softgpu/runtime/graphs/graph.hpp"
#include "softgpu/runtime/work/stream_capture.hpp"

namespace softgpu::runtime {

class Stream;

// Thread-safe.
class Capture final : public StreamCapture {
 public:
  using Frontier = std::vector<Dependency>;
  // That of a stream; null when it is not captured.
  static std::shared_ptr<Capture> of(const Stream& stream);

  // Whether there is one that began in this stream, and has not ended.
  static bool began_in(const Stream& stream);

  // `graph`: null for a new one. Throws CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED for a legacy stream and
  // CUDA_ERROR_ILLEGAL_STATE for one that is captured.
  static void begin(GraphServices& services, Stream& stream, std::shared_ptr<Graph> graph, Frontier after,
                    CUstreamCaptureMode mode);
  // The graph. Throws why there is none; whether the stream is captured any longer depends on that.
  static std::shared_ptr<Graph> end(Stream& stream);

  std::shared_ptr<GraphNode> add(Stream& stream, NodeWork work);
  std::shared_ptr<const CapturePoint> point(Stream& stream) override;
  void join(Stream& stream, const CapturePoint& point) override;
  // Replaces the stream's frontier, or adds to it.
  enum class Change { set, add };
  void change_frontier(Stream& stream, Frontier frontier, Change change);
  // The stream's work still has to be joined; that of the stream where the capture began can't be.
  void forget(Stream& stream) override;
  bool has_blocking_stream_of(const Context& context) const override;
  bool has_stream_of(const Context& context, std::uint64_t green) const override;

  std::uint64_t id() const { return id_; }
  const std::shared_ptr<Graph>& graph() const { return graph_; }
  CUstreamCaptureStatus status() const;
  // The frontier as cuStreamGetCaptureInfo gives it: valid until the stream is used again.
  struct Report {
    std::vector<CUgraphNode> nodes;
    std::vector<CUgraphEdgeData> edges;
    bool has_edge_data = false;  // beyond what nodes say
  };
  const Report& report(Stream& stream);

 private:
  struct Member {
    Frontier frontier;
    Report report;
  };
  Capture(Stream& origin, std::shared_ptr<Graph> graph, CUstreamCaptureMode mode, bool owns_graph);
  Member& member(Stream& stream);
  void lose_graph();
  void finish();
  bool all_joined() const;

  const std::uint64_t id_;
  Stream* const origin_;
  const std::shared_ptr<Graph> graph_;
  const bool owns_graph_;
  std::atomic<bool> ended_{false};
  mutable std::mutex mutex_;
  std::map<Stream*, Member> members_;
  Frontier of_destroyed_;
};

// Makes an operation of a captured stream a node.
void capture_work(Stream& stream, NodeWork work);

}  // namespace softgpu::runtime
