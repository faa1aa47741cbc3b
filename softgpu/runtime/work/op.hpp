// The dependency graph of asynchronous work.
//
// Everything a stream does is an Op: a kernel, a copy, a host function, or just a point that others wait for. An Op
// starts when all that it was put after are done; what waits for an Op is started by the thread that finishes it. A
// stream is no queue but the last Op put into it; an event is an Op that was the last one when it was recorded. Ops
// that are done hold on to nothing, so that memory stays flat however long a stream runs.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "softgpu/runtime/base/spin_lock.hpp"
#include "softgpu/runtime/work/stream_order.hpp"

namespace softgpu::runtime {

class Context;
class Op;

// Where an Op belongs.
struct OpPlace {
  std::shared_ptr<Context> context;  // whose failure passes it over
  const void* queue = nullptr;       // the stream, for threads that wait for one
  int priority = 0;
};

// Shares an Op.
class OpRef {
 public:
  OpRef() = default;
  explicit OpRef(Op* op);  // adds a reference
  OpRef(const OpRef& other) : OpRef(other.op_) {}
  OpRef(OpRef&& other) noexcept : op_(std::exchange(other.op_, nullptr)) {}
  OpRef& operator=(OpRef other) noexcept {
    std::swap(op_, other.op_);
    return *this;
  }
  ~OpRef();

  Op* operator->() const { return op_; }
  Op& operator*() const { return *op_; }
  explicit operator bool() const { return op_ != nullptr; }

 private:
  Op* op_ = nullptr;
};

class Op {
 public:
  Op() = default;
  Op(const Op&) = delete;
  Op& operator=(const Op&) = delete;

  // Before submit() only: this one does not start before `other` is done.
  void put_after(Op& other);
  // All put_after() are made: start as soon as possible, which may be here.
  void submit();

  const std::atomic<bool>& done_flag() const { return done_; }
  bool done() const { return done_.load(std::memory_order_seq_cst); }
  // What all before it in its stream came after, and itself; for points that other streams wait for. Null: not kept.
  // The stream fills it in before anybody else sees the Op.
  virtual StreamOrder* order() { return nullptr; }

  // Nanoseconds of a steady clock; to be asked once done().
  std::int64_t completed_at() const { return completed_at_; }

 protected:
  virtual ~Op() = default;
  // Called once, when all predecessors are done. Calls finish(), at once or later and from any thread. Must not block.
  virtual void run() = 0;
  // What to do when run() has thrown this: tell whom it concerns, and finish().
  virtual void give_up(const char* why) noexcept {
    (void)why;
    finish();
  }
  void finish();

 private:
  friend class OpRef;
  void predecessor_done();
  void start() noexcept;

  std::atomic<std::uint32_t> references_{0};
  std::atomic<std::uint32_t> waiting_for_{1};  // predecessors, plus one until submit()
  std::atomic<bool> done_{false};
  SpinLock lock_;  // successors_, and done_ against them
  std::vector<OpRef> successors_;
  std::int64_t completed_at_ = 0;
};

inline OpRef::OpRef(Op* op) : op_(op) {
  if (op_ != nullptr) op_->references_.fetch_add(1, std::memory_order_relaxed);
}
inline OpRef::~OpRef() {
  if (op_ != nullptr && op_->references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete op_;
}

// A point that is reached when all before it are done.
class MarkerOp final : public Op {
 public:
  StreamOrder* order() override { return &order_; }

 protected:
  void run() override { finish(); }

 private:
  StreamOrder order_;
};

std::int64_t nanoseconds_now();

}  // namespace softgpu::runtime
