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
      priority_(priority),
      id_(next_stream_id()) {
  context_.streams().add(*this);
}

Stream::~Stream() { context_.streams().remove(*this); }

// No two Ops can end up waiting for each other: an Op collects what it is after before it can be seen by others.
void Stream::enqueue(Op& op, Op* also_after) {
  const OpRef keep(&op);
  {
    const std::scoped_lock lock(enqueue_);
    if (also_after != nullptr) op.put_after(*also_after);
    if (const OpRef last = tail()) op.put_after(*last);
    if (kind_ == StreamKind::legacy)
      context_.streams().for_each_blocking_tail([&](Op& other) { op.put_after(other); });
    else if (kind_ == StreamKind::blocking)
      if (const OpRef last = context_.legacy_stream().tail()) op.put_after(*last);
    const std::scoped_lock tail_lock(tail_lock_);
    tail_ = keep;
  }
  op.submit();
}

OpRef Stream::tail() const {
  const std::scoped_lock lock(tail_lock_);
  return tail_;
}

bool Stream::idle() const {
  const OpRef last = tail();
  bool all_done = !last || last->done();
  if (kind_ == StreamKind::legacy)
    context_.streams().for_each_blocking_tail([&](Op& other) { all_done = all_done && other.done(); });
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
