#include "softgpu/runtime/work/stream.hpp"

#include <atomic>

#include "softgpu/runtime/work/context.hpp"
#include "softgpu/runtime/work/green_context.hpp"
#include "softgpu/runtime/work/stream_capture.hpp"
#include "softgpu/runtime/work/waiting.hpp"
#include "softgpu/runtime/work/work_services.hpp"

namespace softgpu::runtime {
namespace {

std::uint64_t next_stream_id() {
  static std::atomic<std::uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

Stream::Stream(Context& context, StreamKind kind, int priority, GreenContext* green)
    : context_(context),
      owner_(kind == StreamKind::legacy ? nullptr : context.shared_from_this()),
      green_(green),
      green_owner_(kind == StreamKind::legacy || green == nullptr ? nullptr : green->shared_from_this()),
      kind_(kind),
      attributes_(priority),
      id_(next_stream_id()) {
  context_.streams().add(*this);
}

Stream::~Stream() {
  if (const auto captured = capture()) captured->forget(*this);
  context_.streams().remove(*this);
}

std::uint64_t Stream::green_id() const { return green_ != nullptr ? green_->id() : 0; }

std::shared_ptr<GreenContext> Stream::shared_green() const {
  return green_ != nullptr ? green_->shared_from_this() : nullptr;
}

Stream& Stream::legacy_stream() const {
  return green_ != nullptr ? green_->default_stream() : context_.legacy_stream();
}

// No two Ops can end up waiting for each other: an Op collects what it is after before it can be seen by others.
std::uint64_t Stream::enqueue(Op& first, Op& last, Op* also_after) {
  const OpRef keep_first(&first), keep_last(&last);
  require_uncaptured();
  std::uint64_t position;
  {
    const std::scoped_lock lock(enqueue_);
    position = position_.load(std::memory_order_relaxed) + 1;
    if (also_after != nullptr) {
      first.put_after(*also_after);
      if (const StreamOrder* order = also_after->order()) order_.add(*order);
    }
    if (const OpRef before = tail()) first.put_after(*before);
    context_.gate().put_behind(first);
    if (green_ != nullptr) green_->gate().put_behind(first);
    if (kind_ == StreamKind::legacy)
      context_.streams().for_each_blocking_tail(green_id(), [&](Op& other, std::uint64_t stream, std::uint64_t at) {
        first.put_after(other);
        order_.add(stream, at);
      });
    else if (kind_ == StreamKind::blocking)
      if (const OpRef before = legacy_stream().tail()) first.put_after(*before);
    if (StreamOrder* order = last.order()) {
      *order = order_;
      order->add(id_, position);
    }
    const std::scoped_lock tail_lock(tail_lock_);
    tail_ = keep_last;
    position_.store(position, std::memory_order_release);
  }
  first.submit();
  return position;
}

OpPlace Stream::place() const { return {context_.shared_from_this(), this, priority()}; }

std::shared_ptr<StreamCapture> Stream::capture() const {
  if (!is_captured()) return nullptr;
  const std::scoped_lock lock(tail_lock_);
  return capture_;
}

void Stream::set_capture(std::shared_ptr<StreamCapture> capture) {
  const std::scoped_lock lock(tail_lock_);
  is_captured_.store(capture != nullptr, std::memory_order_release);
  capture_ = std::move(capture);
}

void Stream::require_uncaptured() {
  if (const auto captured = capture()) {
    captured->require_valid();
    captured->refuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "this can't be done with a stream that is being captured");
  }
  if (kind_ == StreamKind::legacy) require_no_blocking_capture(context_, Conflict::ends_capture);
}

void Stream::follow(Op& done) {
  const StreamOrder* order = done.order();
  if (order == nullptr) return;
  const std::scoped_lock lock(enqueue_);
  order_.add(*order);
}

bool Stream::comes_after(std::uint64_t stream, std::uint64_t position) const {
  const auto covers = [&](const Stream& follower) {
    if (stream == follower.id_) return position <= follower.position();
    const std::scoped_lock lock(follower.enqueue_);
    return follower.order_.covers(stream, position);
  };
  if (covers(*this)) return true;
  if (kind_ == StreamKind::legacy) return context_.streams().is_blocking(stream, green_id());
  return kind_ == StreamKind::blocking && covers(legacy_stream());
}

OpRef Stream::tail() const {
  const std::scoped_lock lock(tail_lock_);
  return tail_;
}

bool Stream::idle() const {
  const OpRef last = tail();
  bool all_done = !last || last->done();
  if (kind_ == StreamKind::legacy)
    context_.streams().for_each_blocking_tail(green_id(),
                                              [&](Op& other, auto, auto) { all_done = all_done && other.done(); });
  return all_done;
}

void Stream::wait_idle() {
  require_uncaptured();
  if (idle()) return;
  if (kind_ != StreamKind::legacy) {
    wait_for(context_.work().pool, tail()->done_flag(), this);
    return;
  }
  const OpRef end(new MarkerOp);
  enqueue(*end);
  wait_for(context_.work().pool, end->done_flag(), nullptr);  // the blocking streams' work, too
}

}  // namespace softgpu::runtime
