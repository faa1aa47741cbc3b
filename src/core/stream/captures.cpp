#include "core/stream/captures.hpp"

#include <list>
#include <mutex>
#include <vector>

#include "core/base/context.hpp"
#include "driver/capture_failures.hpp"
#include "driver/release.hpp"

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

namespace {

struct Release {
  detail::Kept<detail::StreamResource> stream;
  std::function<void()> call;
};

std::mutex waiting_mutex;
// Never destroyed: buffers go until the end of the process.
std::list<Release>& waiting_releases() {
  static auto* const releases = new std::list<Release>;
  return *releases;
}

}  // namespace

bool takes_part_in_capture(const Queue& stream) noexcept {
  ContextGuard guard(stream.context, std::nothrow);
  if (!guard.entered()) return false;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  const driver::Released asked = driver::try_release<&driver::Api::cuStreamIsCapturing>(stream.handle, &status);
  if (asked) return status != CU_STREAM_CAPTURE_STATUS_NONE;
  const bool is_of_captures = driver::is_capture_error(asked.code);
  if (!is_of_captures) asked.log();
  return is_of_captures;
}

void after_capture(const detail::Kept<detail::StreamResource>& stream, std::function<void()> release) {
  if (!takes_part_in_capture(*stream)) return release();
  {
    std::list<Release> one;
    one.push_back({stream, std::move(release)});
    const std::scoped_lock lock(waiting_mutex);
    waiting_releases().splice(waiting_releases().end(), one);
  }
  if (!takes_part_in_capture(*stream)) release_after_captures();  // another thread has ended it just now
}

void release_after_captures() noexcept {
  std::list<Release> ready;
  {
    const std::scoped_lock lock(waiting_mutex);
    std::list<Release>& waiting = waiting_releases();
    for (auto next = waiting.begin(); next != waiting.end();) {
      const auto item = next++;
      if (!takes_part_in_capture(*item->stream)) ready.splice(ready.end(), waiting, item);
    }
  }
  for (const Release& release : ready) release.call();
}

}  // namespace cuprum::core
