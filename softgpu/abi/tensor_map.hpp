// The 128 bytes of a tensor map, which CUDA leaves open: what cuTensorMapEncode* was given, so that everything can be
// read back. The driver writes them, kernels get them as a parameter or find them in memory, and the copies that a map
// describes read them there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>

namespace softgpu::abi {

enum class TensorMapMode : std::uint8_t { tiled, im2col, im2col_wide };

// The numbers of the other enumerations are those of <cuda.h>, which only the driver includes: CUtensorMapDataType and
// the like. Axes are counted as there: axis 0 is the innermost, whose elements lie side by side.
struct TensorMap {
  static constexpr int kMaxRank = 5, kMaxSpatial = kMaxRank - 2;
  static constexpr std::uint32_t kMark = 0x50414d54;  // "TMAP"

  std::uint32_t mark = kMark;  // tells a map from bytes that are none
  TensorMapMode mode = TensorMapMode::tiled;
  std::uint8_t data_type = 0;
  std::uint8_t rank = 0;
  std::uint8_t interleave = 0;
  // At a multiple of 8, where a launch that looks for addresses of other devices in its parameters finds it.
  std::uint64_t address = 0;
  std::uint64_t strides[kMaxRank - 1] = {};     // in bytes, of the axes from 1 on; below 2^40
  std::uint32_t last_index[kMaxRank] = {};      // extents less 1: they go up to 2^32
  std::uint16_t box[kMaxRank] = {};             // tiled: elements to step over, 1 to 256
  std::int16_t lower_corner[kMaxSpatial] = {};  // im2col: of the axes from 1 on; im2col_wide: of axis 1 alone
  std::int16_t upper_corner[kMaxSpatial] = {};  // the same, counted from the last element
  std::uint16_t channels_per_pixel = 0;         // im2col and im2col_wide: 1 to 256
  std::uint16_t pixels_per_column = 0;          // the same: 1 to 1024
  std::uint8_t element_strides[kMaxRank] = {};  // the steps, 1 to 8
  std::uint8_t swizzle = 0;
  std::uint8_t l2_promotion = 0;
  std::uint8_t fill = 0;
  std::uint8_t wide_mode = 0;    // im2col_wide
  std::uint8_t unused[25] = {};  // zero, so that equal maps have equal bytes

  std::uint64_t extent(int axis) const { return std::uint64_t{last_index[axis]} + 1; }

  // The map in 128 bytes; none when they are not one that was encoded.
  static std::optional<TensorMap> decode(const void* bytes) {
    TensorMap map;
    std::memcpy(&map, bytes, sizeof map);
    const bool is_map = map.mark == kMark && map.rank >= 1 && map.rank <= kMaxRank;
    return is_map ? std::optional(map) : std::nullopt;
  }
  void encode(void* bytes) const { std::memcpy(bytes, this, sizeof *this); }
};

static_assert(sizeof(TensorMap) == 128 && std::is_trivially_copyable_v<TensorMap>);
static_assert(std::has_unique_object_representations_v<TensorMap>);  // no bytes between the members

}  // namespace softgpu::abi
