#include <cuprum/device.hpp>
#include <cuprum/driver.hpp>
#include <cuprum/error.hpp>
#include <cuprum/graph_memory_resource.hpp>
#include <cuprum/stream.hpp>
#include <map>
#include <mutex>
#include <ostream>
#include <unordered_map>
#include <utility>

#include "core/base/context.hpp"
#include "core/memory/graph_memory.hpp"
#include "core/memory/keeper.hpp"
#include "core/stream/captures.hpp"
#include "core/stream/default_streams.hpp"
#include "core/stream/graph_changes.hpp"
#include "core/stream/queue_call.hpp"
#include "core/stream/resources.hpp"
#include "support/log.hpp"
#include "support/text.hpp"

namespace cuprum::core {

using driver::Api;
using driver::Doing;
using support::text;

namespace {

void check_captured(const Stream& stream, std::size_t size) {
  const auto queue = detail::Access::keep(stream);
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  driver::call<&Api::cuStreamIsCapturing>(Doing{[&] { return text("asking whether ", stream, " is being captured"); }},
                                          queue->handle, &status);
  if (status == CU_STREAM_CAPTURE_STATUS_ACTIVE) return;
  throw InvalidArgument(text("allocating ", size, " bytes from a GraphMemoryResource on ", stream,
                             ": the stream is not being captured; use a DeviceMemoryResource"));
}

/// The buffers that are there, with the streams on which the graphs that allocate them were launched last.
class KnownBuffers {
 public:
  void add(DevicePointer pointer) {
    const std::scoped_lock lock(mutex_);
    launched_on_[pointer] = {};
  }
  detail::Kept<detail::StreamResource> remove(DevicePointer pointer) {
    const std::scoped_lock lock(mutex_);
    auto node = launched_on_.extract(pointer);
    return node ? std::move(node.mapped()) : detail::Kept<detail::StreamResource>();
  }
  bool contains(DevicePointer pointer) {
    const std::scoped_lock lock(mutex_);
    return launched_on_.contains(pointer);
  }
  bool is_empty() {
    const std::scoped_lock lock(mutex_);
    return launched_on_.empty();
  }
  void note(DevicePointer pointer, const detail::Kept<detail::StreamResource>& stream) {
    detail::Kept<detail::StreamResource> before;  // destroyed after the lock
    const std::scoped_lock lock(mutex_);
    const auto found = launched_on_.find(pointer);
    if (found != launched_on_.end()) before = std::exchange(found->second, stream);
  }

 private:
  std::mutex mutex_;
  std::unordered_map<DevicePointer, detail::Kept<detail::StreamResource>> launched_on_;
};

KnownBuffers& known_buffers() {
  static auto* const known = new KnownBuffers;  // buffers go until the end of the process
  return *known;
}

// Whether there is something to free depends on whether the graph was launched, which is the program's business: so a
// free that finds nothing is no failure.
void free_now(DevicePointer pointer, std::size_t size, const Stream& stream) {
  const auto queue = detail::Access::keep(stream);
  const QueuingWork queuing(*queue, std::nothrow);
  const CUresult result = driver::try_call<&Api::cuMemFreeAsync>(pointer, queue->handle);
  if (result == CUDA_SUCCESS || result == CUDA_ERROR_INVALID_VALUE || result == CUDA_ERROR_DEINITIALIZED ||
      result == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED)
    return;
  driver::detail::raise(
      result, driver::detail::index_of_cuMemFreeAsync,
      text("freeing ", size, " bytes of a graph at ", reinterpret_cast<void*>(pointer), " on ", stream));
}

void free_behind(const Stream& other, DevicePointer pointer, std::size_t size, const Stream& stream) {
  stream.wait(other);
  free_now(pointer, size, stream);
}

}  // namespace

std::vector<DevicePointer> buffers_allocated_by(CUgraph graph) {
  if (known_buffers().is_empty()) return {};
  const Doing doing{[] { return "finding out what memory a graph allocates"; }};
  std::size_t count = 0;
  driver::call<&Api::cuGraphGetNodes>(doing, graph, static_cast<CUgraphNode*>(nullptr), &count);
  std::vector<CUgraphNode> nodes(count);
  if (count > 0) driver::call<&Api::cuGraphGetNodes>(doing, graph, nodes.data(), &count);
  std::vector<DevicePointer> found;
  for (const CUgraphNode node : nodes) {
    CUgraphNodeType type{};
    driver::call<&Api::cuGraphNodeGetType>(doing, node, &type);
    if (type != CU_GRAPH_NODE_TYPE_MEM_ALLOC) continue;
    CUDA_MEM_ALLOC_NODE_PARAMS params{};
    driver::call<&Api::cuGraphMemAllocNodeGetParams>(doing, node, &params);
    if (known_buffers().contains(params.dptr)) found.push_back(params.dptr);
  }
  return found;
}

void note_launch(const std::vector<DevicePointer>& buffers, const detail::Kept<detail::StreamResource>& stream) {
  for (const DevicePointer buffer : buffers) known_buffers().note(buffer, stream);
}

DevicePointer GraphMemory::allocate(std::size_t size, const Stream& stream) {
  const auto queue = detail::Access::keep(stream);
  check_captured(stream, size);
  if (stream.device().device_id() != device_) {
    throw InvalidArgument(text("allocating ", size, " bytes from the GraphMemoryResource of device ", device_, " on ",
                               stream, ": take that of the stream's device"));
  }
  CUdeviceptr pointer = 0;
  queue_work<&Api::cuMemAllocAsync>(*queue,
                                    Doing{[&] { return text("allocating ", size, " bytes in a graph on ", stream); }},
                                    &pointer, size, queue->handle);
  known_buffers().add(pointer);
  return pointer;
}

// Launches that may use the memory can be on other streams than the one that it is freed on, and are not over yet. What
// is captured is in the order that the graphs will be launched in, which is the program's business.
void GraphMemory::deallocate(DevicePointer pointer, std::size_t size, const Stream& stream) {
  const detail::Kept<detail::StreamResource> launched_on = known_buffers().remove(pointer);
  const auto queue = detail::Access::keep(stream);
  if (!launched_on || launched_on->handle == queue->handle || captured_graph(*queue))
    return free_now(pointer, size, stream);
  if (!is_something_captured()) [[likely]]
    return free_behind(handle_of(reachable(launched_on)), pointer, size, stream);
  after_capture(launched_on, [launched_on, pointer, size, stream = handle_of(queue)] {
    try {
      free_behind(handle_of(reachable(launched_on)), pointer, size, stream);
    } catch (const std::exception& error) {
      support::log(text("freeing a buffer failed: ", error.what()));
    }
  });
}

std::shared_ptr<const void> memory_keeper(const detail::Kept<detail::BufferResource>& memory) {
  if (dynamic_cast<const GraphMemory*>(memory->memory.get())) return nullptr;
  return std::make_shared<const detail::Kept<detail::BufferResource>>(memory);
}

const std::shared_ptr<GraphMemory>& graph_memory(int device) {
  static std::mutex* const mutex = new std::mutex;  // destructors may need these at the end of the process
  static auto* const known = new std::map<int, std::shared_ptr<GraphMemory>>;
  std::lock_guard lock(*mutex);
  std::shared_ptr<GraphMemory>& memory = (*known)[device];
  if (!memory) memory = std::make_shared<GraphMemory>(device);
  return memory;
}

}  // namespace cuprum::core

namespace cuprum::inline CUPRUM_ABI {

using driver::Api;
using driver::Doing;
using support::text;

namespace {

std::uint64_t graph_memory_attribute(int device, CUgraphMem_attribute which) {
  cuuint64_t value = 0;
  driver::call<&Api::cuDeviceGetGraphMemAttribute>(
      Doing{[&] { return text("reading how much memory of device ", device, " belongs to graphs"); }}, device, which,
      static_cast<void*>(&value));
  return value;
}

void reset_graph_memory_mark(int device, CUgraphMem_attribute which) {
  cuuint64_t zero = 0;
  driver::call<&Api::cuDeviceSetGraphMemAttribute>(
      Doing{[&] { return text("resetting a mark of the memory of graphs of device ", device); }}, device, which,
      static_cast<void*>(&zero));
}

}  // namespace

std::uint64_t GraphMemoryResourceAttributes::reserved_mem_current() const {
  return graph_memory_attribute(device_, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT);
}

std::uint64_t GraphMemoryResourceAttributes::reserved_mem_high() const {
  return graph_memory_attribute(device_, CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH);
}

void GraphMemoryResourceAttributes::reset_reserved_mem_high() const {
  reset_graph_memory_mark(device_, CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH);
}

std::uint64_t GraphMemoryResourceAttributes::used_mem_current() const {
  return graph_memory_attribute(device_, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT);
}

std::uint64_t GraphMemoryResourceAttributes::used_mem_high() const {
  return graph_memory_attribute(device_, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH);
}

void GraphMemoryResourceAttributes::reset_used_mem_high() const {
  reset_graph_memory_mark(device_, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH);
}

std::ostream& operator<<(std::ostream& out, const GraphMemoryResourceAttributes& attributes) {
  return out << "reserved_mem_current=" << attributes.reserved_mem_current()
             << ", reserved_mem_high=" << attributes.reserved_mem_high()
             << ", used_mem_current=" << attributes.used_mem_current()
             << ", used_mem_high=" << attributes.used_mem_high();
}

GraphMemoryResource::GraphMemoryResource(const Device& device)
    : MemoryResource(std::static_pointer_cast<Interface>(core::graph_memory(device.device_id()))) {}

GraphMemoryResourceAttributes GraphMemoryResource::attributes() const {
  return GraphMemoryResourceAttributes(device_id().value());
}

void GraphMemoryResource::trim() const {
  const int device = device_id().value();
  driver::call<&Api::cuDeviceGraphMemTrim>(
      Doing{[&] { return text("giving back memory of graphs on device ", device); }}, device);
}

bool GraphMemoryResource::is_kind_of(const MemoryResource& resource) {
  return dynamic_cast<core::GraphMemory*>(resource.implementation().get()) != nullptr;
}

}  // namespace cuprum::inline CUPRUM_ABI
