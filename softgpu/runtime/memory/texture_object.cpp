#include "softgpu/runtime/memory/texture_object.hpp"

#include <algorithm>
#include <bit>

#include "softgpu/runtime/base/device.hpp"
#include "softgpu/runtime/memory/array.hpp"
#include "softgpu/runtime/memory/array_format.hpp"
#include "softgpu/runtime/memory/memory_operations.hpp"
#include "softgpu/runtime/memory/memory_services.hpp"
#include "softgpu/runtime/work/context.hpp"
#include "softgpu/texture/object_table.hpp"

namespace softgpu::runtime {
namespace {

using texture::AddressMode;
using texture::Filter;
using texture::Image;
using texture::Reading;

std::size_t limit(const Context& context, CUdevice_attribute attribute) {
  return static_cast<std::size_t>(context.device().attribute(attribute).value());
}

void check_pointer(const Context& context, CUdeviceptr pointer) {
  require(pointer != 0, CUDA_ERROR_INVALID_VALUE, "a null pointer");
  require(pointer % limit(context, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT) == 0, CUDA_ERROR_INVALID_VALUE,
          "the pointer is not aligned to CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT");
}

Image image_of_linear(const Context& context, const CUDA_RESOURCE_DESC& resource) {
  const auto& linear = resource.res.linear;
  check_pointer(context, linear.devPtr);
  Image image;
  image.format = texel_format(linear.format, linear.numChannels);
  const std::size_t texels = linear.sizeInBytes / image.format.bytes();
  require(texels != 0 && texels <= limit(context, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH),
          CUDA_ERROR_INVALID_VALUE, "linear memory has 1 to CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH texels");
  image.levels[0].base = to_pointer(linear.devPtr);
  image.levels[0].width = static_cast<std::uint32_t>(texels);
  return image;
}

Image image_of_pitched(const Context& context, const CUDA_RESOURCE_DESC& resource) {
  const auto& plane = resource.res.pitch2D;
  check_pointer(context, plane.devPtr);
  Image image;
  image.format = texel_format(plane.format, plane.numChannels);
  require(plane.width != 0 && plane.width <= limit(context, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH) &&
              plane.height != 0 && plane.height <= limit(context, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT),
          CUDA_ERROR_INVALID_VALUE, "no texels, or more than CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_… allows");
  require(
      plane.pitchInBytes >= plane.width * image.format.bytes() &&
          plane.pitchInBytes % limit(context, CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT) == 0 &&
          plane.pitchInBytes <= limit(context, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH),
      CUDA_ERROR_INVALID_VALUE,
      "the pitch is shorter than a row, too long, or not a multiple of CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT");
  image.height = static_cast<std::uint32_t>(plane.height);
  image.levels[0] = {.base = to_pointer(plane.devPtr),
                     .width = static_cast<std::uint32_t>(plane.width),
                     .height = image.height,
                     .pitch = plane.pitchInBytes};
  return image;
}

std::shared_ptr<Array> array_of(const MemoryServices& services, const CUDA_RESOURCE_DESC& resource) {
  auto found = services.arrays.find(resource.res.array.hArray);
  require(found != nullptr, CUDA_ERROR_INVALID_HANDLE, "not an array, or one that was destroyed");
  return found;
}

Image image_of(const MemoryServices& services, const Context& context, const CUDA_RESOURCE_DESC& resource) {
  require(resource.flags == 0, CUDA_ERROR_INVALID_VALUE, "flags must be 0");
  switch (resource.resType) {
    case CU_RESOURCE_TYPE_ARRAY: return array_of(services, resource)->image();
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY: {
      const auto found = services.mipmapped_arrays.find(resource.res.mipmap.hMipmappedArray);
      require(found != nullptr, CUDA_ERROR_INVALID_HANDLE, "not a mipmapped array, or one that was destroyed");
      return found->image();
    }
    case CU_RESOURCE_TYPE_LINEAR: return image_of_linear(context, resource);
    case CU_RESOURCE_TYPE_PITCH2D: return image_of_pitched(context, resource);
    default: throw Failure(CUDA_ERROR_INVALID_VALUE, "no such type of a resource");
  }
}

// What a view shows of an array: other texels of the same size, some of the levels, some of the layers.
void apply(const CUDA_RESOURCE_VIEW_DESC& view, Image& image) {
  image.format = view_format(view.format, image.format);
  const texture::Level& whole = image.levels[0];
  require(view.width == whole.width && view.height == image.height &&
              view.depth == (image.depth != 0                    ? image.depth
                             : image.layered || image.faces == 6 ? whole.slices
                                                                 : 0),
          CUDA_ERROR_INVALID_VALUE, "a view of the same kind of texels has the extents of its array");
  require(view.firstMipmapLevel <= view.lastMipmapLevel && view.lastMipmapLevel < image.level_count,
          CUDA_ERROR_INVALID_VALUE, "the array has no such levels");
  const bool layered = image.layered || image.faces == 6;
  require(view.firstLayer <= view.lastLayer && view.lastLayer < (layered ? whole.slices : 1), CUDA_ERROR_INVALID_VALUE,
          "the array has no such layers");
  const std::uint32_t layers = view.lastLayer - view.firstLayer + 1;
  require(layers % image.faces == 0, CUDA_ERROR_INVALID_VALUE, "a cube has 6 faces");
  image.level_count = view.lastMipmapLevel - view.firstMipmapLevel + 1;
  for (std::uint32_t k = 0; k < image.level_count; ++k) {
    texture::Level& level = image.levels[k] = image.levels[view.firstMipmapLevel + k];
    if (!layered) continue;
    level.base += view.firstLayer * level.slice_bytes;
    level.slices = layers;
  }
}

Filter filter(CUfilter_mode mode) {
  require(mode == CU_TR_FILTER_MODE_POINT || mode == CU_TR_FILTER_MODE_LINEAR, CUDA_ERROR_INVALID_VALUE,
          "no such filter mode");
  return mode == CU_TR_FILTER_MODE_LINEAR ? Filter::linear : Filter::point;
}

// Only coordinates from 0 to 1 can be wrapped or mirrored; others are clamped.
AddressMode address_mode(CUaddress_mode mode, bool normalized) {
  require(mode >= CU_TR_ADDRESS_MODE_WRAP && mode <= CU_TR_ADDRESS_MODE_BORDER, CUDA_ERROR_INVALID_VALUE,
          "no such address mode");
  const auto asked = static_cast<AddressMode>(mode);
  return normalized || asked == AddressMode::border ? asked : AddressMode::clamp;
}

Reading reading(unsigned flags) {
  if ((flags & CU_TRSF_SRGB) != 0) return Reading::srgb;
  return (flags & CU_TRSF_READ_AS_INTEGER) != 0 ? Reading::element : Reading::normalized;
}

texture::Sampler sampler_of(const CUDA_TEXTURE_DESC& sampling, bool is_mipmapped) {
  constexpr unsigned kFlags = CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_SRGB |
                              CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION | CU_TRSF_SEAMLESS_CUBEMAP;
  require((sampling.flags & ~kFlags) == 0, CUDA_ERROR_INVALID_VALUE, "unknown flags");
  texture::Sampler sampler;
  // Those of a mipmapped array always are, whatever was asked for.
  sampler.normalized_coordinates = is_mipmapped || (sampling.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
  sampler.seamless_cube = (sampling.flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0;
  for (std::size_t k = 0; k < 3; ++k)
    sampler.address[k] = address_mode(sampling.addressMode[k], sampler.normalized_coordinates);
  sampler.filter = filter(sampling.filterMode);
  sampler.mipmap_filter = filter(sampling.mipmapFilterMode);
  sampler.level_bias = sampling.mipmapLevelBias;
  sampler.min_level = sampling.minMipmapLevelClamp;
  sampler.max_level = sampling.maxMipmapLevelClamp;
  sampler.max_anisotropy = std::clamp(sampling.maxAnisotropy, 1u, texture::kMostAnisotropy);
  return sampler;
}

// How the texels of the texture's image are read and blended.
void set_sampling(TextureObject& texture, const CUDA_TEXTURE_DESC& sampling) {
  texture::Sampler& sampler = texture.sampler =
      sampler_of(sampling, texture.resource.resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY);
  const texture::TexelFormat format = texture.image.format;
  texture.reader = texture::texel_reader(format, reading(sampling.flags));
  if (texture.is_linear_memory) sampler.filter = Filter::point;
  if (sampler.filter == Filter::point) sampler.max_anisotropy = 1;
  texture.reader.store(std::bit_cast<texture::Words>(sampling.borderColor), sampler.border.data());
}

template <typename Object>
std::shared_ptr<const Object> required(std::shared_ptr<Object> object) {
  require(object != nullptr, CUDA_ERROR_INVALID_VALUE, "not an object of this kind, or one that was destroyed");
  return object;
}

}  // namespace

CUtexObject create_texture(const MemoryServices& services, Context& context, const CUDA_RESOURCE_DESC& resource,
                           const CUDA_TEXTURE_DESC& sampling, const CUDA_RESOURCE_VIEW_DESC* view) {
  auto texture = std::make_shared<TextureObject>();
  texture->context = context.id();
  texture->resource = resource;
  texture->sampling = sampling;
  texture->image = image_of(services, context, resource);
  texture->is_linear_memory = resource.resType == CU_RESOURCE_TYPE_LINEAR;
  const bool is_array =
      resource.resType == CU_RESOURCE_TYPE_ARRAY || resource.resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
  if (view != nullptr) {
    require(is_array, CUDA_ERROR_INVALID_VALUE, "only arrays have views");
    apply(*view, texture->image);
    texture->view = *view;
  }
  set_sampling(*texture, sampling);
  const CUtexObject handle = texture::textures().add(std::move(texture));
  require(handle != 0, CUDA_ERROR_OUT_OF_MEMORY, "too many texture objects");
  return handle;
}

CUsurfObject create_surface(const MemoryServices& services, Context& context, const CUDA_RESOURCE_DESC& resource) {
  require(resource.resType == CU_RESOURCE_TYPE_ARRAY && resource.flags == 0, CUDA_ERROR_INVALID_VALUE,
          "a surface is made of an array");
  const auto array = array_of(services, resource);
  auto surface = std::make_shared<SurfaceObject>();
  surface->context = context.id();
  surface->resource = resource;
  surface->image = array->image();
  const CUsurfObject handle = texture::surfaces().add(std::move(surface));
  require(handle != 0, CUDA_ERROR_OUT_OF_MEMORY, "too many surface objects");
  return handle;
}

std::shared_ptr<const TextureObject> find_texture(CUtexObject handle) {
  return required(std::static_pointer_cast<TextureObject>(texture::textures().find(handle)));
}
std::shared_ptr<const SurfaceObject> find_surface(CUsurfObject handle) {
  return required(std::static_pointer_cast<SurfaceObject>(texture::surfaces().find(handle)));
}
void destroy_texture(CUtexObject handle) {
  if (handle != 0) required(texture::textures().remove(handle));
}
void destroy_surface(CUsurfObject handle) {
  if (handle != 0) required(texture::surfaces().remove(handle));
}

void destroy_texture_objects(const Context& context) {
  const auto mine = [id = context.id()](const auto& object) { return object.context == id; };
  texture::textures().remove_if([&](const auto& object) { return mine(static_cast<const TextureObject&>(object)); });
  texture::surfaces().remove_if([&](const auto& object) { return mine(static_cast<const SurfaceObject&>(object)); });
}

}  // namespace softgpu::runtime
