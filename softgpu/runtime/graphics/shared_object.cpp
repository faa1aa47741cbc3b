#include "softgpu/runtime/graphics/shared_object.hpp"

#include "softgpu/opengl/buffer.hpp"
#include "softgpu/runtime/base/error.hpp"
#include "softgpu/runtime/memory/array.hpp"
#include "softgpu/runtime/memory/memory_operations.hpp"
#include "softgpu/runtime/memory/memory_services.hpp"

namespace softgpu::runtime {
namespace {

using opengl::ChannelKind;
using opengl::CurrentContext;
using opengl::ImageDescription;
using opengl::Problem;

CUarray_format array_format_of(ChannelKind kind) {
  switch (kind) {
    case ChannelKind::u8: return CU_AD_FORMAT_UNSIGNED_INT8;
    case ChannelKind::u16: return CU_AD_FORMAT_UNSIGNED_INT16;
    case ChannelKind::u32: return CU_AD_FORMAT_UNSIGNED_INT32;
    case ChannelKind::s8: return CU_AD_FORMAT_SIGNED_INT8;
    case ChannelKind::s16: return CU_AD_FORMAT_SIGNED_INT16;
    case ChannelKind::s32: return CU_AD_FORMAT_SIGNED_INT32;
    case ChannelKind::f16: return CU_AD_FORMAT_HALF;
    default: return CU_AD_FORMAT_FLOAT;
  }
}

unsigned shape_flags(const ImageDescription& image) {
  if (image.target == GL_TEXTURE_CUBE_MAP) return CUDA_ARRAY3D_CUBEMAP;
  return image.target == GL_TEXTURE_2D_ARRAY ? CUDA_ARRAY3D_LAYERED : 0;
}

CUDA_ARRAY3D_DESCRIPTOR descriptor_of(const ImageDescription& image, unsigned flags) {
  return {.Width = image.width,
          .Height = image.height,
          .Depth = image.depth,
          .Format = array_format_of(image.format->kind),
          .NumChannels = image.format->channels,
          .Flags = flags | shape_flags(image)};
}

// One face of a cube map or one layer, by itself a two-dimensional array.
std::shared_ptr<Array> layer_of(const Array& level, unsigned index) {
  CUDA_ARRAY3D_DESCRIPTOR descriptor = level.descriptor();
  descriptor.Depth = 0;
  descriptor.Flags &= ~static_cast<unsigned>(CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED);
  texture::Image image = level.image();
  image.layered = false;
  image.faces = 1;
  image.levels[0].base += index * image.levels[0].slice_bytes;
  image.levels[0].slices = 1;
  return std::make_shared<Array>(level.context(), descriptor, image, true);
}

}  // namespace

std::span<std::byte> SharedObject::bytes() const {
  throw Failure(CUDA_ERROR_NOT_MAPPED_AS_POINTER, "the resource is an image: ask for its array");
}
CUmipmappedArray SharedObject::mipmapped_array() const {
  throw Failure(CUDA_ERROR_NOT_MAPPED_AS_ARRAY, "the resource is a buffer: ask for its address");
}
CUarray SharedObject::array(MemoryServices&, unsigned, unsigned) {
  throw Failure(CUDA_ERROR_NOT_MAPPED_AS_ARRAY, "the resource is a buffer: ask for its address");
}

SharedBuffer::SharedBuffer(const CurrentContext& gl, unsigned name)
    : name_(name), size_(opengl::size_of_buffer(gl, name)) {}

void SharedBuffer::require_unchanged(const CurrentContext& gl) const {
  opengl::demand(opengl::size_of_buffer(gl, name_) == size_, Problem::no_object,
                 "the buffer has another size than when it was registered: register it again");
}

void SharedBuffer::allocate(MemoryServices& services, Context& context) {
  if (memory_ == nullptr) memory_ = allocate_array(services, context, size_);
}

void SharedBuffer::read(const CurrentContext& gl) { opengl::read_buffer(gl, name_, bytes()); }
void SharedBuffer::write(const CurrentContext& gl) const { opengl::write_buffer(gl, name_, bytes()); }

void SharedBuffer::release(MemoryServices& services) {
  if (memory_ != nullptr) free_array(services, memory_);
  memory_ = nullptr;
}

SharedImage::SharedImage(const CurrentContext& gl, unsigned name, unsigned target, unsigned array_flags)
    : name_(name),
      description_(opengl::describe_image(gl, name, target)),
      descriptor_(descriptor_of(description_, array_flags)) {
  require((array_flags & CUDA_ARRAY3D_TEXTURE_GATHER) == 0 || description_.depth == 0, CUDA_ERROR_INVALID_VALUE,
          "gathering needs a two-dimensional image");
}

void SharedImage::require_unchanged(const CurrentContext& gl) const {
  opengl::demand(opengl::still_has(gl, name_, description_), Problem::no_object,
                 "the image is another one than when it was registered: register it again");
}

void SharedImage::allocate(MemoryServices& services, Context& context) {
  if (array_ != nullptr) return;
  const auto made = MipmappedArray::create(services, context, descriptor_, description_.levels);
  made->keep_from_programs();
  handle_ = services.mipmapped_arrays.add(made);
  array_ = made;
}

std::byte* SharedImage::level_memory(unsigned level) const { return array_->image().levels[level].base; }

void SharedImage::read(const CurrentContext& gl) {
  for (unsigned level = 0; level < description_.levels; ++level)
    opengl::read_image(gl, name_, description_, level, level_memory(level));
}

void SharedImage::write(const CurrentContext& gl) const {
  for (unsigned level = 0; level < description_.levels; ++level)
    opengl::write_image(gl, name_, description_, level, level_memory(level));
}

void SharedImage::release(MemoryServices& services) {
  if (array_ == nullptr) return;
  for (const auto& [place, layer] : layers_) services.arrays.remove(layer);
  layers_.clear();
  array_.reset();
  release_mipmapped_array(services, std::exchange(handle_, nullptr));
}

CUarray SharedImage::array(MemoryServices& services, unsigned index, unsigned level) {
  const CUarray whole = array_->level(level);
  const bool has_layers = shape_flags(description_) != 0;
  require(index < (has_layers ? description_.depth : 1), CUDA_ERROR_INVALID_VALUE,
          "the image has no such layer or face");
  if (!has_layers) return whole;
  CUarray& layer = layers_[{index, level}];
  if (layer == nullptr) layer = services.arrays.add(layer_of(*services.arrays.find(whole), index));
  return layer;
}

}  // namespace softgpu::runtime
