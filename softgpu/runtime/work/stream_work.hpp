// Work that a stream does with the host's processors: copies, sets and the like.
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <utility>

#include "softgpu/exec/pool.hpp"
#include "softgpu/runtime/work/context.hpp"
#include "softgpu/runtime/work/stream.hpp"
#include "softgpu/runtime/work/waiting.hpp"
#include "softgpu/runtime/work/work_services.hpp"

namespace softgpu::runtime {

// Work of at most this many bytes is done by whichever thread comes to it; more goes to the pool.
inline constexpr std::size_t kInlineBytes = 64 * 1024;

// Skipped when the context has failed by the time its turn comes.
template <typename Work>
class WorkOp final : public Op {
 public:
  WorkOp(OpPlace place, std::size_t bytes, Work work)
      : place_(std::move(place)), small_(bytes <= kInlineBytes), work_(std::move(work)) {}

 protected:
  void run() override {
    if (small_ || place_.context->error() != CUDA_SUCCESS) {
      complete();
      return;
    }
    const auto in_pool = [op = OpRef(this), this] {
      const InsidePool inside;
      try {
        complete();
      } catch (const std::exception& error) {
        give_up(error.what());
      }
    };
    place_.context->work().pool.post({.run = in_pool, .priority = place_.priority, .queue = place_.queue});
  }
  void give_up(const char* why) noexcept override {
    if (place_.context != nullptr) place_.context->fail(CUDA_ERROR_LAUNCH_FAILED, why);
    finish();
  }

 private:
  void complete() {
    if (place_.context->error() == CUDA_SUCCESS) work_();
    place_.context.reset();
    finish();
  }

  OpPlace place_;
  const bool small_;
  Work work_;
};

// `bytes` is how much the work touches.
template <typename Work>
OpRef make_work_op(OpPlace place, std::size_t bytes, Work work) {
  return OpRef(new WorkOp<Work>(std::move(place), bytes, std::move(work)));
}

// Does `work` in the stream's order.
template <typename Work>
void enqueue_work(Stream& stream, std::size_t bytes, Work work) {
  const OpRef op = make_work_op(stream.place(), bytes, std::move(work));
  stream.enqueue(*op);
}

// A place in a stream that the calling thread fills itself.
class TurnOp final : public Op {
 public:
  const std::atomic<bool>& ready() const { return ready_; }
  void complete() { finish(); }

 protected:
  void run() override {
    ready_.store(true);
    wake_waiting_threads();
  }

 private:
  std::atomic<bool> ready_{false};
};

// Does `work` on the calling thread when it is its turn; returns when it is done. Throws the context's error.
template <typename Work>
void work_in_turn(Stream& stream, Work&& work) {
  const OpRef op(new TurnOp);
  auto& turn = static_cast<TurnOp&>(*op);
  stream.enqueue(turn);
  wait_for(stream.context().work().pool, turn.ready(), stream.kind() == StreamKind::legacy ? nullptr : &stream);
  const CUresult error = stream.context().error();
  if (error == CUDA_SUCCESS) work();
  turn.complete();
  if (error != CUDA_SUCCESS) throw Failure(error);
}

}  // namespace softgpu::runtime
