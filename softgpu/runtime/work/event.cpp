#include "softgpu/runtime/work/event.hpp"

#include <mutex>
#include <system_error>

#include "softgpu/exec/host_signals.hpp"
#include "softgpu/runtime/base/error.hpp"
#include "softgpu/runtime/work/context.hpp"
#include "softgpu/runtime/work/interprocess_event.hpp"
#include "softgpu/runtime/work/stream.hpp"
#include "softgpu/runtime/work/stream_capture.hpp"
#include "softgpu/runtime/work/waiting.hpp"
#include "softgpu/runtime/work/work_services.hpp"

namespace softgpu::runtime {
namespace {

// The point where a shared event is recorded.
class SharedMarkerOp final : public Op {
 public:
  SharedMarkerOp(std::shared_ptr<InterprocessEvent> event, InterprocessEvent::Ticket ticket)
      : event_(std::move(event)), ticket_(ticket) {}

 protected:
  void run() override {
    event_->mark_reached(ticket_);
    event_.reset();
    finish();
  }

 private:
  std::shared_ptr<InterprocessEvent> event_;
  const InterprocessEvent::Ticket ticket_;
};

// The point where a stream waits for what another process has recorded. No more threads than streams can be waiting, as
// this runs when all before it in its stream is done.
class RemoteWaitOp final : public Op {
 public:
  RemoteWaitOp(std::shared_ptr<InterprocessEvent> event, InterprocessEvent::Ticket ticket)
      : event_(std::move(event)), ticket_(ticket) {}

 protected:
  void run() override {
    if (event_->reached(ticket_)) return end();
    try {
      exec::start_thread([op = OpRef(this), this] {
        event_->wait(ticket_);
        end();
      });
    } catch (const std::system_error&) {  // no more threads: this one has to wait
      event_->wait(ticket_);
      end();
    }
  }

 private:
  void end() {
    event_.reset();
    finish();
  }

  std::shared_ptr<InterprocessEvent> event_;
  const InterprocessEvent::Ticket ticket_;
};

}  // namespace

Event::Point Event::point() const {
  const std::scoped_lock lock(lock_);
  return point_;
}

Event::Point Event::uncaptured_point() const {
  Point here = point();
  if (here.captured != nullptr)
    here.captured->capture->refuse(CUDA_ERROR_CAPTURED_EVENT, "the event was last recorded in a captured stream");
  return here;
}

void Event::set_point(Point point) {
  const std::scoped_lock lock(lock_);
  std::swap(point_, point);
}

Event::Point Event::new_point(const void* queue) const {
  const std::uint32_t ticket = shared_ != nullptr ? shared_->record() : 0;
  OpRef op(shared_ != nullptr ? static_cast<Op*>(new SharedMarkerOp(shared_, ticket)) : new MarkerOp);
  return {.op = std::move(op), .queue = queue, .ticket = ticket, .captured = nullptr};
}

void Event::record(Stream& stream) {
  if (const auto capture = stream.capture()) return set_point({.op = {}, .captured = capture->point(stream)});
  stream.require_uncaptured();
  Point here = new_point(&stream);
  stream.enqueue(*here.op);
  set_point(std::move(here));
}

OpRef Event::make_record_op(const void* queue) {
  const Point here = new_point(queue);
  set_point(here);
  return here.op;
}

bool Event::recorded_elsewhere(const Point& here) const {
  return shared_ != nullptr && shared_->last_recorded() != here.ticket;
}

void Event::make_wait(Stream& stream) const {
  const Point here = point();
  if (here.captured != nullptr) return here.captured->capture->join(stream, *here.captured);
  if (const auto capture = stream.capture()) {
    capture->require_valid();
    capture->refuse(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, "a captured stream can't wait for what is not captured");
  }
  if (recorded_elsewhere(here)) {
    const OpRef wait(new RemoteWaitOp(shared_, shared_->last_recorded()));
    stream.enqueue(*wait);
    return;
  }
  if (!here.op) return;
  if (here.op->done()) return stream.follow(*here.op);
  const OpRef join(new MarkerOp);
  stream.enqueue(*join, &*here.op);
}

OpRef Event::make_wait_op() const {
  const Point here = point();
  if (recorded_elsewhere(here)) return OpRef(new RemoteWaitOp(shared_, shared_->last_recorded()));
  OpRef join(new MarkerOp);
  if (here.op) join->put_after(*here.op);
  return join;
}

bool Event::reached() const {
  const Point here = uncaptured_point();
  if (recorded_elsewhere(here)) return shared_->reached(shared_->last_recorded());
  return !here.op || here.op->done();
}

void Event::wait() const {
  const Point here = uncaptured_point();
  if (recorded_elsewhere(here))
    shared_->wait(shared_->last_recorded());
  else if (here.op)
    wait_for(context_->work().pool, here.op->done_flag(), here.queue);
}

float Event::milliseconds(const Event& start, const Event& end) {
  require(start.timed() && end.timed(), CUDA_ERROR_INVALID_HANDLE, "an event was created without timing");
  const OpRef from = start.point().op, to = end.point().op;
  require(from && to, CUDA_ERROR_INVALID_HANDLE, "an event has not been recorded");
  require(from->done() && to->done(), CUDA_ERROR_NOT_READY);
  return static_cast<float>(static_cast<double>(to->completed_at() - from->completed_at()) * 1e-6);
}

void drop_events_of(WorkServices& services, const Context& context) {
  services.events.remove_if([&](const Event& event) { return &event.context() == &context; });
}

}  // namespace softgpu::runtime
