#include "softgpu/runtime/memory/array.hpp"

#include <algorithm>
#include <array>

#include "softgpu/runtime/base/device.hpp"
#include "softgpu/runtime/memory/array_format.hpp"
#include "softgpu/runtime/memory/external_memory.hpp"
#include "softgpu/runtime/memory/memory_operations.hpp"
#include "softgpu/runtime/memory/memory_services.hpp"
#include "softgpu/runtime/work/context.hpp"

namespace softgpu::runtime {
namespace {

using texture::Image;
using texture::Level;
using Descriptor = CUDA_ARRAY3D_DESCRIPTOR;

// The kinds of arrays and the largest extents of each, by the attributes of the device that say so. An axis without
// one is not there.
struct Limits {
  CUdevice_attribute width, height, depth;
};
constexpr auto kNone = static_cast<CUdevice_attribute>(0);
#define ATTRIBUTE(name) CU_DEVICE_ATTRIBUTE_MAXIMUM_##name

constexpr Limits kLine{ATTRIBUTE(TEXTURE1D_WIDTH), kNone, kNone};
constexpr Limits kPlane{ATTRIBUTE(TEXTURE2D_WIDTH), ATTRIBUTE(TEXTURE2D_HEIGHT), kNone};
constexpr Limits kGathered{ATTRIBUTE(TEXTURE2D_GATHER_WIDTH), ATTRIBUTE(TEXTURE2D_GATHER_HEIGHT), kNone};
constexpr Limits kVolume{ATTRIBUTE(TEXTURE3D_WIDTH), ATTRIBUTE(TEXTURE3D_HEIGHT), ATTRIBUTE(TEXTURE3D_DEPTH)};
constexpr Limits kDeepVolume{ATTRIBUTE(TEXTURE3D_WIDTH_ALTERNATE), ATTRIBUTE(TEXTURE3D_HEIGHT_ALTERNATE),
                             ATTRIBUTE(TEXTURE3D_DEPTH_ALTERNATE)};
constexpr Limits kLines{ATTRIBUTE(TEXTURE1D_LAYERED_WIDTH), kNone, ATTRIBUTE(TEXTURE1D_LAYERED_LAYERS)};
constexpr Limits kPlanes{ATTRIBUTE(TEXTURE2D_LAYERED_WIDTH), ATTRIBUTE(TEXTURE2D_LAYERED_HEIGHT),
                         ATTRIBUTE(TEXTURE2D_LAYERED_LAYERS)};
constexpr Limits kCube{ATTRIBUTE(TEXTURECUBEMAP_WIDTH), ATTRIBUTE(TEXTURECUBEMAP_WIDTH), kNone};
constexpr Limits kCubes{ATTRIBUTE(TEXTURECUBEMAP_LAYERED_WIDTH), ATTRIBUTE(TEXTURECUBEMAP_LAYERED_WIDTH),
                        ATTRIBUTE(TEXTURECUBEMAP_LAYERED_LAYERS)};
constexpr Limits kMipmappedLine{ATTRIBUTE(TEXTURE1D_MIPMAPPED_WIDTH), kNone, kNone};
constexpr Limits kMipmappedPlane{ATTRIBUTE(TEXTURE2D_MIPMAPPED_WIDTH), ATTRIBUTE(TEXTURE2D_MIPMAPPED_HEIGHT), kNone};
// What kernels can write has limits of its own, besides.
constexpr Limits kSurfaceLine{ATTRIBUTE(SURFACE1D_WIDTH), kNone, kNone};
constexpr Limits kSurfacePlane{ATTRIBUTE(SURFACE2D_WIDTH), ATTRIBUTE(SURFACE2D_HEIGHT), kNone};
constexpr Limits kSurfaceVolume{ATTRIBUTE(SURFACE3D_WIDTH), ATTRIBUTE(SURFACE3D_HEIGHT), ATTRIBUTE(SURFACE3D_DEPTH)};
constexpr Limits kSurfaceLines{ATTRIBUTE(SURFACE1D_LAYERED_WIDTH), kNone, ATTRIBUTE(SURFACE1D_LAYERED_LAYERS)};
constexpr Limits kSurfacePlanes{ATTRIBUTE(SURFACE2D_LAYERED_WIDTH), ATTRIBUTE(SURFACE2D_LAYERED_HEIGHT),
                                ATTRIBUTE(SURFACE2D_LAYERED_LAYERS)};
constexpr Limits kSurfaceCube{ATTRIBUTE(SURFACECUBEMAP_WIDTH), ATTRIBUTE(SURFACECUBEMAP_WIDTH), kNone};
constexpr Limits kSurfaceCubes{ATTRIBUTE(SURFACECUBEMAP_LAYERED_WIDTH), ATTRIBUTE(SURFACECUBEMAP_LAYERED_WIDTH),
                               ATTRIBUTE(SURFACECUBEMAP_LAYERED_LAYERS)};
#undef ATTRIBUTE

bool within(const Device& device, const Limits& limits, const Descriptor& descriptor) {
  const auto fits = [&](CUdevice_attribute limit, std::size_t extent) {
    return limit == kNone || extent <= static_cast<std::size_t>(device.attribute(limit).value_or(0));
  };
  return fits(limits.width, descriptor.Width) && fits(limits.height, descriptor.Height) &&
         fits(limits.depth, descriptor.Depth);
}

bool is_cube(const Descriptor& descriptor) { return (descriptor.Flags & CUDA_ARRAY3D_CUBEMAP) != 0; }
bool is_layered(const Descriptor& descriptor) { return (descriptor.Flags & CUDA_ARRAY3D_LAYERED) != 0; }

const Limits& limits_of(const Descriptor& descriptor, bool is_mipmapped) {
  if (is_cube(descriptor)) return is_layered(descriptor) ? kCubes : kCube;
  if (is_layered(descriptor)) return descriptor.Height == 0 ? kLines : kPlanes;
  if (descriptor.Depth != 0) return kVolume;
  if (descriptor.Height == 0) return is_mipmapped ? kMipmappedLine : kLine;
  if ((descriptor.Flags & CUDA_ARRAY3D_TEXTURE_GATHER) != 0) return kGathered;
  return is_mipmapped ? kMipmappedPlane : kPlane;
}

const Limits& surface_limits_of(const Descriptor& descriptor) {
  if (is_cube(descriptor)) return is_layered(descriptor) ? kSurfaceCubes : kSurfaceCube;
  if (is_layered(descriptor)) return descriptor.Height == 0 ? kSurfaceLines : kSurfacePlanes;
  if (descriptor.Depth != 0) return kSurfaceVolume;
  return descriptor.Height == 0 ? kSurfaceLine : kSurfacePlane;
}

void check_flags(unsigned flags) {
  constexpr unsigned kPossible = CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_CUBEMAP |
                                 CUDA_ARRAY3D_TEXTURE_GATHER | CUDA_ARRAY3D_COLOR_ATTACHMENT;
  constexpr unsigned kRefused = CUDA_ARRAY3D_DEPTH_TEXTURE | CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING |
                                CUDA_ARRAY3D_VIDEO_ENCODE_DECODE;
  require((flags & ~(kPossible | kRefused)) == 0, CUDA_ERROR_INVALID_VALUE, "unknown flags");
  require((flags & kRefused) == 0, CUDA_ERROR_NOT_SUPPORTED,
          "softgpu has no sparse, deferred-mapping, depth or video arrays");
}

void check(const Device& device, const Descriptor& descriptor, bool is_mipmapped) {
  check_flags(descriptor.Flags);
  require(descriptor.Width != 0, CUDA_ERROR_INVALID_VALUE, "an array without a width");
  const bool layered = is_layered(descriptor);
  require(!layered || descriptor.Depth != 0, CUDA_ERROR_INVALID_VALUE, "a layered array has its layers as depth");
  require(layered || descriptor.Depth == 0 || descriptor.Height != 0, CUDA_ERROR_INVALID_VALUE,
          "an array with a depth needs a height");
  if (is_cube(descriptor)) {
    require(descriptor.Width == descriptor.Height, CUDA_ERROR_INVALID_VALUE, "the faces of a cube are square");
    require(layered ? descriptor.Depth % 6 == 0 : descriptor.Depth == 6, CUDA_ERROR_INVALID_VALUE,
            "a cube has 6 faces");
  }
  const bool gathers = (descriptor.Flags & CUDA_ARRAY3D_TEXTURE_GATHER) != 0;
  require(!gathers || (descriptor.Height != 0 && descriptor.Depth == 0), CUDA_ERROR_INVALID_VALUE,
          "gathering needs a two-dimensional array");
  const Limits& limits = limits_of(descriptor, is_mipmapped);
  require(within(device, limits, descriptor) || (&limits == &kVolume && within(device, kDeepVolume, descriptor)),
          CUDA_ERROR_INVALID_VALUE, "the array is larger than its kind may be (CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE…)");
  require(
      (descriptor.Flags & CUDA_ARRAY3D_SURFACE_LDST) == 0 || within(device, surface_limits_of(descriptor), descriptor),
      CUDA_ERROR_INVALID_VALUE,
      "the array is larger than a surface of its kind may be (CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE…)");
}

std::uint32_t at_least_one(std::size_t extent) { return static_cast<std::uint32_t>(std::max<std::size_t>(extent, 1)); }

// An image without its memory: where its levels will be, and how many bytes it takes.
struct Layout {
  Image image;
  std::array<std::size_t, texture::kMaxLevels> offsets{};
  std::size_t end = 0;    // of the last texel
  std::size_t bytes = 0;  // of all levels, which begin at multiples of
};
constexpr std::size_t kLevelAlignment = 512;

Layout lay_out(const Descriptor& descriptor, unsigned levels) {
  Layout layout;
  Image& image = layout.image;
  image.format = texel_format(descriptor.Format, descriptor.NumChannels);
  image.layered = is_layered(descriptor);
  image.faces = is_cube(descriptor) ? 6 : 1;
  image.height = static_cast<std::uint32_t>(descriptor.Height);
  const bool has_depth = !image.layered && image.faces == 1;
  image.depth = has_depth ? static_cast<std::uint32_t>(descriptor.Depth) : 0;
  image.level_count = levels;
  for (unsigned k = 0; k < levels; ++k) {
    Level& level = image.levels[k];
    level.width = at_least_one(descriptor.Width >> k);
    level.height = at_least_one(descriptor.Height >> k);
    level.slices = at_least_one(has_depth ? descriptor.Depth >> k : descriptor.Depth);
    level.pitch = std::size_t{level.width} * image.format.bytes();
    level.slice_bytes = level.pitch * level.height;
    layout.offsets[k] = layout.bytes;
    layout.end = layout.bytes + level.slice_bytes * level.slices;
    layout.bytes = memory::round_up(layout.end, kLevelAlignment);
  }
  return layout;
}

Image image_at(std::byte* base, Layout layout) {
  for (unsigned k = 0; k < layout.image.level_count; ++k) layout.image.levels[k].base = base + layout.offsets[k];
  return layout.image;
}

Image allocate(MemoryServices& services, Context& context, const Layout& layout) {
  return image_at(allocate_array(services, context, layout.bytes), layout);
}

unsigned levels_of(const Descriptor& descriptor) {
  const bool has_depth = !is_layered(descriptor) && !is_cube(descriptor);
  const std::size_t largest =
      std::max({descriptor.Width, descriptor.Height, has_depth ? descriptor.Depth : std::size_t{0}});
  unsigned levels = 1;
  while (largest >> levels != 0) ++levels;
  return levels;
}

// A level by itself: an axis that is there stays there.
Descriptor descriptor_of_level(const Descriptor& whole, const Level& level) {
  Descriptor descriptor = whole;
  descriptor.Width = level.width;
  if (whole.Height != 0) descriptor.Height = level.height;
  if (whole.Depth != 0) descriptor.Depth = level.slices;
  return descriptor;
}

Image image_of_level(const Image& whole, const Descriptor& descriptor, unsigned level) {
  Image image = whole;
  image.level_count = 1;
  image.levels[0] = whole.levels[level];
  image.height = static_cast<std::uint32_t>(descriptor.Height);
  if (image.depth != 0) image.depth = image.levels[0].slices;
  return image;
}

}  // namespace

std::shared_ptr<Array> Array::create(MemoryServices& services, Context& context, const Descriptor& descriptor) {
  check(context.device(), descriptor, false);
  return std::make_shared<Array>(context, descriptor, allocate(services, context, lay_out(descriptor, 1)), false);
}

std::shared_ptr<MipmappedArray> MipmappedArray::create(MemoryServices& services, Context& context,
                                                       const Descriptor& descriptor, unsigned levels) {
  check(context.device(), descriptor, true);
  const unsigned count = std::clamp(levels, 1u, levels_of(descriptor));
  return std::make_shared<MipmappedArray>(services, context, descriptor,
                                          allocate(services, context, lay_out(descriptor, count)));
}

std::shared_ptr<MipmappedArray> MipmappedArray::map(MemoryServices& services,
                                                    const std::shared_ptr<ExternalMemory>& source, std::size_t offset,
                                                    const Descriptor& descriptor, unsigned levels) {
  check(source->context().device(), descriptor, true);
  require(offset % kLevelAlignment == 0, CUDA_ERROR_INVALID_VALUE,
          "an array in external memory begins at a multiple of 512 bytes");
  const Layout layout = lay_out(descriptor, std::clamp(levels, 1u, levels_of(descriptor)));
  const CUdeviceptr base =
      ExternalMemory::map(services, source, offset, layout.end, memory::FreedBy::destroying_external);
  return std::make_shared<MipmappedArray>(services, source->context(), descriptor, image_at(to_pointer(base), layout));
}

MipmappedArray::MipmappedArray(MemoryServices& services, Context& context, const Descriptor& descriptor,
                               const Image& image)
    : context_(context), descriptor_(descriptor), image_(image) {
  for (unsigned k = 0; k < image.level_count; ++k) {
    const Descriptor of_level = descriptor_of_level(descriptor, image.levels[k]);
    auto level = std::make_shared<Array>(context, of_level, image_of_level(image, of_level, k), true);
    levels_.push_back(services.arrays.add(std::move(level)));
  }
}

CUarray MipmappedArray::level(unsigned level) const {
  require(level < levels_.size(), CUDA_ERROR_INVALID_VALUE, "the array has no such level");
  return levels_[level];
}

void destroy_array(MemoryServices& services, CUarray handle) {
  auto& arrays = services.arrays;
  const auto found = arrays.find(handle);
  require(found != nullptr, CUDA_ERROR_INVALID_HANDLE, "not an array, or one that was destroyed");
  require(!found->is_level(), CUDA_ERROR_INVALID_HANDLE, "a level goes with its mipmapped array");
  if (const auto removed = arrays.remove(handle)) free_array(services, removed->memory());
}

void destroy_mipmapped_array(MemoryServices& services, CUmipmappedArray handle) {
  const auto found = services.mipmapped_arrays.find(handle);
  require(found == nullptr || !found->is_kept_, CUDA_ERROR_INVALID_HANDLE, "the array goes with its graphics resource");
  release_mipmapped_array(services, handle);
}

void release_mipmapped_array(MemoryServices& services, CUmipmappedArray handle) {
  const auto removed = services.mipmapped_arrays.remove(handle);
  require(removed != nullptr, CUDA_ERROR_INVALID_HANDLE, "not a mipmapped array, or one that was destroyed");
  for (const CUarray level : removed->levels_) services.arrays.remove(level);
  free_array(services, removed->image().levels[0].base);
}

}  // namespace softgpu::runtime
