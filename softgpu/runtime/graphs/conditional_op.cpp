#include "softgpu/runtime/graphs/conditional_op.hpp"

#include <exception>
#include <utility>

#include "softgpu/runtime/graphs/conditional.hpp"
#include "softgpu/runtime/work/context.hpp"

namespace softgpu::runtime {
namespace {

class ConditionalOp final : public Op {
 public:
  ConditionalOp(OpSettings settings, std::shared_ptr<const NodeWork> work, std::shared_ptr<const LaunchedBodies> bodies)
      : settings_(std::move(settings)), work_(std::move(work)), bodies_(std::move(bodies)) {}

  void body_done() {
    if (work().type == CU_GRAPH_COND_TYPE_WHILE)
      look();
    else
      end();
  }

 protected:
  void run() override { look(); }

 private:
  // The point that a body ends with.
  class BodyEnd final : public Op {
   public:
    explicit BodyEnd(ConditionalOp& conditional) : conditional_(&conditional) {}

   protected:
    void run() override {
      static_cast<ConditionalOp&>(*conditional_).body_done();
      finish();
    }

   private:
    const OpRef conditional_;
  };

  const ConditionalWork& work() const { return std::get<ConditionalWork>(*work_); }

  const LaunchedBody* chosen() const {
    if (work().context->error() != CUDA_SUCCESS) return nullptr;
    const unsigned value = work().variable->value();
    const std::size_t index = work().type == CU_GRAPH_COND_TYPE_SWITCH ? value : value != 0 ? 0 : 1;
    return index < bodies_->size() ? &(*bodies_)[index] : nullptr;
  }

  void look() {
    const LaunchedBody* body = chosen();
    if (body == nullptr) return end();
    bool has_end = false;
    try {
      const OpRef body_end(new BodyEnd(*this));
      GraphSteps::start(settings_, *body, {}, *body_end, has_end);
    } catch (const std::exception& error) {
      work().context->fail(CUDA_ERROR_LAUNCH_FAILED, error.what());
      if (!has_end) end();
    }
  }

  void end() {
    settings_.place.context.reset();
    settings_.graphs.reset();
    bodies_.reset();
    work_.reset();
    finish();
  }

  OpSettings settings_;
  std::shared_ptr<const NodeWork> work_;
  std::shared_ptr<const LaunchedBodies> bodies_;
};

}  // namespace

OpRef make_conditional_op(const OpSettings& settings, std::shared_ptr<const NodeWork> work,
                          std::shared_ptr<const LaunchedBodies> bodies) {
  return OpRef(new ConditionalOp(settings, std::move(work), std::move(bodies)));
}

}  // namespace softgpu::runtime
