// What texels are made of, and the ways to read them.
#pragma once

#include <cuprum/detail/export.hpp>
#include <iosfwd>

/// Arrays of texels, and the textures and surfaces by which kernels use them.
namespace cuprum::inline CUPRUM_ABI::texture {

/// What each channel of a texel is.
enum class ArrayFormatType {
  uint8,    ///< without a sign, 1 byte
  uint16,   ///< without a sign, 2 bytes
  uint32,   ///< without a sign, 4 bytes
  int8,     ///< with a sign, 1 byte
  int16,    ///< with a sign, 2 bytes
  int32,    ///< with a sign, 4 bytes
  float16,  ///< a half
  float32   ///< a float
};

/// What a texture has beyond its edges. Coordinates that are not normalised can't be wrapped or mirrored: drivers clamp
/// them.
enum class AddressModeType {
  wrap,    ///< itself again
  clamp,   ///< the texels of the edge
  mirror,  ///< itself again, every other time mirrored
  border   ///< TextureObjectOptions::border_color
};

/// How a texture is read between its texels, or between levels of detail.
enum class FilterModeType {
  point,  ///< the nearest one
  linear  ///< those around it, blended by their distances with weights of 8 bits after the point
};

/// What kernels get of integers.
enum class ReadModeType {
  element_type,     ///< what is stored
  normalized_float  ///< floats from 0 to 1, or from -1 with a sign; for integers of 8 and 16 bits
};

/// What a ResourceDescriptor is made from.
enum class ResourceKind {
  array,            ///< an OpaqueArray
  mipmapped_array,  ///< a MipmappedArray
  linear,           ///< a Buffer, as a line of texels
  pitch2d           ///< a Buffer, as rows of texels
};

/// Prints "uint8".
CUPRUM_API std::ostream& operator<<(std::ostream& out, ArrayFormatType format);
/// Prints "wrap".
CUPRUM_API std::ostream& operator<<(std::ostream& out, AddressModeType mode);
/// Prints "linear".
CUPRUM_API std::ostream& operator<<(std::ostream& out, FilterModeType mode);
/// Prints "element_type".
CUPRUM_API std::ostream& operator<<(std::ostream& out, ReadModeType mode);
/// Prints "mipmapped_array".
CUPRUM_API std::ostream& operator<<(std::ostream& out, ResourceKind kind);

}  // namespace cuprum::inline CUPRUM_ABI::texture
