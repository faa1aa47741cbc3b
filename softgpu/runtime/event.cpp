#include "softgpu/runtime/event.hpp"

#include <mutex>

#include "softgpu/runtime/error.hpp"
#include "softgpu/runtime/stream.hpp"
#include "softgpu/runtime/waiting.hpp"

namespace softgpu::runtime {

Event::Point Event::point() const {
  const std::scoped_lock lock(lock_);
  return point_;
}

void Event::record(Stream& stream) {
  OpRef op(new MarkerOp);
  stream.enqueue(*op);
  const std::scoped_lock lock(lock_);
  point_ = {std::move(op), &stream};
}

void Event::make_wait(Stream& stream) const {
  const OpRef op = point().op;
  if (!op) return;
  if (op->done()) return stream.follow(*op);
  const OpRef join(new MarkerOp);
  stream.enqueue(*join, &*op);
}

bool Event::reached() const {
  const OpRef op = point().op;
  return !op || op->done();
}

void Event::wait() const {
  const Point recorded = point();
  if (recorded.op) wait_for(recorded.op->done_flag(), recorded.queue);
}

float Event::milliseconds(const Event& start, const Event& end) {
  require(start.timed() && end.timed(), CUDA_ERROR_INVALID_HANDLE, "an event was created without timing");
  const OpRef from = start.point().op, to = end.point().op;
  require(from && to, CUDA_ERROR_INVALID_HANDLE, "an event has not been recorded");
  require(from->done() && to->done(), CUDA_ERROR_NOT_READY);
  return static_cast<float>(static_cast<double>(to->completed_at() - from->completed_at()) * 1e-6);
}

}  // namespace softgpu::runtime
