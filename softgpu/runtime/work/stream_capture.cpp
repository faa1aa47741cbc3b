#include "softgpu/runtime/work/stream_capture.hpp"

#include <mutex>
#include <utility>
#include <vector>

#include "softgpu/runtime/base/error.hpp"

namespace softgpu::runtime {
namespace {

// The captures under way. Most programs have none, which the count says without a lock.
struct Captures {
  std::atomic<std::size_t> count{0};
  std::mutex mutex;
  std::vector<std::shared_ptr<StreamCapture>> list;

  static Captures& all() {
    static auto& captures = *new Captures;
    return captures;
  }
  void add(std::shared_ptr<StreamCapture> capture) {
    const std::scoped_lock lock(mutex);
    list.push_back(std::move(capture));
    count = list.size();
  }
  void remove(const StreamCapture& capture) {
    const std::scoped_lock lock(mutex);
    std::erase_if(list, [&](const auto& other) { return other.get() == &capture; });
    count = list.size();
  }
  // Throws, and makes the captures invalid, when there are any for which `conflicts(capture)`.
  template <typename Predicate>
  void refuse_conflicts(Predicate&& conflicts, Conflict conflict, CUresult code, const char* message) {
    if (count.load(std::memory_order_acquire) == 0) return;
    const std::scoped_lock lock(mutex);
    bool any = false;
    for (const auto& capture : list) {
      if (!conflicts(*capture)) continue;
      any = true;
      if (conflict == Conflict::ends_capture) capture->invalidate();
    }
    require(!any, code, message);
  }
};

CUstreamCaptureMode& thread_mode() {
  thread_local CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  return mode;
}

}  // namespace

void StreamCapture::announce() { Captures::all().add(shared_from_this()); }

void StreamCapture::withdraw() { Captures::all().remove(*this); }

void StreamCapture::require_valid() const {
  require(valid(), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "the capture has become invalid");
}

void StreamCapture::refuse(CUresult code, const char* message) {
  invalidate();
  throw Failure(code, message);
}

bool StreamCapture::may_end_here() const {
  return mode_ == CU_STREAM_CAPTURE_MODE_RELAXED || thread_ == std::this_thread::get_id();
}

bool StreamCapture::forbids_unsafe_calls(CUstreamCaptureMode mode) const {
  if (mode == CU_STREAM_CAPTURE_MODE_RELAXED) return false;
  if (thread_ == std::this_thread::get_id()) return mode_ != CU_STREAM_CAPTURE_MODE_RELAXED;
  return mode == CU_STREAM_CAPTURE_MODE_GLOBAL && mode_ == CU_STREAM_CAPTURE_MODE_GLOBAL;
}

void require_no_blocking_capture(const Context& context, Conflict conflict) {
  Captures::all().refuse_conflicts(
      [&](const StreamCapture& capture) { return capture.has_blocking_stream_of(context); }, conflict,
      CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, "the legacy default stream would wait for a stream that is captured");
}

void require_no_capture(const Context& context, std::uint64_t green) {
  Captures::all().refuse_conflicts([&](const StreamCapture& capture) { return capture.has_stream_of(context, green); },
                                   Conflict::ends_capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                                   "a stream of the context is captured, and its work is not done");
}

void require_unsafe_calls_allowed() {
  const CUstreamCaptureMode mode = thread_mode();
  Captures::all().refuse_conflicts([&](const StreamCapture& capture) { return capture.forbids_unsafe_calls(mode); },
                                   Conflict::ends_capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                                   "not allowed during a capture that is not CU_STREAM_CAPTURE_MODE_RELAXED");
}

CUstreamCaptureMode exchange_capture_mode(CUstreamCaptureMode mode) { return std::exchange(thread_mode(), mode); }

}  // namespace softgpu::runtime
