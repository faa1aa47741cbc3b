// Arrays of texels in several levels of detail, each half as large as the one before.
//
//   MipmappedArray image = device.create_mipmapped_array({.shape = {64, 64}, .num_levels = 7});
//   image.get_level(0).copy_from(pixels, stream);
#pragma once

#include <cstddef>
#include <cuprum/detail/cuda_handles.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/detail/shared.hpp>
#include <cuprum/texture/enums.hpp>
#include <cuprum/texture/opaque_array.hpp>
#include <functional>
#include <iosfwd>
#include <vector>

namespace cuprum::inline CUPRUM_ABI::texture {

/// For Device::create_mipmapped_array.
struct MipmappedArrayOptions {
  std::vector<std::size_t> shape = {};                ///< of level 0: width, width and height, or all three
  ArrayFormatType format = ArrayFormatType::float32;  ///< of each channel
  int num_channels = 1;                               ///< of each texel: 1, 2 or 4
  int num_levels = 1;                                 ///< level 0 included; no more than until one is a single texel
  bool is_surface_load_store = false;                 ///< kernels can write levels through a SurfaceObject

  friend bool operator==(const MipmappedArrayOptions&, const MipmappedArrayOptions&) = default;
};

/// A cheap handle: copies share one CUDA mipmapped array, which is released when the last copy goes or at close(),
/// unless a level, a texture, a descriptor or a graph still has it. Threads may share it.
/// Made by Device::create_mipmapped_array.
class CUPRUM_API MipmappedArray {
 public:
  /// An empty handle, for a variable that gets its value later; to use it before throws InvalidArgument.
  MipmappedArray() = default;

  /// One level as an array, which keeps this one's memory. Throws InvalidArgument for a level that is not there.
  OpaqueArray get_level(int level) const;

  /// Of level 0, in texels; each further level has half of it, but at least 1.
  std::vector<std::size_t> shape() const;
  /// Of each channel.
  ArrayFormatType format() const;
  /// Of each texel: 1, 2 or 4.
  int num_channels() const;
  /// Level 0 included. It is less than was asked for where a level before is a single texel.
  int num_levels() const;
  /// Whether a SurfaceObject can be made of its levels.
  bool is_surface_load_store() const;
  /// The device that it is on.
  Device device() const;
  /// The context that it was made in.
  Context context() const;
  /// The CUmipmappedArray; null when it is closed or empty.
  CUmipmappedArray_st* handle() const noexcept;

  /// Ends the array for all copies; later use throws InvalidArgument. Closing twice does nothing. Levels and textures
  /// of it stay as they are.
  void close();

  /// Whether both stand for the same CUDA array; closed ones stand for none.
  friend CUPRUM_API bool operator==(const MipmappedArray& a, const MipmappedArray& b) noexcept;

 private:
  friend struct cuprum::detail::Access;
  friend struct std::hash<MipmappedArray>;
  explicit MipmappedArray(cuprum::detail::Shared<cuprum::detail::MipmappedArrayResource> shared)
      : shared_(std::move(shared)) {}
  std::uint64_t identity() const noexcept;

  cuprum::detail::Shared<cuprum::detail::MipmappedArrayResource> shared_;
};

/// Prints "a mipmapped array of 7 levels, 64 x 64 texels of 1 x float32 on device 0", or "a closed mipmapped array".
CUPRUM_API std::ostream& operator<<(std::ostream& out, const MipmappedArray& array);

}  // namespace cuprum::inline CUPRUM_ABI::texture

/// By which CUDA array it stands for.
template <>
struct std::hash<cuprum::texture::MipmappedArray> {
  std::size_t operator()(const cuprum::texture::MipmappedArray& array) const noexcept {
    return std::hash<std::uint64_t>()(array.identity());
  }
};
