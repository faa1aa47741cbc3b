#include "softgpu/runtime/stream.hpp"

#include <atomic>

#include "softgpu/runtime/context.hpp"
#include "softgpu/runtime/waiting.hpp"

namespace softgpu::runtime {
namespace {

std::uint64_t next_stream_id() {
  static std::atomic<std::uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

Stream::Stream(Context& context, StreamKind kind, int priority)
    : context_(context),
      owner_(kind == StreamKind::legacy ? nullptr : context.shared_from_this()),
      kind_(kind),
      attributes_(priority),
      id_(next_stream_id()) {
  context_.streams().add(*this);
}

Stream::~Stream() { context_.streams().remove(*this); }

// No two Ops can end up waiting for each other: an Op collects what it is after before it can be seen by others.
std::uint64_t Stream::enqueue(Op& op, Op* also_after) {
  const OpRef keep(&op);
  std::uint64_t position;
  {
    const std::scoped_lock lock(enqueue_);
    position = position_.load(std::memory_order_relaxed) + 1;
    if (also_after != nullptr) {
      op.put_after(*also_after);
      if (const StreamOrder* order = also_after->order()) order_.add(*order);
    }
    if (const OpRef last = tail()) op.put_after(*last);
    if (kind_ == StreamKind::legacy)
      context_.streams().for_each_blocking_tail([&](Op& other, std::uint64_t stream, std::uint64_t at) {
        op.put_after(other);
        order_.add(stream, at);
      });
    else if (kind_ == StreamKind::blocking)
      if (const OpRef last = context_.legacy_stream().tail()) op.put_after(*last);
    if (StreamOrder* order = op.order()) {
      *order = order_;
      order->add(id_, position);
    }
    const std::scoped_lock tail_lock(tail_lock_);
    tail_ = keep;
    position_.store(position, std::memory_order_release);
  }
  op.submit();
  return position;
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
  if (kind_ == StreamKind::legacy) return context_.streams().is_blocking(stream);
  return kind_ == StreamKind::blocking && covers(context_.legacy_stream());
}

OpRef Stream::tail() const {
  const std::scoped_lock lock(tail_lock_);
  return tail_;
}

bool Stream::idle() const {
  const OpRef last = tail();
  bool all_done = !last || last->done();
  if (kind_ == StreamKind::legacy)
    context_.streams().for_each_blocking_tail([&](Op& other, auto, auto) { all_done = all_done && other.done(); });
  return all_done;
}

void Stream::wait_idle() {
  if (idle()) return;
  if (kind_ != StreamKind::legacy) {
    wait_for(tail()->done_flag(), this);
    return;
  }
  const OpRef end(new MarkerOp);
  enqueue(*end);
  wait_for(end->done_flag(), nullptr);  // the blocking streams' work, too
}

}  // namespace softgpu::runtime
