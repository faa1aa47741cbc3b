// What the tests of arrays, textures and surfaces share.
#pragma once

#include "api/fixture.hpp"

namespace cuprum::tests {

using texture::AddressModeType;
using texture::ArrayFormatType;
using texture::FilterModeType;
using texture::MipmappedArray;
using texture::OpaqueArray;
using texture::ReadModeType;
using texture::ResourceDescriptor;
using texture::ResourceKind;
using texture::SurfaceObject;
using texture::TextureObject;
using texture::TextureObjectOptions;

class TextureTest : public ApiTest {
 protected:
  OpaqueArray array(std::vector<std::size_t> shape, ArrayFormatType format = ArrayFormatType::float32,
                    int num_channels = 1, bool is_surface = false) {
    return device.create_opaque_array({.shape = std::move(shape),
                                       .format = format,
                                       .num_channels = num_channels,
                                       .is_surface_load_store = is_surface});
  }

  /// Of floats, with these contents.
  OpaqueArray filled(std::vector<std::size_t> shape, const std::vector<float>& values) {
    OpaqueArray made = array(std::move(shape));
    made.copy_from(values, stream);
    return made;
  }

  template <typename T>
  std::vector<T> contents(const OpaqueArray& of) {
    std::vector<T> values(of.size_bytes() / sizeof(T));
    of.copy_to(values, stream);
    stream.sync();
    return values;
  }

  TextureObject texture(const OpaqueArray& of, const TextureObjectOptions& options = {}) {
    return device.create_texture_object(ResourceDescriptor::from_opaque_array(of), options);
  }
  SurfaceObject surface(const OpaqueArray& of) {
    return device.create_surface_object(ResourceDescriptor::from_opaque_array(of));
  }

  /// out[i] = the texture at (x[i], 0.5): for textures of one row.
  static const char* row_source() {
    return R"(extern "C" __global__ void row(cudaTextureObject_t image, const float* x, float* out) {
      out[threadIdx.x] = tex2D<float>(image, x[threadIdx.x], 0.5f);
    })";
  }
  /// Writes threadIdx.x + start to the texels of a row.
  static const char* paint_source() {
    return R"(extern "C" __global__ void paint(cudaSurfaceObject_t image, float start) {
      surf2Dwrite(start + threadIdx.x, image, threadIdx.x * sizeof(float), 0);
    })";
  }

  Stream stream = device.create_stream();
};

}  // namespace cuprum::tests
