#include "softgpu/runtime/work/semaphore_op.hpp"

#include <exception>
#include <utility>

#include "softgpu/runtime/base/error.hpp"
#include "softgpu/runtime/work/context.hpp"
#include "softgpu/runtime/work/external_semaphore.hpp"

namespace softgpu::runtime {
namespace {

class SemaphoreOp : public Op {
 public:
  SemaphoreOp(std::shared_ptr<Context> context, std::vector<SemaphoreValue> values)
      : context_(std::move(context)), values_(std::move(values)) {}

 protected:
  // A context that has failed or is torn down signals nothing and waits for nothing.
  bool is_over() const { return context_->error() != CUDA_SUCCESS || context_->cancel_flag()->load(); }
  const std::vector<SemaphoreValue>& values() const { return values_; }

  void fail(const Failure& failure) const { context_->fail(failure.code(), failure.what()); }
  void give_up(const char* why) noexcept override {
    context_->fail(CUDA_ERROR_LAUNCH_FAILED, why);
    end();
  }
  void end() {
    context_.reset();
    values_.clear();
    finish();
  }

 private:
  std::shared_ptr<Context> context_;
  std::vector<SemaphoreValue> values_;
};

class SignalOp final : public SemaphoreOp {
 public:
  using SemaphoreOp::SemaphoreOp;

 protected:
  void run() override {
    try {
      for (const auto& [semaphore, value] : values())
        if (!is_over()) semaphore->signal(value);
    } catch (const Failure& failure) {
      fail(failure);
    }
    end();
  }
};

class WaitOp final : public SemaphoreOp {
 public:
  using SemaphoreOp::SemaphoreOp;

 protected:
  void run() override {
    for (; next_ < values().size(); ++next_)
      if (!passes(values()[next_])) return wait();
    end();
  }

 private:
  bool passes(const SemaphoreValue& wanted) const {
    try {
      return is_over() || wanted.semaphore->take(wanted.value);
    } catch (const Failure& failure) {
      fail(failure);
      return true;
    }
  }
  void wait() {
    const SemaphoreValue& wanted = values()[next_];
    wanted.semaphore->wait([&wanted, this] { return passes(wanted); }, [op = OpRef(this), this] { go_on(); });
  }
  // On the semaphore's thread.
  void go_on() noexcept {
    ++next_;
    try {
      run();
    } catch (const std::exception& error) {
      give_up(error.what());
    }
  }

  std::size_t next_ = 0;
};

}  // namespace

OpRef make_signal_op(const OpPlace& place, std::vector<SemaphoreValue> values) {
  return OpRef(new SignalOp(place.context, std::move(values)));
}

OpRef make_wait_op(const OpPlace& place, std::vector<SemaphoreValue> values) {
  return OpRef(new WaitOp(place.context, std::move(values)));
}

}  // namespace softgpu::runtime
