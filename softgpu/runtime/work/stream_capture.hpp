// What streams and events know of a capture. What becomes of the operations is said elsewhere: graphs/capture.hpp makes
// nodes of them.
//
// What can't be captured, or would look at work that will never be done, ends the capture: it stays invalid until the
// program ends it.
#pragma once

#include <cuda.h>

#include <atomic>
#include <memory>
#include <thread>

namespace softgpu::runtime {

class Context;
class Stream;
class StreamCapture;

// A place in a captured stream, as an event remembers it.
struct CapturePoint {
  explicit CapturePoint(std::shared_ptr<StreamCapture> in) : capture(std::move(in)) {}
  CapturePoint(const CapturePoint&) = delete;
  CapturePoint& operator=(const CapturePoint&) = delete;
  virtual ~CapturePoint() = default;

  const std::shared_ptr<StreamCapture> capture;
};

// Thread-safe.
class StreamCapture : public std::enable_shared_from_this<StreamCapture> {
 public:
  StreamCapture(const StreamCapture&) = delete;
  StreamCapture& operator=(const StreamCapture&) = delete;
  virtual ~StreamCapture() = default;

  virtual std::shared_ptr<const CapturePoint> point(Stream& stream) = 0;
  // What `stream` does next comes after that point; it is captured from here on.
  virtual void join(Stream& stream, const CapturePoint& point) = 0;
  // A stream that is destroyed.
  virtual void forget(Stream& stream) = 0;
  virtual bool has_blocking_stream_of(const Context& context) const = 0;
  // `green`: only those of the green context with this number; 0: any.
  virtual bool has_stream_of(const Context& context, std::uint64_t green) const = 0;

  bool valid() const { return !invalid_.load(); }
  void require_valid() const;  // throws CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
  void invalidate() { invalid_.store(true); }
  // Something that makes the capture invalid.
  [[noreturn]] void refuse(CUresult code, const char* message);
  // Whether it, by its mode and that of the calling thread, forbids what it can't see.
  bool forbids_unsafe_calls(CUstreamCaptureMode thread_mode) const;

 protected:
  explicit StreamCapture(CUstreamCaptureMode mode) : mode_(mode) {}
  // From the first to the second it is one of those under way, which the conflicts below ask.
  void announce();
  void withdraw();
  // Whether the calling thread may end it.
  bool may_end_here() const;

 private:
  const CUstreamCaptureMode mode_;
  const std::thread::id thread_ = std::this_thread::get_id();
  std::atomic<bool> invalid_{false};
};

enum class Conflict { ends_capture, harmless };
// The legacy stream would wait for streams that are captured: throws CUDA_ERROR_STREAM_CAPTURE_IMPLICIT.
void require_no_blocking_capture(const Context& context, Conflict conflict);
// Throws CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED when a stream of the context, or only of that green context, is
// captured, for what waits for all of them.
void require_no_capture(const Context& context, std::uint64_t green = 0);
// Throws CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED where a capture, by its mode and the thread's, does not allow what it
// can't see, such as cuMemAlloc.
void require_unsafe_calls_allowed();
// The calling thread's mode, as cuThreadExchangeStreamCaptureMode sets it. Returns the one before.
CUstreamCaptureMode exchange_capture_mode(CUstreamCaptureMode mode);

}  // namespace softgpu::runtime
