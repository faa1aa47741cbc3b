// Graphics resources, of whatever graphics API: mapping, unmapping, and what they are mapped to.
#include <algorithm>

#include "softgpu/api/work/streams.hpp"
#include "softgpu/runtime/graphics/graphics_resource.hpp"
#include "softgpu/runtime/memory/memory_operations.hpp"

namespace softgpu::api {
namespace {

using runtime::GraphicsResource;

std::shared_ptr<GraphicsResource> find_resource(CUgraphicsResource handle) {
  return find(Driver::get().graphics().resources, handle, "not a graphics resource, or no longer registered");
}

runtime::Resources find_resources(unsigned count, const CUgraphicsResource* handles) {
  require(count != 0, CUDA_ERROR_INVALID_VALUE, "no resources");
  require_pointer(handles, "no list of resources");
  runtime::Resources found;
  for (unsigned i = 0; i < count; ++i) {
    require(std::find(handles, handles + i, handles[i]) == handles + i, CUDA_ERROR_INVALID_HANDLE,
            "a resource is in the list twice");
    found.push_back(find_resource(handles[i]));
  }
  return found;
}

}  // namespace
}  // namespace softgpu::api

using namespace softgpu::api;

extern "C" {

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuGraphicsMapResources, _ptsz,
                              (unsigned count, CUgraphicsResource* resources, CUstream stream), [&] {
                                const auto queue = find_stream(stream, null_stream);
                                runtime::map_resources(Driver::get().graphics(), find_resources(count, resources),
                                                       *queue);
                              })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuGraphicsUnmapResources, _ptsz,
                              (unsigned count, CUgraphicsResource* resources, CUstream stream), [&] {
                                const auto queue = find_stream(stream, null_stream);
                                runtime::unmap_resources(find_resources(count, resources), *queue);
                              })

CUresult cuGraphicsUnregisterResource(CUgraphicsResource resource) {
  return call_in_context(__func__, [&](Context&) { runtime::unregister(Driver::get().graphics(), resource); });
}

CUresult cuGraphicsResourceSetMapFlags_v2(CUgraphicsResource resource, unsigned flags) {
  return call_in_context(__func__, [&](Context&) { find_resource(resource)->set_map_flags(flags); });
}
CUresult cuGraphicsResourceSetMapFlags(CUgraphicsResource resource, unsigned flags) {
  return cuGraphicsResourceSetMapFlags_v2(resource, flags);
}

CUresult cuGraphicsResourceGetMappedPointer_v2(CUdeviceptr* pointer, size_t* size, CUgraphicsResource resource) {
  return call_in_context(__func__, [&](Context&) {
    require_pointer(pointer);
    require_pointer(size);
    const std::span<std::byte> bytes = find_resource(resource)->bytes();
    *pointer = runtime::to_device(bytes.data());
    *size = bytes.size();
  });
}

CUresult cuGraphicsSubResourceGetMappedArray(CUarray* array, CUgraphicsResource resource, unsigned index,
                                             unsigned level) {
  return call_in_context(__func__, [&](Context&) {
    require_pointer(array);
    *array = find_resource(resource)->array(Driver::get().memory(), index, level);
  });
}

CUresult cuGraphicsResourceGetMappedMipmappedArray(CUmipmappedArray* array, CUgraphicsResource resource) {
  return call_in_context(__func__, [&](Context&) {
    require_pointer(array);
    *array = find_resource(resource)->mipmapped_array();
  });
}

}  // extern "C"
