// Images of EGL. A program never maps one: CUDA and OpenGL use the same memory, and the program waits for one before it
// goes on with the other. softgpu's kernels see a copy of what OpenGL has, and here is no moment to make it.
#include "softgpu/api/base/call.hpp"
#include "softgpu/runtime/graphics/graphics_resource.hpp"

using namespace softgpu::api;

extern "C" {

CUresult cuGraphicsEGLRegisterImage(CUgraphicsResource* resource, EGLImageKHR image, unsigned) {
  return call_in_context(__func__, [&](Context&) {
    require_pointer(resource);
    require(image != EGL_NO_IMAGE_KHR, CUDA_ERROR_INVALID_HANDLE, "no image");
    throw Failure(CUDA_ERROR_NOT_SUPPORTED,
                  "softgpu can't share memory with EGL: register the texture that the image is of by "
                  "cuGraphicsGLRegisterImage, and map it");
  });
}

CUresult cuGraphicsResourceGetMappedEglFrame(CUeglFrame* frame, CUgraphicsResource resource, unsigned, unsigned) {
  return call_in_context(__func__, [&](Context&) {
    require_pointer(frame);
    require(Driver::get().graphics().resources.find(resource) != nullptr, CUDA_ERROR_NOT_MAPPED,
            "not a graphics resource, or no longer registered");
    throw Failure(CUDA_ERROR_INVALID_HANDLE, "the resource is not one of EGL: it has a pointer or an array, no frame");
  });
}

}  // extern "C"
