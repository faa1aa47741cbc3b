#include "softgpu/runtime/graphs/graph_node.hpp"

#include "softgpu/runtime/code/function.hpp"
#include "softgpu/runtime/code/module.hpp"
#include "softgpu/runtime/work/event.hpp"

namespace softgpu::runtime {
namespace {

struct OpMaker {
  const OpPlace& place;
  Priority priority;

  OpRef operator()(const KernelWork& work) const {
    LaunchRequest request = work.request;
    if (priority == Priority::of_stream) request.priority = place.priority;
    return make_op(*work.function, work.module, request, work.arguments, place.queue);
  }
  OpRef operator()(const CopyWork& work) const { return make_op(in(work.context), work.copy); }
  OpRef operator()(const FillWork& work) const { return make_op(in(work.context), work.fill); }
  OpRef operator()(const MemoryOperationsWork& work) const { return make_op(in(work.context), work.operations); }
  OpRef operator()(const HostWork& work) const {
    return make_host_function_op(place.context,
                                 [function = work.function, data = work.data](CUresult) { function(data); });
  }
  OpRef operator()(const WaitWork& work) const { return work.event->make_wait_op(); }
  OpRef operator()(const RecordWork& work) const { return work.event->make_record_op(place.queue); }
  // What the memory is used for is known from the launch on; when it is reached does not matter.
  OpRef operator()(const AllocateWork&) const { return point(); }
  OpRef operator()(const FreeWork&) const { return point(); }
  OpRef operator()(const EmptyWork&) const { return point(); }
  OpRef operator()(const ChildWork&) const { return point(); }

 private:
  static OpRef point() { return OpRef(new MarkerOp); }
  OpPlace in(const std::shared_ptr<Context>& context) const { return {context, place.queue, place.priority}; }
};

}  // namespace

OpRef make_op(const NodeWork& work, const OpPlace& place, Priority priority) {
  return std::visit(OpMaker{place, priority}, work);
}

}  // namespace softgpu::runtime
