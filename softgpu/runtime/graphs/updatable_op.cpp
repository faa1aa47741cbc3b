#include "softgpu/runtime/graphs/updatable_op.hpp"

#include <exception>
#include <utility>

#include "softgpu/exec/updatable_nodes.hpp"
#include "softgpu/runtime/code/module.hpp"
#include "softgpu/runtime/work/context.hpp"

namespace softgpu::runtime {
namespace {

class UpdatableOp final : public Op {
 public:
  UpdatableOp(KernelWork work, const void* queue, std::shared_ptr<exec::DeviceGraphs> graphs)
      : work_(std::move(work)), queue_(queue), graphs_(std::move(graphs)) {}

  void kernel_done() {
    work_ = {};
    graphs_.reset();
    finish();
  }

 protected:
  void run() override {
    Context& context = work_.module->context();
    exec::UpdatableNode::State state = work_.updatable->state();
    if (!state.enabled || context.error() != CUDA_SUCCESS) return kernel_done();
    try {
      LaunchRequest request = work_.request;
      request.grid = state.grid;
      const OpRef kernel = make_op(*work_.function, work_.module, request, std::move(state.arguments), queue_, graphs_);
      const OpRef end(new KernelEnd(*this));
      end->put_after(*kernel);
      end->submit();
      kernel->submit();
    } catch (const std::exception& error) {
      context.fail(CUDA_ERROR_LAUNCH_FAILED, error.what());
      kernel_done();
    }
  }

 private:
  class KernelEnd final : public Op {
   public:
    explicit KernelEnd(UpdatableOp& node) : node_(&node) {}

   protected:
    void run() override {
      static_cast<UpdatableOp&>(*node_).kernel_done();
      finish();
    }

   private:
    const OpRef node_;
  };

  KernelWork work_;
  const void* const queue_;
  std::shared_ptr<exec::DeviceGraphs> graphs_;
};

}  // namespace

OpRef make_updatable_op(KernelWork work, const void* queue, std::shared_ptr<exec::DeviceGraphs> graphs) {
  return OpRef(new UpdatableOp(std::move(work), queue, std::move(graphs)));
}

}  // namespace softgpu::runtime
