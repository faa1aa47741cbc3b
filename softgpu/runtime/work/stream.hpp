// A stream: the order of operations that a program puts into it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "softgpu/runtime/work/op.hpp"
#include "softgpu/runtime/work/stream_attributes.hpp"

namespace softgpu::runtime {

class Context;
class GreenContext;
class StreamCapture;

// How a stream is ordered against the legacy default stream of its context.
enum class StreamKind : std::uint8_t {
  legacy,        // is it: after all that blocking streams hold, and they wait for it
  blocking,      // created without CU_STREAM_NON_BLOCKING, and the default streams of threads
  non_blocking,  // not at all
};

// Thread-safe.
class Stream {
 public:
  // Keeps the context alive, unless it is the legacy stream, which is a part of the context. `green`: the green context
  // whose stream it is, with a legacy stream of its own; null: none.
  Stream(Context& context, StreamKind kind, int priority, GreenContext* green = nullptr);
  // Work that is still under way goes on, and its context still waits for it.
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // Puts the Op behind all that the stream holds (and, for blocking ones, the legacy stream) and submits it.
  // `also_after` may be null. Returns its position: operations are counted from 1.
  // Throws while the stream is captured: what can be captured has become a node before it gets here.
  std::uint64_t enqueue(Op& op, Op* also_after = nullptr) { return enqueue(op, op, also_after); }
  // The same for Ops that are linked among each other: all come after `first` and before `last`, and all but `first`
  // are submitted.
  std::uint64_t enqueue(Op& first, Op& last, Op* also_after);
  // Notes that what comes next is after that Op, which is done.
  void follow(Op& done);

  // How many operations it has been given.
  std::uint64_t position() const { return position_.load(std::memory_order_acquire); }
  // Whether what it is given next is ordered after that operation of another stream. False when that is not known.
  bool comes_after(std::uint64_t stream, std::uint64_t position) const;

  // Whether its operations become nodes of a graph instead of being done.
  bool is_captured() const { return is_captured_.load(std::memory_order_acquire); }
  std::shared_ptr<StreamCapture> capture() const;  // null: none
  void set_capture(std::shared_ptr<StreamCapture> capture);

  // The last Op, or null when there was none.
  OpRef tail() const;
  bool idle() const;
  // Blocks until everything that was enqueued before the call is done. Throws while it is captured.
  void wait_idle();

  Context& context() const { return context_; }
  GreenContext* green() const { return green_; }
  std::uint64_t green_id() const;  // 0: none
  std::shared_ptr<GreenContext> shared_green() const;
  StreamKind kind() const { return kind_; }
  int priority() const { return attributes_.priority(); }
  StreamAttributes& attributes() { return attributes_; }
  std::uint64_t id() const { return id_; }
  // Where its operations belong.
  OpPlace place() const;
  // Throws, and ends the capture, when the stream's work can't be added to or looked at because of one.
  void require_uncaptured();

 private:
  Stream& legacy_stream() const;  // that it is ordered against

  Context& context_;
  const std::shared_ptr<Context> owner_;
  GreenContext* const green_;
  const std::shared_ptr<GreenContext> green_owner_;
  const StreamKind kind_;
  StreamAttributes attributes_;
  const std::uint64_t id_;
  mutable std::mutex enqueue_;  // one Op at a time gets its place
  std::atomic<std::uint64_t> position_{0};
  StreamOrder order_;           // under enqueue_
  mutable SpinLock tail_lock_;  // a leaf: others read our tail while they hold their own enqueue_
  OpRef tail_;
  std::shared_ptr<StreamCapture> capture_;  // under tail_lock_
  std::atomic<bool> is_captured_{false};
};

}  // namespace softgpu::runtime
