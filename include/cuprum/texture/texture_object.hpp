// Textures: how kernels read arrays and buffers at coordinates, with filters.
//
//   TextureObject texture = device.create_texture_object(
//       ResourceDescriptor::from_opaque_array(image),
//       {.filter_mode = FilterModeType::linear, .read_mode = ReadModeType::normalized_float, .normalized_coords =
//       true});
//   launch(stream, config, resize, texture, out, width, height);    // for a parameter of type cudaTextureObject_t
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cuprum/detail/export.hpp>
#include <cuprum/detail/kernel_arguments.hpp>
#include <cuprum/detail/shared.hpp>
#include <cuprum/texture/enums.hpp>
#include <cuprum/texture/resource_descriptor.hpp>
#include <functional>
#include <iosfwd>

namespace cuprum::inline CUPRUM_ABI::texture {

/// What a texture has beyond its edges, for each axis.
class AddressModes {
 public:
  /// The same for all axes.
  AddressModes(AddressModeType all) : modes_{all, all, all} {}
  /// The second is that of the third axis, too.
  AddressModes(AddressModeType x, AddressModeType y) : modes_{x, y, y} {}
  /// One for each axis.
  AddressModes(AddressModeType x, AddressModeType y, AddressModeType z) : modes_{x, y, z} {}

  /// Of x, y or z: 0, 1 or 2.
  AddressModeType operator[](std::size_t axis) const { return modes_.at(axis); }
  friend bool operator==(const AddressModes&, const AddressModes&) = default;

 private:
  std::array<AddressModeType, 3> modes_;
};

/// How a texture is read. A texture of linear memory has neither filter nor address modes: those are ignored.
struct TextureObjectOptions {
  AddressModes address_mode = AddressModeType::clamp;         ///< beyond the edges
  FilterModeType filter_mode = FilterModeType::point;         ///< between texels
  ReadModeType read_mode = ReadModeType::element_type;        ///< what kernels get of integers
  bool normalized_coords = false;                             ///< from 0 to 1, not from 0 to the extent
  bool srgb = false;                                          ///< 8-bit channels are sRGB, and are read as linear light
  bool disable_trilinear_optimization = false;                ///< levels are blended however close the result would be
  bool seamless_cubemap = false;                              ///< filters across the edges of a cube; only for cubemaps
  unsigned max_anisotropy = 0;                                ///< 1 to 16; 0 is 1
  FilterModeType mipmap_filter_mode = FilterModeType::point;  ///< between levels
  float mipmap_level_bias = 0;                                ///< is added to the level
  float min_mipmap_level_clamp = 0;                           ///< the lowest level, after the bias
  float max_mipmap_level_clamp = 0;                           ///< the highest level, after the bias
  std::array<float, 4> border_color = {};                     ///< of AddressModeType::border

  friend bool operator==(const TextureObjectOptions&, const TextureObjectOptions&) = default;
};

/// A cheap handle: copies share one CUDA texture object, which is released when the last copy goes or at close(). It
/// keeps the memory that it shows, also when that is closed. Threads may share it. Made by
/// Device::create_texture_object.
///
/// Launches take it as an argument and pass the 64-bit handle. Prepared launches and graphs that were given it keep it,
/// also when it is closed; for other launches it must stay open until the kernel has run.
class CUPRUM_API TextureObject {
 public:
  /// An empty handle, for a variable that gets its value later; to use it before throws InvalidArgument.
  TextureObject() = default;

  /// The CUtexObject, which kernels know as cudaTextureObject_t; 0 when it is closed or empty.
  std::uint64_t handle() const noexcept;
  /// What it was made of.
  ResourceDescriptor resource() const;
  /// As they were given.
  TextureObjectOptions options() const;
  /// The device that kernels use it on.
  Device device() const;
  /// The context that it was made in.
  Context context() const;

  /// Ends the texture for all copies; later use throws InvalidArgument. Closing twice does nothing.
  void close();

  /// Whether both stand for the same CUDA texture object; closed ones stand for none.
  friend CUPRUM_API bool operator==(const TextureObject& a, const TextureObject& b) noexcept;

 private:
  friend struct cuprum::detail::Access;
  friend struct cuprum::detail::BindlessAccess;
  friend struct std::hash<TextureObject>;
  explicit TextureObject(cuprum::detail::Shared<cuprum::detail::TextureResource> shared) : shared_(std::move(shared)) {}
  std::uint64_t identity() const noexcept;
  [[noreturn]] void refuse() const;

  cuprum::detail::Shared<cuprum::detail::TextureResource> shared_;
};

/// Prints "texture 0x1 on device 0", or "a closed texture".
CUPRUM_API std::ostream& operator<<(std::ostream& out, const TextureObject& texture);

}  // namespace cuprum::inline CUPRUM_ABI::texture

/// By which CUDA texture object it stands for.
template <>
struct std::hash<cuprum::texture::TextureObject> {
  std::size_t operator()(const cuprum::texture::TextureObject& texture) const noexcept {
    return std::hash<std::uint64_t>()(texture.identity());
  }
};
