// A point of a stream, recorded once or again and again.
#pragma once

#include <cuda.h>

#include <memory>
#include <mutex>

#include "softgpu/runtime/work/op.hpp"

namespace softgpu::runtime {

struct CapturePoint;
class Context;
class InterprocessEvent;
class Stream;
struct WorkServices;

// Thread-safe.
class Event {
 public:
  // `shared`: the part that other processes have, too; null: none.
  Event(std::shared_ptr<Context> context, unsigned flags, std::shared_ptr<InterprocessEvent> shared = nullptr)
      : context_(std::move(context)), flags_(flags), shared_(std::move(shared)) {}

  // In a captured stream, a point of the capture.
  void record(Stream& stream);
  // What later work of `stream` waits for, should the event be recorded and not reached yet. An event of a capture
  // takes the stream into it.
  void make_wait(Stream& stream) const;
  // For nodes of a graph: the event is recorded with this Op, and this Op waits for what is recorded now.
  OpRef make_record_op(const void* queue);
  OpRef make_wait_op() const;

  // Throws CUDA_ERROR_CAPTURED_EVENT for one that was last recorded in a capture, and ends that. So do the next two.
  void require_uncaptured() const { uncaptured_point(); }
  bool is_captured() const { return point().captured != nullptr; }
  bool reached() const;  // an event that was never recorded counts as reached
  void wait() const;     // blocks the calling thread

  bool timed() const { return (flags_ & CU_EVENT_DISABLE_TIMING) == 0; }
  Context& context() const { return *context_; }
  const std::shared_ptr<InterprocessEvent>& shared() const { return shared_; }

  // From `start` to `end`. Throws the driver's failures: not timed or not recorded, not reached.
  static float milliseconds(const Event& start, const Event& end);

 private:
  struct Point {
    OpRef op;
    const void* queue = nullptr;                   // the stream it was recorded in, for threads that wait
    std::uint32_t ticket = 0;                      // of shared events
    std::shared_ptr<const CapturePoint> captured;  // instead of all that
  };
  Point point() const;
  Point uncaptured_point() const;
  Point new_point(const void* queue) const;
  void set_point(Point point);
  bool recorded_elsewhere(const Point& here) const;  // after `here`, in another process

  const std::shared_ptr<Context> context_;
  const unsigned flags_;
  const std::shared_ptr<InterprocessEvent> shared_;
  mutable SpinLock lock_;
  Point point_;
};

// When a context goes: its events lose their handles.
void drop_events_of(WorkServices& services, const Context& context);

}  // namespace softgpu::runtime
