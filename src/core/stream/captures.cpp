#include "core/stream/captures.hpp"

#include "core/base/context.hpp"

namespace cuprum::core {

// Where the driver does not answer, such as for the legacy stream while others are captured, the work that follows says
// what is wrong.
CUgraph captured_graph(const Queue& stream) {
  ContextGuard guard(stream.context);
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  cuuint64_t id = 0;
  CUgraph graph = nullptr;
  const CUgraphNode* nodes = nullptr;
  const CUgraphEdgeData* edges = nullptr;
  std::size_t count = 0;
  const CUresult result = driver::try_call<&driver::Api::cuStreamGetCaptureInfo>(stream.handle, &status, &id, &graph,
                                                                                 &nodes, &edges, &count);
  return result == CUDA_SUCCESS && status == CU_STREAM_CAPTURE_STATUS_ACTIVE ? graph : nullptr;
}

}  // namespace cuprum::core
