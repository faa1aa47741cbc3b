// The memory that a texture or a surface shows.
#pragma once

#include <cstddef>
#include <cuprum/buffer.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/detail/shared.hpp>
#include <cuprum/texture/enums.hpp>
#include <cuprum/texture/mipmapped_array.hpp>
#include <cuprum/texture/opaque_array.hpp>
#include <iosfwd>
#include <optional>
#include <variant>

namespace cuprum::inline CUPRUM_ABI::texture {

/// How a buffer is a line of texels.
struct LinearOptions {
  ArrayFormatType format = ArrayFormatType::float32;  ///< of each channel
  int num_channels = 1;                               ///< of each texel: 1, 2 or 4
  std::optional<std::size_t> size_bytes = {};         ///< from the beginning of the buffer; all of it when not given
};

/// How a buffer is rows of texels.
struct Pitch2DOptions {
  ArrayFormatType format = ArrayFormatType::float32;  ///< of each channel
  int num_channels = 1;                               ///< of each texel: 1, 2 or 4
  std::size_t width = 0;                              ///< texels of a row
  std::size_t height = 0;                             ///< rows
  std::size_t pitch_bytes = 0;  ///< from one row to the next; a multiple of DeviceProperties::texture_pitch_alignment
};

/// What a texture or surface is made of: an array, or a buffer and what its bytes are. It keeps that, also when it is
/// closed later, and so does what is made of it.
class CUPRUM_API ResourceDescriptor {
 public:
  /// For textures, and for surfaces if the array is_surface_load_store(). Throws InvalidArgument for a closed array.
  static ResourceDescriptor from_opaque_array(const OpaqueArray& array);
  /// For textures; a surface is made of a single level. Throws InvalidArgument for a closed array.
  static ResourceDescriptor from_mipmapped_array(const MipmappedArray& mipmapped_array);
  /// For textures from which kernels fetch texels by their number, without filters. Throws InvalidArgument for a closed
  /// buffer, and for sizes that the buffer does not have, or that are no whole number of texels.
  static ResourceDescriptor from_linear(const Buffer& buffer, const LinearOptions& options);
  /// For textures of two dimensions, with filters. Throws InvalidArgument for a closed buffer, and for rows that
  /// overlap or that it does not have.
  static ResourceDescriptor from_pitch2d(const Buffer& buffer, const Pitch2DOptions& options);

  /// Which of the four it is.
  ResourceKind kind() const { return kind_; }
  /// What it was made from.
  const std::variant<OpaqueArray, MipmappedArray, Buffer>& source() const { return source_; }
  /// Of the texels in a buffer; an array says that itself.
  std::optional<ArrayFormatType> format() const { return format_; }
  /// Of the texels in a buffer.
  std::optional<int> num_channels() const { return num_channels_; }
  /// Of a line of texels.
  std::optional<std::size_t> size_bytes() const { return size_bytes_; }
  /// Of rows of texels.
  std::optional<std::size_t> width() const { return width_; }
  /// The number of rows.
  std::optional<std::size_t> height() const { return height_; }
  /// From one row to the next.
  std::optional<std::size_t> pitch_bytes() const { return pitch_bytes_; }

  /// What it keeps; for the library.
  const cuprum::detail::Kept<cuprum::detail::ArrayResource>& array() const { return array_; }
  /// What it keeps; for the library.
  const cuprum::detail::Kept<cuprum::detail::MipmappedArrayResource>& mipmapped_array() const { return mipmapped_; }
  /// What it keeps; for the library.
  const cuprum::detail::Kept<cuprum::detail::BufferResource>& memory() const { return memory_; }

 private:
  ResourceDescriptor(ResourceKind kind, std::variant<OpaqueArray, MipmappedArray, Buffer> source)
      : kind_(kind), source_(std::move(source)) {}

  ResourceKind kind_;
  std::variant<OpaqueArray, MipmappedArray, Buffer> source_;
  cuprum::detail::Kept<cuprum::detail::ArrayResource> array_;
  cuprum::detail::Kept<cuprum::detail::MipmappedArrayResource> mipmapped_;
  cuprum::detail::Kept<cuprum::detail::BufferResource> memory_;
  std::optional<ArrayFormatType> format_;
  std::optional<int> num_channels_;
  std::optional<std::size_t> size_bytes_, width_, height_, pitch_bytes_;
};

/// Prints what it is made from: "4096 bytes of 1 x float32 in a buffer of 4096 bytes at 0x7f…".
CUPRUM_API std::ostream& operator<<(std::ostream& out, const ResourceDescriptor& resource);

}  // namespace cuprum::inline CUPRUM_ABI::texture
