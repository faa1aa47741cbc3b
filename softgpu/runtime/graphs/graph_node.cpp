#include "softgpu/runtime/graphs/graph_node.hpp"

#include <algorithm>

#include "softgpu/exec/updatable_nodes.hpp"
#include "softgpu/runtime/base/error.hpp"
#include "softgpu/runtime/code/function.hpp"
#include "softgpu/runtime/code/module.hpp"
#include "softgpu/runtime/graphs/graph_services.hpp"
#include "softgpu/runtime/graphs/updatable_op.hpp"
#include "softgpu/runtime/work/event.hpp"
#include "softgpu/runtime/work/host_function.hpp"

namespace softgpu::runtime {
namespace {

struct OpMaker {
  const MemoryServices& memory;
  const OpPlace& place;
  Priority priority;
  const std::shared_ptr<exec::DeviceGraphs>& graphs;

  OpRef operator()(const KernelWork& work) const {
    LaunchRequest request = work.request;
    if (priority == Priority::of_stream) request.priority = place.priority;
    if (work.updatable != nullptr) {
      KernelWork late = work;
      late.request.priority = request.priority;
      return make_updatable_op(std::move(late), place.queue, graphs);
    }
    return make_op(*work.function, work.module, request, work.arguments, place.queue, graphs);
  }
  OpRef operator()(const CopyWork& work) const { return make_op(memory, in(work.context), work.copy); }
  OpRef operator()(const FillWork& work) const { return make_op(memory, in(work.context), work.fill); }
  OpRef operator()(const MemoryOperationsWork& work) const { return make_op(in(work.context), work.operations); }
  OpRef operator()(const HostWork& work) const {
    return make_host_function_op(place.context,
                                 [function = work.function, data = work.data](CUresult) { function(data); });
  }
  OpRef operator()(const WaitWork& work) const { return work.event->make_wait_op(); }
  OpRef operator()(const RecordWork& work) const { return work.event->make_record_op(place.queue); }
  OpRef operator()(const SignalSemaphoresWork& work) const { return make_signal_op(place, work.values); }
  OpRef operator()(const WaitSemaphoresWork& work) const { return make_wait_op(place, work.values); }
  // What the memory is used for is known from the launch on; when it is reached does not matter.
  OpRef operator()(const AllocateWork&) const { return point(); }
  OpRef operator()(const FreeWork&) const { return point(); }
  OpRef operator()(const EmptyWork&) const { return point(); }
  OpRef operator()(const ChildWork&) const { return point(); }
  OpRef operator()(const ConditionalWork&) const { return point(); }

 private:
  static OpRef point() { return OpRef(new MarkerOp); }
  OpPlace in(const std::shared_ptr<Context>& context) const { return {context, place.queue, place.priority}; }
};

// cuLaunchCooperativeKernel says it without an attribute; of a node it is one.
void add_cooperative(KernelWork& work) {
  const auto is_cooperative = [](const CUlaunchAttribute& one) { return one.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE; };
  if (!work.request.cooperative || std::any_of(work.attributes.begin(), work.attributes.end(), is_cooperative)) return;
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  attribute.value.cooperative = 1;
  work.attributes.push_back(attribute);
}

}  // namespace

std::span<const std::shared_ptr<Graph>> graphs_inside(const NodeWork& work) {
  if (const auto* child = std::get_if<ChildWork>(&work)) return {&child->graph, 1};
  if (const auto* conditional = std::get_if<ConditionalWork>(&work)) return conditional->bodies;
  return {};
}

KernelWork make_kernel_work(const std::shared_ptr<Function>& function, const LaunchRequest& request,
                            const Context* context) {
  auto [module, arguments] = prepare(*function, request, context);
  KernelWork work{.function = function,
                  .module = std::move(module),
                  .request = request,
                  .arguments = std::move(arguments),
                  .attributes = {request.attributes.begin(), request.attributes.end()}};
  work.request.parameters = work.request.extra = nullptr;
  work.request.attributes = {};
  add_cooperative(work);
  apply_updatable(work);
  return work;
}

void keep_attributes(KernelWork& work, const KernelWork& of_node) {
  work.attributes = of_node.attributes;
  work.request.priority = of_node.request.priority;
  work.request.cooperative = of_node.request.cooperative;
  work.request.cluster = of_node.request.cluster;
}

exec::UpdatableNode* updatable(const NodeWork& work) {
  const auto* kernel = std::get_if<KernelWork>(&work);
  return kernel != nullptr ? kernel->updatable.get() : nullptr;
}

void apply_updatable(KernelWork& work) {
  for (CUlaunchAttribute& attribute : work.attributes) {
    if (attribute.id != CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE) continue;
    auto& value = attribute.value.deviceUpdatableKernelNode;
    require(work.updatable == nullptr || value.deviceUpdatable == 1, CUDA_ERROR_INVALID_VALUE,
            "a node that kernels can change stays one");
    if (value.deviceUpdatable == 0) continue;
    if (work.updatable == nullptr) work.updatable = std::make_shared<exec::UpdatableNode>();
    value.devNode = reinterpret_cast<CUgraphDeviceNode>(work.updatable->handle());
  }
}

OpRef make_op(const NodeWork& work, const OpSettings& settings) {
  return std::visit(OpMaker{settings.services.memory, settings.place, settings.priority, settings.graphs}, work);
}

}  // namespace softgpu::runtime
