#include "core/graph/node_params.hpp"

#include <cstdint>

#include "core/code/kernel_resource.hpp"
#include "core/launch/launch_checks.hpp"
#include "core/launch/native_launch.hpp"
#include "core/memory/keeper.hpp"
#include "support/text.hpp"

namespace cuprum::core {

using detail::Access;
using driver::Api;
using driver::Doing;
using graph::CopyExtent;
using graph::GraphAllocOptions;
using graph::GraphConditionalType;
using graph::GraphMemoryType;
using graph::Operand;
using support::text;

namespace {

CUgraphNodeParams params_of(CUgraphNodeType type) {
  CUgraphNodeParams params{};
  params.type = type;
  return params;
}

// The driver finds out what memory it is, as it does for plain copies, where it does not know the address yet: memory
// that a graph is yet to allocate, and pageable memory of the host.
CUmemorytype memory_type_of(DevicePointer address) {
  unsigned type = 0;
  const CUresult result = driver::try_call<&Api::cuPointerGetAttribute>(static_cast<void*>(&type),
                                                                        CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address);
  if (result == CUDA_ERROR_INVALID_VALUE || (result == CUDA_SUCCESS && type == 0)) return CU_MEMORYTYPE_UNIFIED;
  if (result != CUDA_SUCCESS) {
    driver::detail::raise(result, driver::detail::index_of_cuPointerGetAttribute,
                          text("asking what memory is at ", reinterpret_cast<void*>(address)));
  }
  return static_cast<CUmemorytype>(type);
}

unsigned conditional_type(GraphConditionalType type) {
  switch (type) {
    case GraphConditionalType::if_: return CU_GRAPH_COND_TYPE_IF;
    case GraphConditionalType::while_: return CU_GRAPH_COND_TYPE_WHILE;
    case GraphConditionalType::switch_: break;
  }
  return CU_GRAPH_COND_TYPE_SWITCH;
}

void check_extent(const CopyExtent& extent) {
  const auto gap = [](std::size_t pitch, std::size_t width) { return pitch != 0 && pitch < width; };
  if (extent.width == 0 || extent.height == 0 || extent.depth == 0)
    throw InvalidArgument(text("a copy node of ", extent.width, " by ", extent.height, " by ", extent.depth,
                               ": there is nothing to copy"));
  if (gap(extent.dst_pitch, extent.width) || gap(extent.src_pitch, extent.width))
    throw InvalidArgument(text("a copy node with rows of ", extent.width, " bytes: the pitches ", extent.dst_pitch,
                               " and ", extent.src_pitch, " must be 0 or at least that"));
  if (gap(extent.dst_height, extent.height) || gap(extent.src_height, extent.height))
    throw InvalidArgument(text("a copy node of ", extent.height, " rows: the heights ", extent.dst_height, " and ",
                               extent.src_height, " must be 0 or at least that"));
}

}  // namespace

std::shared_ptr<const void> keeper(const Event& event) { return Access::keeper_of(event); }

std::shared_ptr<const void> keeper(const Kernel& kernel) { return Access::keep(kernel); }

std::shared_ptr<const void> keeper(const Operand& operand) {
  return operand.buffer_is_given() ? memory_keeper(operand.memory()) : operand.owner();
}

void check_node_config(const LaunchConfig& config) {
  if (config.programmatic_stream_serialization) {
    throw InvalidArgument(
        "a kernel node can't have programmatic_stream_serialization, which is about the launch before it on a stream");
  }
}

namespace {

NodeRequest checked_kernel_request(const ContextRecord& context, const LaunchConfig& config, const Kernel& kernel,
                                   void** addresses) {
  detail::KernelResource& resource = *Access::keep(kernel);
  check_node_config(config);
  admit(config, resource.in(context), resource.name);
  const NativeLaunch launch(config);
  const CUlaunchConfig native = launch.on(nullptr);
  NodeRequest request{params_of(CU_GRAPH_NODE_TYPE_KERNEL)};
  auto& params = request.params.kernel;
  params.gridDimX = native.gridDimX;
  params.gridDimY = native.gridDimY;
  params.gridDimZ = native.gridDimZ;
  params.blockDimX = native.blockDimX;
  params.blockDimY = native.blockDimY;
  params.blockDimZ = native.blockDimZ;
  params.sharedMemBytes = native.sharedMemBytes;
  params.kernelParams = addresses;
  params.kern = resource.handle_in(context);
  params.ctx = context.handle;
  request.owners.push_back(keeper(kernel));
  request.known.kernel = kernel;
  return request;
}

}  // namespace

NodeRequest kernel_request(const ContextRecord& context, const LaunchConfig& config, const Kernel& kernel,
                           const detail::ArgumentList& arguments, const detail::KeptBuffers& buffers) {
  check_arguments(*Access::keep(kernel), "launching", arguments.sizes, arguments.count);
  NodeRequest request = checked_kernel_request(context, config, kernel, arguments.addresses);
  for (const auto& buffer : buffers) request.owners.push_back(memory_keeper(buffer));
  return request;
}

NodeRequest kernel_request(const ContextRecord& context, const LaunchConfig& config, const Kernel& kernel,
                           const KernelArguments& arguments) {
  check_arguments(*Access::keep(kernel), "launching", arguments);
  NodeRequest request = checked_kernel_request(context, config, kernel, const_cast<void**>(arguments.addresses.data()));
  for (const Buffer& buffer : arguments.buffers) request.owners.push_back(memory_keeper(detail::keep_memory(buffer)));
  return request;
}

NodeRequest memset_request(const ContextRecord& context, const Operand& dst, detail::FillPattern pattern,
                           std::size_t width, std::size_t height, std::size_t pitch) {
  if (width == 0 || height == 0)
    throw InvalidArgument(text("a fill node of ", height, " rows of ", width, " elements: there is nothing to fill"));
  if (width > SIZE_MAX / pattern.width)
    throw InvalidArgument(
        text("a fill node with rows of ", width, " elements of ", pattern.width, " bytes: no memory is that large"));
  if (height > 1 && pitch < width * pattern.width)
    throw InvalidArgument(text("a fill node with rows of ", width * pattern.width, " bytes: the pitch of ", pitch,
                               " must be at least that"));
  NodeRequest request{params_of(CU_GRAPH_NODE_TYPE_MEMSET)};
  auto& params = request.params.memset;
  params.dst = dst.address();
  params.pitch = pitch;
  params.value = pattern.bits;
  params.elementSize = pattern.width;
  params.width = width;
  params.height = height;
  params.ctx = context.handle;
  request.owners = {keeper(dst)};
  return request;
}

NodeRequest memcpy_request(const ContextRecord& context, const Operand& dst, const Operand& src,
                           const CopyExtent& extent) {
  check_extent(extent);
  NodeRequest request{params_of(CU_GRAPH_NODE_TYPE_MEMCPY)};
  request.params.memcpy.copyCtx = context.handle;
  CUDA_MEMCPY3D& copy = request.params.memcpy.copyParams;
  set_dst(copy, dst.address());
  set_src(copy, src.address());
  copy.dstPitch = extent.dst_pitch;
  copy.srcPitch = extent.src_pitch;
  copy.dstHeight = extent.dst_height;
  copy.srcHeight = extent.src_height;
  copy.WidthInBytes = extent.width;
  copy.Height = extent.height;
  copy.Depth = extent.depth;
  const bool has_rows = extent.height > 1 || extent.depth > 1;
  if (has_rows && copy.dstPitch == 0) copy.dstPitch = extent.width;
  if (has_rows && copy.srcPitch == 0) copy.srcPitch = extent.width;
  if (extent.depth > 1 && copy.dstHeight == 0) copy.dstHeight = extent.height;
  if (extent.depth > 1 && copy.srcHeight == 0) copy.srcHeight = extent.height;
  request.owners = {keeper(dst), keeper(src)};
  return request;
}

NodeRequest alloc_request(const ContextRecord& context, std::size_t size, const GraphAllocOptions& options,
                          std::vector<CUmemAccessDesc>& access) {
  if (size == 0) throw InvalidArgument("an allocation node of 0 bytes: it must allocate something");
  const int device = options.device ? options.device->device_id() : context.device;
  for (const Device& peer : options.peer_access)
    access.push_back({{CU_MEM_LOCATION_TYPE_DEVICE, peer.device_id()}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE});
  NodeRequest request{params_of(CU_GRAPH_NODE_TYPE_MEM_ALLOC)};
  auto& params = request.params.alloc;
  params.bytesize = size;
  params.poolProps.handleTypes = CU_MEM_HANDLE_TYPE_NONE;
  params.poolProps.allocType =
      options.memory_type == GraphMemoryType::managed ? CU_MEM_ALLOCATION_TYPE_MANAGED : CU_MEM_ALLOCATION_TYPE_PINNED;
  params.poolProps.location = options.memory_type == GraphMemoryType::host
                                  ? CUmemLocation{CU_MEM_LOCATION_TYPE_HOST, 0}
                                  : CUmemLocation{CU_MEM_LOCATION_TYPE_DEVICE, device};
  params.accessDescs = access.empty() ? nullptr : access.data();
  params.accessDescCount = access.size();
  return request;
}

NodeRequest free_request(DevicePointer dptr) {
  NodeRequest request{params_of(CU_GRAPH_NODE_TYPE_MEM_FREE)};
  request.params.free.dptr = dptr;
  return request;
}

NodeRequest child_request(CUgraph child) {
  NodeRequest request{params_of(CU_GRAPH_NODE_TYPE_GRAPH)};
  request.params.graph.graph = child;
  return request;
}

NodeRequest record_request(const Event& event) {
  const auto kept = Access::keep(event);
  NodeRequest request{params_of(CU_GRAPH_NODE_TYPE_EVENT_RECORD), {keeper(event)}, {.event = event}};
  request.params.eventRecord.event = kept->handle;
  return request;
}

NodeRequest wait_request(const Event& event) {
  const auto kept = Access::keep(event);
  NodeRequest request{params_of(CU_GRAPH_NODE_TYPE_WAIT_EVENT), {keeper(event)}, {.event = event}};
  request.params.eventWait.event = kept->handle;
  return request;
}

NodeRequest callback_request(std::function<void()> function) {
  if (!function) throw InvalidArgument("a callback node: the function is empty");
  auto callback = std::make_shared<const HostFunction>(HostFunction{std::move(function)});
  NodeRequest request = callback_request(HostFunction::call, const_cast<HostFunction*>(callback.get()), callback);
  request.known.callback = std::move(callback);
  return request;
}

NodeRequest callback_request(CUhostFn function, void* user_data, std::shared_ptr<const void> owner) {
  if (!function) throw InvalidArgument("a callback node: the function is null");
  NodeRequest request{params_of(CU_GRAPH_NODE_TYPE_HOST), {std::move(owner)}};
  request.params.host.fn = function;
  request.params.host.userData = user_data;
  return request;
}

NodeRequest conditional_request(const ContextRecord& context, const graph::GraphCondition& condition,
                                GraphConditionalType type, unsigned count) {
  NodeRequest request{params_of(CU_GRAPH_NODE_TYPE_CONDITIONAL)};
  auto& params = request.params.conditional;
  params.handle = condition.handle();
  params.type = static_cast<CUgraphConditionalNodeType>(conditional_type(type));
  params.size = count;
  params.ctx = context.handle;
  request.known.conditional = KnownConditional{condition, type, {}};
  return request;
}

DevicePointer dst_address(const CUDA_MEMCPY3D& copy) {
  return copy.dstMemoryType == CU_MEMORYTYPE_HOST ? reinterpret_cast<DevicePointer>(copy.dstHost) : copy.dstDevice;
}

DevicePointer src_address(const CUDA_MEMCPY3D& copy) {
  return copy.srcMemoryType == CU_MEMORYTYPE_HOST ? reinterpret_cast<DevicePointer>(copy.srcHost) : copy.srcDevice;
}

void set_dst(CUDA_MEMCPY3D& copy, DevicePointer address) {
  copy.dstMemoryType = memory_type_of(address);
  const bool is_host = copy.dstMemoryType == CU_MEMORYTYPE_HOST;
  copy.dstHost = is_host ? reinterpret_cast<void*>(address) : nullptr;
  copy.dstDevice = is_host ? 0 : address;
}

void set_src(CUDA_MEMCPY3D& copy, DevicePointer address) {
  copy.srcMemoryType = memory_type_of(address);
  const bool is_host = copy.srcMemoryType == CU_MEMORYTYPE_HOST;
  copy.srcHost = is_host ? reinterpret_cast<const void*>(address) : nullptr;
  copy.srcDevice = is_host ? 0 : address;
}

}  // namespace cuprum::core

namespace cuprum::inline CUPRUM_ABI::detail {

FillPattern FillPattern::of_bytes(std::span<const std::byte> value) {
  if (value.size() != 1 && value.size() != 2 && value.size() != 4)
    throw InvalidArgument(support::text("a fill with a value of ", value.size(), " bytes: it must have 1, 2 or 4"));
  FillPattern pattern{0, static_cast<unsigned>(value.size())};
  std::memcpy(&pattern.bits, value.data(), value.size());
  return pattern;
}

}  // namespace cuprum::inline CUPRUM_ABI::detail
