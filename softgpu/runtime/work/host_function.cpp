#include "softgpu/runtime/work/host_function.hpp"

#include <utility>

#include "softgpu/runtime/work/context.hpp"
#include "softgpu/runtime/work/work_services.hpp"

namespace softgpu::runtime {
namespace {

class HostFunctionOp final : public Op {
 public:
  HostFunctionOp(std::shared_ptr<Context> context, std::function<void(CUresult)> function, AfterError after_error)
      : context_(std::move(context)), function_(std::move(function)), after_error_(after_error) {}

 protected:
  void run() override {
    context_->work().host_functions.post([op = OpRef(this), this] {
      const CUresult error = context_->error();
      if (error == CUDA_SUCCESS || after_error_ == AfterError::called) function_(error);
      context_.reset();
      finish();
    });
  }
  void give_up(const char* why) noexcept override {
    context_->fail(CUDA_ERROR_LAUNCH_FAILED, why);
    finish();
  }

 private:
  std::shared_ptr<Context> context_;
  const std::function<void(CUresult)> function_;
  const AfterError after_error_;
};

}  // namespace

OpRef make_host_function_op(std::shared_ptr<Context> context, std::function<void(CUresult)> function,
                            AfterError after_error) {
  return OpRef(new HostFunctionOp(std::move(context), std::move(function), after_error));
}

}  // namespace softgpu::runtime
