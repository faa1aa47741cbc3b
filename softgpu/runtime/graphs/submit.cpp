#include "softgpu/runtime/graphs/submit.hpp"

#include <utility>

#include "softgpu/exec/updatable_nodes.hpp"
#include "softgpu/runtime/graphs/capture.hpp"
#include "softgpu/runtime/graphs/graph_services.hpp"
#include "softgpu/runtime/memory/memory_pool.hpp"
#include "softgpu/runtime/memory/memory_services.hpp"
#include "softgpu/runtime/work/context.hpp"
#include "softgpu/runtime/work/host_function.hpp"
#include "softgpu/runtime/work/stream.hpp"

namespace softgpu::runtime {
namespace {

std::shared_ptr<Context> context_of(const Stream& stream) { return stream.context().shared_from_this(); }

CUdeviceptr allocate_in_graph(GraphServices& services, Stream& stream, const MemoryPool& pool, std::size_t bytes) {
  CUmemPoolProps properties{};
  properties.allocType = pool.type();
  properties.location = pool.location();
  auto allocation = services.graph_memory.reserve(properties, {}, bytes);
  const CUdeviceptr address = allocation->address();
  capture_work(stream, AllocateWork{std::move(allocation)});
  return address;
}

}  // namespace

void submit_copy(GraphServices& services, Stream& stream, const Copy& copy) {
  if (!stream.is_captured()) return copy_async(services.memory, stream, copy);
  if (copy.bytes() == 0) return;
  check_copy(services.memory, copy, stream.context());
  capture_work(stream, CopyWork{context_of(stream), copy, {}});
}

void submit_fill(GraphServices& services, Stream& stream, const Fill& fill) {
  if (!stream.is_captured()) return fill_async(services.memory, stream, fill);
  if (fill.bytes() == 0) return;
  check_fill(services.memory, fill, stream.context());
  capture_work(stream, FillWork{context_of(stream), fill});
}

void submit_memory_operations(Stream& stream, std::vector<MemoryOperation> operations) {
  if (!stream.is_captured()) return enqueue(stream, std::move(operations));
  capture_work(stream, MemoryOperationsWork{context_of(stream), std::move(operations)});
}

CUgraphDeviceNode submit_launch(Stream& stream, const std::shared_ptr<Function>& function,
                                const LaunchRequest& request) {
  if (!stream.is_captured()) {
    launch(function, stream, request);
    return nullptr;
  }
  LaunchRequest here = request;
  here.green = stream.shared_green();
  KernelWork work = make_kernel_work(function, here, &stream.context());
  const std::uint64_t node = work.updatable != nullptr ? work.updatable->handle() : 0;
  capture_work(stream, std::move(work));
  return reinterpret_cast<CUgraphDeviceNode>(node);
}

void submit_host_function(Stream& stream, CUhostFn function, void* data) {
  if (stream.is_captured()) return capture_work(stream, HostWork{function, data});
  const OpRef op = make_host_function_op(context_of(stream), [function, data](CUresult) { function(data); });
  stream.enqueue(*op);
}

void submit_signal(Stream& stream, SignalSemaphoresWork work) {
  if (stream.is_captured()) return capture_work(stream, std::move(work));
  const OpRef op = make_signal_op(stream.place(), std::move(work.values));
  stream.enqueue(*op);
}

void submit_wait(Stream& stream, WaitSemaphoresWork work) {
  if (stream.is_captured()) return capture_work(stream, std::move(work));
  const OpRef op = make_wait_op(stream.place(), std::move(work.values));
  stream.enqueue(*op);
}

CUdeviceptr submit_allocation(GraphServices& services, Stream& stream, MemoryPool& pool, std::size_t bytes) {
  require(pool.imported_heap() == nullptr, CUDA_ERROR_INVALID_VALUE, "nothing can be allocated from an imported pool");
  if (stream.is_captured()) return allocate_in_graph(services, stream, pool, bytes);
  require_unsafe_calls_allowed();
  return allocate_async(services.memory, pool, bytes, stream);
}

void submit_free(GraphServices& services, Stream& stream, CUdeviceptr pointer) {
  if (stream.is_captured()) return capture_work(stream, make_free_work(services, pointer));
  stream.require_uncaptured();
  require_unsafe_calls_allowed();
  if (!services.graph_memory.free(pointer, &stream)) free_async(services.memory, pointer, stream);
}

void free_any_device(GraphServices& services, CUdeviceptr pointer) {
  if (services.graph_memory.find(pointer) == nullptr) return free_device(services.memory, pointer);
  require_unsafe_calls_allowed();
  services.memory.work.wait_for_all_contexts();
  services.graph_memory.free(pointer, nullptr);
}

}  // namespace softgpu::runtime
