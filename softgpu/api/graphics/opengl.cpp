// Registering objects of OpenGL.
#include <algorithm>

#include "softgpu/api/base/call.hpp"
#include "softgpu/runtime/graphics/graphics_resource.hpp"

using namespace softgpu::api;

extern "C" {

CUresult cuGraphicsGLRegisterBuffer(CUgraphicsResource* resource, GLuint buffer, unsigned flags) {
  return call_in_context(__func__, [&](Context& context) {
    require_pointer(resource);
    *resource = runtime::register_buffer(Driver::get().graphics(), context, buffer, flags);
  });
}

CUresult cuGraphicsGLRegisterImage(CUgraphicsResource* resource, GLuint image, GLenum target, unsigned flags) {
  return call_in_context(__func__, [&](Context& context) {
    require_pointer(resource);
    *resource = runtime::register_image(Driver::get().graphics(), context, image, target, flags);
  });
}

// All devices: each can share objects with any OpenGL, since the contents go through the host's memory.
CUresult cuGLGetDevices_v2(unsigned* count, CUdevice* devices, unsigned capacity, CUGLDeviceList list) {
  return call(__func__, [&] {
    require_pointer(count);
    require(capacity == 0 || devices != nullptr, CUDA_ERROR_INVALID_VALUE, "no room for the devices");
    require(list >= CU_GL_DEVICE_LIST_ALL && list <= CU_GL_DEVICE_LIST_NEXT_FRAME, CUDA_ERROR_INVALID_VALUE,
            "no such list of devices");
    runtime::require_opengl();
    *count = static_cast<unsigned>(Driver::get().devices().count());
    for (unsigned i = 0; i < std::min(*count, capacity); ++i) devices[i] = static_cast<CUdevice>(i);
  });
}
CUresult cuGLGetDevices(unsigned* count, CUdevice* devices, unsigned capacity, CUGLDeviceList list) {
  return cuGLGetDevices_v2(count, devices, capacity, list);
}

}  // extern "C"
