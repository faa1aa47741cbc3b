// Images of EGL: softgpu tells why it can't have them.
#define EGL_NO_X11
#include <cudaEGL.h>

#include "conformance/driver.hpp"

namespace conformance {
namespace {

using GraphicsEgl = DriverTest;

TEST_F(GraphicsEgl, ImagesAreNotForSoftgpu) {
  if (!is_softgpu()) GTEST_SKIP() << "NVIDIA's driver follows the image";
  CUgraphicsResource resource = nullptr;
  int image = 0;
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_SUPPORTED, CU(cuGraphicsEGLRegisterImage)(&resource, &image, 0));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_HANDLE, CU(cuGraphicsEGLRegisterImage)(&resource, EGL_NO_IMAGE_KHR, 0));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuGraphicsEGLRegisterImage)(nullptr, &image, 0));
  CUeglFrame frame{};
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_MAPPED, CU(cuGraphicsResourceGetMappedEglFrame)(&frame, resource, 0, 0));
}

}  // namespace
}  // namespace conformance
