// What graphs own: memory that their nodes allocate, and objects that programs hand over.
#include "softgpu/runtime/graphs/graph_memory.hpp"

#include "softgpu/api/graphs/graphs.hpp"
#include "softgpu/runtime/graphs/user_object.hpp"

namespace softgpu::api {
namespace {

using runtime::UserObject;

runtime::GraphMemory& graph_memory(CUdevice device) {
  Driver::get().device(device);
  return Driver::get().graphs().graph_memory;
}

std::shared_ptr<UserObject> find_user_object(CUuserObject handle) {
  auto object = Driver::get().graphs().user_objects.find(handle);
  require_handle(object != nullptr, CUDA_ERROR_INVALID_VALUE, "not a user object, or one that is gone");
  return object;
}

void require_references(unsigned count) {
  require(count != 0 && count <= 0x7fffffff, CUDA_ERROR_INVALID_VALUE, "a number of references from 1 to INT_MAX");
}

}  // namespace
}  // namespace softgpu::api

using namespace softgpu::api;

extern "C" {

CUresult cuGraphAddMemAllocNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                CUDA_MEM_ALLOC_NODE_PARAMS* params) {
  return call(__func__, [&] {
    require_pointer(params, "no parameters");
    CUgraphNodeParams as_node{};
    as_node.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
    as_node.alloc = {params->poolProps, params->accessDescs, params->accessDescCount, params->bytesize, 0};
    const CUresult result = cuGraphAddNode_v2(node, graph, dependencies, nullptr, count, &as_node);
    params->dptr = as_node.alloc.dptr;
    return result;
  });
}

CUresult cuGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS* params) {
  return call(__func__, [&] {
    require_pointer(params);
    const auto found = find_node(node);
    const auto& allocation = *work_as<runtime::AllocateWork>(*found).allocation;
    *params = {allocation.properties(), allocation.accesses().data(), allocation.accesses().size(), allocation.bytes(),
               allocation.address()};
  });
}

CUresult cuGraphAddMemFreeNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                               CUdeviceptr pointer) {
  return call(__func__, [&] {
    CUgraphNodeParams params{};
    params.type = CU_GRAPH_NODE_TYPE_MEM_FREE;
    params.free.dptr = pointer;
    return cuGraphAddNode_v2(node, graph, dependencies, nullptr, count, &params);
  });
}

CUresult cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr* pointer) {
  return call(__func__, [&] {
    require_pointer(pointer);
    *pointer = work_as<runtime::FreeWork>(*find_node(node)).allocation->address();
  });
}

CUresult cuDeviceGraphMemTrim(CUdevice device) {
  return call(__func__, [&] { graph_memory(device).trim(device); });
}

CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute, void* value) {
  return call(__func__, [&] {
    require_pointer(value);
    const runtime::GraphMemoryUsage usage = graph_memory(device).usage(device);
    const auto give = [value](std::uint64_t bytes) { *static_cast<cuuint64_t*>(value) = bytes; };
    switch (attribute) {
      case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT: return give(usage.bytes);
      case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH: return give(usage.used_high);
      case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT: return give(usage.bytes);
      case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH: return give(usage.reserved_high);
      default: throw Failure(CUDA_ERROR_INVALID_VALUE, "no such attribute of graph memory");
    }
  });
}

CUresult cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute, void* value) {
  return call(__func__, [&] {
    require_pointer(value, "no value");
    auto& memory = graph_memory(device);
    require(*static_cast<const cuuint64_t*>(value) == 0, CUDA_ERROR_INVALID_VALUE,
            "a high-water mark can be set to 0 only");
    switch (attribute) {
      case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH: return memory.reset_used_high(device);
      case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH: return memory.reset_reserved_high(device);
      default: throw Failure(CUDA_ERROR_INVALID_VALUE, "this attribute of graph memory can't be set");
    }
  });
}

CUresult cuUserObjectCreate(CUuserObject* object, void* data, CUhostFn destroy, unsigned references, unsigned flags) {
  return call(__func__, [&] {
    require_pointer(object);
    require_pointer(reinterpret_cast<void*>(destroy), "no function");
    require(flags == CU_USER_OBJECT_NO_DESTRUCTOR_SYNC, CUDA_ERROR_INVALID_VALUE,
            "a user object is created with CU_USER_OBJECT_NO_DESTRUCTOR_SYNC");
    require_references(references);
    const auto made = std::make_shared<UserObject>(Driver::get().graphs().user_objects, data, destroy, references);
    *object = Driver::get().graphs().user_objects.add(made);
    made->set_handle(*object);
  });
}

CUresult cuUserObjectRetain(CUuserObject object, unsigned count) {
  return call(__func__, [&] {
    require_references(count);
    find_user_object(object)->retain(count);
  });
}

CUresult cuUserObjectRelease(CUuserObject object, unsigned count) {
  return call(__func__, [&] {
    require_references(count);
    find_user_object(object)->release(count);
  });
}

CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned count, unsigned flags) {
  return call(__func__, [&] {
    require_references(count);
    require((flags & ~static_cast<unsigned>(CU_GRAPH_USER_OBJECT_MOVE)) == 0, CUDA_ERROR_INVALID_VALUE,
            "unknown flags");
    const auto target = find_graph(graph);
    const auto found = find_user_object(object);
    if (flags != CU_GRAPH_USER_OBJECT_MOVE) found->retain(count);
    target->user_objects().adopt(found, count);
  });
}

CUresult cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned count) {
  return call(__func__, [&] {
    require_references(count);
    find_graph(graph)->user_objects().release(find_user_object(object), count);
  });
}

}  // extern "C"
