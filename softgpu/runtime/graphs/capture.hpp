// Streams whose operations become nodes of a graph instead of being done.
//
// A capture starts in one stream and spreads to others that wait for events recorded in it. Every captured stream has a
// frontier: the nodes that its next operation comes after. Before the capture ends, in the stream where it began, the
// others' work has to be joined to that stream's.
//
// What can't become a node, or would look at work that will never be done, ends the capture: it stays invalid until the
// program ends it.
#pragma once

#include <cuda.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "softgpu/runtime/graphs/graph.hpp"

namespace softgpu::runtime {

class Stream;

// Thread-safe.
class Capture : public std::enable_shared_from_this<Capture> {
 public:
  using Frontier = std::vector<Dependency>;
  // A place in a captured stream, as an event remembers it.
  struct Point {
    std::shared_ptr<Capture> capture;
    Frontier frontier;
  };

  // `graph`: null for a new one. Throws CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED for a legacy stream and
  // CUDA_ERROR_ILLEGAL_STATE for one that is captured.
  static void begin(Stream& stream, std::shared_ptr<Graph> graph, Frontier after, CUstreamCaptureMode mode);
  // The graph. Throws why there is none; whether the stream is captured any longer depends on that.
  static std::shared_ptr<Graph> end(Stream& stream);

  std::shared_ptr<GraphNode> add(Stream& stream, NodeWork work);
  Point point(Stream& stream);
  // What `stream` does next comes after that point; it is captured from here on.
  void join(Stream& stream, const Frontier& point);
  // Replaces the stream's frontier, or adds to it.
  enum class Change { set, add };
  void change_frontier(Stream& stream, Frontier frontier, Change change);
  // A stream that is destroyed. Its work still has to be joined; that of the stream where the capture began can't be.
  void forget(Stream& stream);

  std::uint64_t id() const { return id_; }
  const std::shared_ptr<Graph>& graph() const { return graph_; }
  CUstreamCaptureStatus status() const;
  bool ended() const { return ended_.load(); }
  // The frontier as cuStreamGetCaptureInfo gives it: valid until the stream is used again.
  struct Report {
    std::vector<CUgraphNode> nodes;
    std::vector<CUgraphEdgeData> edges;
    bool has_edge_data = false;  // beyond what nodes say
  };
  const Report& report(Stream& stream);

  void require_valid() const;  // throws CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
  void invalidate() { invalid_.store(true); }
  // Something that makes the capture invalid.
  [[noreturn]] void refuse(CUresult code, const char* message);

  // What the conflicts below ask.
  bool has_blocking_stream_of(const Context& context) const;
  bool has_stream_of(const Context& context) const;
  bool forbids_unsafe_calls(CUstreamCaptureMode mode) const;

 private:
  struct Member {
    Frontier frontier;
    Report report;
  };
  Capture(Stream& origin, std::shared_ptr<Graph> graph, CUstreamCaptureMode mode, bool owns_graph);
  Member& member(Stream& stream);
  void finish();
  bool all_joined() const;

  const std::uint64_t id_;
  Stream* const origin_;
  const std::shared_ptr<Graph> graph_;
  const bool owns_graph_;
  const CUstreamCaptureMode mode_;
  const std::thread::id thread_ = std::this_thread::get_id();
  std::atomic<bool> invalid_{false}, ended_{false};
  mutable std::mutex mutex_;
  std::map<Stream*, Member> members_;
  Frontier of_destroyed_;
};

// Makes an operation of a captured stream a node.
void capture_work(Stream& stream, NodeWork work);

enum class Conflict { ends_capture, harmless };
// The legacy stream would wait for streams that are captured: throws CUDA_ERROR_STREAM_CAPTURE_IMPLICIT.
void require_no_blocking_capture(const Context& context, Conflict conflict);
// Throws CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED when a stream of the context is captured, for what waits for all of
// them.
void require_no_capture(const Context& context);
// Throws CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED where a capture, by its mode and the thread's, does not allow what it
// can't see, such as cuMemAlloc.
void require_unsafe_calls_allowed();
// The calling thread's mode, as cuThreadExchangeStreamCaptureMode sets it. Returns the one before.
CUstreamCaptureMode exchange_capture_mode(CUstreamCaptureMode mode);

}  // namespace softgpu::runtime
