#include "core/stream/captures.hpp"

#include <mutex>
#include <vector>

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

namespace {

std::mutex left_mutex;
std::vector<CUstream> left_streams;
std::atomic<bool> some_are_left{false};  // nearly never, so that destroying streams costs nothing more

}  // namespace

void leave_to_driver(CUstream stream) noexcept {
  const std::scoped_lock lock(left_mutex);
  left_streams.push_back(stream);
  some_are_left = true;
}

bool is_left_to_driver(CUstream stream) noexcept {
  if (!some_are_left.load(std::memory_order_acquire)) [[likely]]
    return false;
  const std::scoped_lock lock(left_mutex);
  return std::erase(left_streams, stream) != 0;
}

}  // namespace cuprum::core
