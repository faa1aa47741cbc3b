// Texture and surface objects.
#include "softgpu/api/base/call.hpp"
#include "softgpu/runtime/memory/texture_object.hpp"

using namespace softgpu::api;

extern "C" {

CUresult cuTexObjectCreate(CUtexObject* texture, const CUDA_RESOURCE_DESC* resource, const CUDA_TEXTURE_DESC* sampling,
                           const CUDA_RESOURCE_VIEW_DESC* view) {
  return call_in_context(__func__, [&](Context& context) {
    require_pointer(texture);
    require_pointer(resource, "no descriptor of a resource");
    require_pointer(sampling, "no descriptor of a texture");
    *texture = runtime::create_texture(Driver::get().memory(), context, *resource, *sampling, view);
  });
}

CUresult cuTexObjectDestroy(CUtexObject texture) {
  return call_in_context(__func__, [&](Context&) { runtime::destroy_texture(texture); });
}

CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC* resource, CUtexObject texture) {
  return call_in_context(__func__, [&](Context&) {
    require_pointer(resource);
    *resource = runtime::find_texture(texture)->resource;
  });
}

CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC* sampling, CUtexObject texture) {
  return call_in_context(__func__, [&](Context&) {
    require_pointer(sampling);
    *sampling = runtime::find_texture(texture)->sampling;
  });
}

CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC* view, CUtexObject texture) {
  return call_in_context(__func__, [&](Context&) {
    require_pointer(view);
    const auto found = runtime::find_texture(texture);
    require(found->view.has_value(), CUDA_ERROR_INVALID_VALUE, "the texture was made without a view");
    *view = *found->view;
  });
}

CUresult cuSurfObjectCreate(CUsurfObject* surface, const CUDA_RESOURCE_DESC* resource) {
  return call_in_context(__func__, [&](Context& context) {
    require_pointer(surface);
    require_pointer(resource, "no descriptor of a resource");
    *surface = runtime::create_surface(Driver::get().memory(), context, *resource);
  });
}

CUresult cuSurfObjectDestroy(CUsurfObject surface) {
  return call_in_context(__func__, [&](Context&) { runtime::destroy_surface(surface); });
}

CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC* resource, CUsurfObject surface) {
  return call_in_context(__func__, [&](Context&) {
    require_pointer(resource);
    *resource = runtime::find_surface(surface)->resource;
  });
}

}  // extern "C"
