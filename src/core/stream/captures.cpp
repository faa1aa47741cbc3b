#include "core/stream/captures.hpp"

#include "core/base/context.hpp"
#include "driver/capture_failures.hpp"

namespace cuprum::core {

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
  // An error of captures, such as for the legacy stream while others are captured: the work that follows says what is
  // wrong.
  if (result != CUDA_SUCCESS && !driver::is_capture_error(result)) {
    driver::detail::raise(result, driver::detail::index_of_cuStreamGetCaptureInfo, "asking what a stream captures");
  }
  return result == CUDA_SUCCESS && status == CU_STREAM_CAPTURE_STATUS_ACTIVE ? graph : nullptr;
}

}  // namespace cuprum::core
