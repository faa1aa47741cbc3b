// What the parameters of nodes mean.
#include <algorithm>

#include "softgpu/api/code/functions.hpp"
#include "softgpu/api/graphs/graphs.hpp"
#include "softgpu/api/memory/requests.hpp"
#include "softgpu/api/work/semaphores.hpp"
#include "softgpu/api/work/streams.hpp"
#include "softgpu/runtime/code/launch.hpp"
#include "softgpu/runtime/work/event.hpp"

namespace softgpu::api {
namespace {

using runtime::Copy;
using runtime::Graph;
using runtime::NodeWork;

NodeWork kernel_work(const NodeParams& params, const Graph&) {
  const auto& kernel = params.kernel;
  const CUfunction handle = kernel.func != nullptr ? kernel.func : reinterpret_cast<CUfunction>(kernel.kern);
  require(handle != nullptr, CUDA_ERROR_INVALID_VALUE, "no kernel");
  const auto context = context_of(kernel.func != nullptr ? nullptr : kernel.ctx);
  auto green = kernel.ctx != nullptr ? Driver::get().work().green_contexts.find(kernel.ctx) : current_green();
  return runtime::make_kernel_work(find_function(handle, *context),
                                   {.handle = handle,
                                    .grid = {kernel.gridDimX, kernel.gridDimY, kernel.gridDimZ},
                                    .block = {kernel.blockDimX, kernel.blockDimY, kernel.blockDimZ},
                                    .dynamic_shared_bytes = kernel.sharedMemBytes,
                                    .green = std::move(green),
                                    .parameters = kernel.kernelParams,
                                    .extra = kernel.extra});
}

NodeWork copy_work(const NodeParams& params, const Graph&) {
  require(params.memcpy.flags == 0, CUDA_ERROR_INVALID_VALUE, "flags must be 0");
  const CUDA_MEMCPY3D& request = params.memcpy.copyParams;
  runtime::CopyWork work{context_of(params.memcpy.copyCtx), copy_of(&request), request};
  runtime::check_copy(Driver::get().memory(), work.copy, *work.context);
  return work;
}

NodeWork fill_work(const NodeParams& params, const Graph&) {
  const auto& request = params.memset;
  require(request.elementSize == 1 || request.elementSize == 2 || request.elementSize == 4, CUDA_ERROR_INVALID_VALUE,
          "an element has 1, 2 or 4 bytes");
  require(request.width != 0 && request.height != 0, CUDA_ERROR_INVALID_VALUE, "nothing to set");
  runtime::FillWork work{context_of(request.ctx),
                         {.target = runtime::to_pointer(request.dst),
                          .width = request.width,
                          .height = request.height,
                          .pitch = request.pitch,
                          .element_bytes = request.elementSize,
                          .value = request.value}};
  runtime::check_fill(Driver::get().memory(), work.fill, *work.context);
  return work;
}

NodeWork host_work(const NodeParams& params, const Graph&) {
  require_pointer(reinterpret_cast<void*>(params.host.fn), "no function");
  return runtime::HostWork{params.host.fn, params.host.userData};
}

bool has_inside(const Graph& graph, const Graph& wanted) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(), [&](const auto& node) {
    const auto inside = graphs_inside(node->work());
    return std::any_of(inside.begin(), inside.end(),
                       [&](const auto& one) { return one.get() == &wanted || has_inside(*one, wanted); });
  });
}

NodeWork child_work(const NodeParams& params, const Graph& parent) {
  auto child = find_graph(params.graph.graph);
  require(child.get() != &parent && !child->is_child(), CUDA_ERROR_INVALID_VALUE, "a graph that can't be a child");
  require(!child->has_conditional_nodes(), CUDA_ERROR_NOT_SUPPORTED, "a graph with conditional nodes can't be a child");
  if (params.graph.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE) {
    require(!child->has_memory_nodes(), CUDA_ERROR_NOT_SUPPORTED,
            "a graph with memory nodes becomes a child only when it is moved");
    child = child->clone();
    child->make_child();
  } else {
    require(params.graph.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE, CUDA_ERROR_INVALID_VALUE,
            "a child graph is cloned or moved");
    require(!has_inside(*child, parent), CUDA_ERROR_INVALID_VALUE, "a graph that is moved into one of its own nodes");
  }
  return runtime::ChildWork{std::move(child)};
}

template <typename Work>
NodeWork event_work(CUevent handle) {
  auto event = Driver::get().work().events.find(handle);
  require(event != nullptr, CUDA_ERROR_INVALID_VALUE, "not an event, or one that was destroyed");
  return Work{std::move(event), handle};
}

NodeWork wait_work(const NodeParams& params, const Graph&) {
  return event_work<runtime::WaitWork>(params.eventWait.event);
}

NodeWork record_work(const NodeParams& params, const Graph&) {
  return event_work<runtime::RecordWork>(params.eventRecord.event);
}

NodeWork allocate_work(const NodeParams& params, const Graph&) {
  const auto& request = params.alloc;
  require(request.accessDescCount == 0 || request.accessDescs != nullptr, CUDA_ERROR_INVALID_VALUE,
          "no access descriptions");
  require(request.bytesize != 0, CUDA_ERROR_INVALID_VALUE, "an allocation of 0 bytes");
  return runtime::AllocateWork{Driver::get().graphs().graph_memory.reserve(
      request.poolProps, {request.accessDescs, request.accessDescCount}, request.bytesize)};
}

NodeWork free_work(const NodeParams& params, const Graph&) {
  return runtime::make_free_work(Driver::get().graphs(), params.free.dptr);
}

NodeWork empty_work(const NodeParams&, const Graph&) { return runtime::EmptyWork{}; }

NodeWork memory_operations_work(const NodeParams& params, const Graph&) {
  const auto& request = params.memOp;
  require_no_flags(request.flags);
  require(request.count == 0 || request.paramArray != nullptr, CUDA_ERROR_INVALID_VALUE, "no operations");
  runtime::MemoryOperationsWork work{context_of(request.ctx), {}};
  for (unsigned i = 0; i < request.count; ++i)
    runtime::check(Driver::get().memory(), work.operations.emplace_back(operation_of(request.paramArray[i])),
                   *work.context);
  return work;
}

std::size_t bodies_of(const CUDA_CONDITIONAL_NODE_PARAMS& request) {
  const bool allowed = request.type == CU_GRAPH_COND_TYPE_WHILE    ? request.size == 1
                       : request.type == CU_GRAPH_COND_TYPE_IF     ? request.size == 1 || request.size == 2
                       : request.type == CU_GRAPH_COND_TYPE_SWITCH ? request.size > 0
                                                                   : false;
  require(allowed, CUDA_ERROR_INVALID_VALUE,
          "a conditional node is an if with one or two bodies, a while with one or a switch with at least one");
  return request.size;
}

NodeWork conditional_work(const NodeParams& params, const Graph& graph) {
  const auto& request = params.conditional;
  const std::size_t bodies = bodies_of(request);
  const auto variable = graph.find_conditional(request.handle);
  require(variable != nullptr, CUDA_ERROR_INVALID_VALUE,
          "not a handle that cuGraphConditionalHandleCreate made for this graph or one that it is inside of");
  runtime::ConditionalWork work{context_of(request.ctx), variable, request.type, {}, {}};
  require(work.context == work.variable->context(), CUDA_ERROR_INVALID_VALUE,
          "the handle was created for another context");
  for (std::size_t i = 0; i < bodies; ++i) {
    work.bodies.push_back(graph.create_body(work.context));
    work.handles.push_back(work.bodies.back()->handle());
  }
  return work;
}

NodeWork signal_work(const NodeParams& params, const Graph&) {
  const auto& request = params.extSemSignal;
  return signals_of(request.extSemArray, request.paramsArray, request.numExtSems);
}

NodeWork semaphore_wait_work(const NodeParams& params, const Graph&) {
  const auto& request = params.extSemWait;
  return waits_of(request.extSemArray, request.paramsArray, request.numExtSems);
}

using WorkOf = NodeWork (*)(const NodeParams&, const Graph&);
// By CUgraphNodeType.
constexpr WorkOf kWorkOf[] = {kernel_work,
                              copy_work,
                              fill_work,
                              host_work,
                              child_work,
                              empty_work,
                              wait_work,
                              record_work,
                              signal_work,
                              semaphore_wait_work,
                              allocate_work,
                              free_work,
                              memory_operations_work,
                              conditional_work};

struct Address {
  CUmemorytype type;
  const void* host;
  CUdeviceptr device;
};

Address address_of(const std::byte* pointer) {
  const auto extent = Driver::get().memory().allocations.extent(pointer, 1);
  const bool on_device = extent && (extent->kind == memory::Kind::device || extent->kind == memory::Kind::managed);
  return on_device ? Address{CU_MEMORYTYPE_DEVICE, nullptr, runtime::to_device(pointer)}
                   : Address{CU_MEMORYTYPE_HOST, pointer, 0};
}

}  // namespace

std::shared_ptr<Context> context_of(CUcontext handle) {
  if (handle == nullptr) return current_context();
  auto context = Driver::get().work().contexts.find(handle);
  require(context != nullptr, CUDA_ERROR_INVALID_VALUE, "not a context, or one that was destroyed");
  return context;
}

NodeWork work_of(const NodeParams& params, const Graph& graph) {
  require(params.type >= 0 && static_cast<std::size_t>(params.type) < std::size(kWorkOf), CUDA_ERROR_INVALID_VALUE,
          "no such type of node");
  return kWorkOf[params.type](params, graph);
}

CUDA_MEMCPY3D request_of(const runtime::CopyWork& work) {
  if (work.request) return *work.request;
  const Copy& copy = work.copy;
  const auto rows = [](std::size_t slice, std::size_t pitch) { return pitch != 0 ? slice / pitch : 0; };
  const Address from = address_of(copy.source), to = address_of(copy.target);
  CUDA_MEMCPY3D request{};
  request.srcMemoryType = from.type;
  request.srcHost = from.host;
  request.srcDevice = from.device;
  request.srcPitch = copy.source_pitch;
  request.srcHeight = rows(copy.source_slice, copy.source_pitch);
  request.dstMemoryType = to.type;
  request.dstHost = const_cast<void*>(to.host);
  request.dstDevice = to.device;
  request.dstPitch = copy.target_pitch;
  request.dstHeight = rows(copy.target_slice, copy.target_pitch);
  request.WidthInBytes = copy.width;
  request.Height = copy.height;
  request.Depth = copy.depth;
  return request;
}

CUstreamBatchMemOpParams request_of(const runtime::MemoryOperation& operation) {
  using Kind = runtime::MemoryOperation::Kind;
  const bool is_long = operation.bytes == 8;
  CUstreamBatchMemOpParams request{};
  switch (operation.kind) {
    case Kind::wait:
      request.waitValue.operation = is_long ? CU_STREAM_MEM_OP_WAIT_VALUE_64 : CU_STREAM_MEM_OP_WAIT_VALUE_32;
      request.waitValue.address = operation.address;
      request.waitValue.value64 = operation.value;
      request.waitValue.flags = operation.flags;
      break;
    case Kind::write:
      request.writeValue.operation = is_long ? CU_STREAM_MEM_OP_WRITE_VALUE_64 : CU_STREAM_MEM_OP_WRITE_VALUE_32;
      request.writeValue.address = operation.address;
      request.writeValue.value64 = operation.value;
      request.writeValue.flags = operation.flags;
      break;
    case Kind::barrier:
      request.memoryBarrier.operation = CU_STREAM_MEM_OP_BARRIER;
      request.memoryBarrier.flags = operation.flags;
      break;
  }
  return request;
}

}  // namespace softgpu::api
