// Capturing streams.
#include "softgpu/runtime/graphs/capture.hpp"

#include "softgpu/api/graphs/graphs.hpp"
#include "softgpu/api/work/streams.hpp"

namespace softgpu::api {
namespace {

using runtime::Capture;
using runtime::Stream;

// The legacy stream has nothing to do with captures, unless a stream that it waits for is captured.
std::shared_ptr<Stream> find_stream_to_ask(CUstream handle, NullStream null) {
  auto stream = find_stream(handle, null);
  if (stream->kind() == runtime::StreamKind::legacy)
    runtime::require_no_blocking_capture(stream->context(), runtime::Conflict::harmless);
  return stream;
}

struct CaptureInfo {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  cuuint64_t id = 0;
  CUgraph graph = nullptr;
  Capture::Report none;
  const Capture::Report* frontier = &none;
};

void describe(Stream& stream, CaptureInfo& info) {
  const auto capture = Capture::of(stream);
  if (capture == nullptr) return;
  info.status = capture->status();
  info.id = capture->id();
  if (info.status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return;
  info.graph = capture->graph()->handle();
  info.frontier = &capture->report(stream);
}

template <typename Value>
void give(Value* target, const Value& value) {
  if (target != nullptr) *target = value;
}

void capture_info(CUstream stream, NullStream null, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
                  const CUgraphNode** dependencies, const CUgraphEdgeData** edges, size_t* count) {
  require_pointer(status);
  CaptureInfo info;
  describe(*find_stream_to_ask(stream, null), info);
  require(dependencies == nullptr || edges != nullptr || !info.frontier->has_edge_data, CUDA_ERROR_LOSSY_QUERY,
          "the dependencies have data that this form does not give");
  const bool any = !info.frontier->nodes.empty();
  *status = info.status;
  give(id, info.id);
  give(graph, info.graph);
  give(dependencies, any ? info.frontier->nodes.data() : nullptr);
  give(edges, any ? info.frontier->edges.data() : nullptr);
  give(count, info.frontier->nodes.size());
}

void begin(CUstream stream, NullStream null, CUstreamCaptureMode mode) {
  Capture::begin(Driver::get().graphs(), *find_stream(stream, null), nullptr, {}, mode);
}

void update_dependencies(CUstream stream, NullStream null, const CUgraphNode* nodes, const CUgraphEdgeData* edges,
                         size_t count, unsigned flags) {
  require(flags == CU_STREAM_ADD_CAPTURE_DEPENDENCIES || flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES,
          CUDA_ERROR_INVALID_VALUE, "dependencies are added or set");
  const auto found = find_stream(stream, null);
  const auto capture = Capture::of(*found);
  require(capture != nullptr, CUDA_ERROR_ILLEGAL_STATE, "the stream is not captured");
  capture->change_frontier(*found, dependencies_of(nodes, edges, count),
                           flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES ? Capture::Change::set : Capture::Change::add);
}

}  // namespace
}  // namespace softgpu::api

using namespace softgpu::api;

extern "C" {

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuStreamBeginCapture, _ptsz, (CUstream stream),
                              [&] { begin(stream, null_stream, CU_STREAM_CAPTURE_MODE_GLOBAL); })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuStreamBeginCapture_v2, _ptsz, (CUstream stream, CUstreamCaptureMode mode),
                              [&] { begin(stream, null_stream, mode); })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuStreamBeginCaptureToGraph, _ptsz,
                              (CUstream stream, CUgraph graph, const CUgraphNode* dependencies,
                               const CUgraphEdgeData* edges, size_t count, CUstreamCaptureMode mode),
                              [&] {
                                const auto found = find_stream(stream, null_stream);
                                const auto target = find_graph(graph);
                                auto after = dependencies_of(dependencies, edges, count);
                                for (const auto& dependency : after)
                                  require(&dependency.node->graph() == target.get(), CUDA_ERROR_INVALID_VALUE,
                                          "a node of another graph");
                                Capture::begin(Driver::get().graphs(), *found, target, std::move(after), mode);
                              })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuStreamEndCapture, _ptsz, (CUstream stream, CUgraph* graph), [&] {
  require_pointer(graph);
  *graph = nullptr;
  *graph = Capture::end(*find_stream(stream, null_stream))->handle();
})

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuStreamIsCapturing, _ptsz, (CUstream stream, CUstreamCaptureStatus* status), [&] {
  capture_info(stream, null_stream, status, nullptr, nullptr, nullptr, nullptr, nullptr);
})

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuStreamGetCaptureInfo, _ptsz,
                              (CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id), [&] {
                                capture_info(stream, null_stream, status, id, nullptr, nullptr, nullptr, nullptr);
                              })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuStreamGetCaptureInfo_v2, _ptsz,
                              (CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
                               const CUgraphNode** dependencies, size_t* count),
                              [&] {
                                capture_info(stream, null_stream, status, id, graph, dependencies, nullptr, count);
                              })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuStreamGetCaptureInfo_v3, _ptsz,
                              (CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
                               const CUgraphNode** dependencies, const CUgraphEdgeData** edges, size_t* count),
                              [&] { capture_info(stream, null_stream, status, id, graph, dependencies, edges, count); })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuStreamUpdateCaptureDependencies, _ptsz,
                              (CUstream stream, CUgraphNode* dependencies, size_t count, unsigned flags),
                              [&] { update_dependencies(stream, null_stream, dependencies, nullptr, count, flags); })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuStreamUpdateCaptureDependencies_v2, _ptsz,
                              (CUstream stream, CUgraphNode* dependencies, const CUgraphEdgeData* edges, size_t count,
                               unsigned flags),
                              [&] { update_dependencies(stream, null_stream, dependencies, edges, count, flags); })

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  return call(__func__, [&] {
    require_pointer(mode);
    require(*mode >= CU_STREAM_CAPTURE_MODE_GLOBAL && *mode <= CU_STREAM_CAPTURE_MODE_RELAXED, CUDA_ERROR_INVALID_VALUE,
            "no such capture mode");
    *mode = runtime::exchange_capture_mode(*mode);
  });
}

}  // extern "C"
