#include "softgpu/runtime/memory/tensor_map.hpp"

#include <iterator>

#include "softgpu/runtime/base/error.hpp"

namespace softgpu::runtime {
namespace {

using abi::TensorMap;
using abi::TensorMapMode;

struct ElementType {
  int bits;
  bool is_floating = false;
  bool is_packed = false;  // several elements in a byte: from compute capability 10.0 on
  bool is_padded = false;  // packed, and spread out to 16 bytes where they are copied to
};

constexpr ElementType kTypes[] = {
    {8},                     // UINT8
    {16},                    // UINT16
    {32},                    // UINT32
    {32},                    // INT32
    {64},                    // UINT64
    {64},                    // INT64
    {16, true},              // FLOAT16
    {32, true},              // FLOAT32
    {64, true},              // FLOAT64
    {16, true},              // BFLOAT16
    {32, true},              // FLOAT32_FTZ
    {32, true},              // TFLOAT32
    {32, true},              // TFLOAT32_FTZ
    {4, false, true},        // 16U4_ALIGN8B
    {4, false, true, true},  // 16U4_ALIGN16B
    {6, false, true, true},  // 16U6_ALIGN16B
};
static_assert(std::size(kTypes) == CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B + 1);

void check(bool holds, const char* rule) { require(holds, CUDA_ERROR_INVALID_VALUE, rule); }

// Whether a value that came through a C interface is one of an enumeration's.
template <typename Enumeration>
bool is_member(Enumeration value, Enumeration last) {
  return static_cast<unsigned>(value) <= static_cast<unsigned>(last);
}

const ElementType& type_of(const TensorMapRequest& request) { return kTypes[request.data_type]; }

bool is_atom_swizzle(CUtensorMapSwizzle swizzle) { return swizzle >= CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B; }

// The bits of this many elements: those of packed types need not be whole bytes.
std::uint64_t bits_of(const TensorMapRequest& request, std::uint64_t elements) {
  return elements * static_cast<std::uint64_t>(type_of(request).bits);
}

void check_enumerations(unsigned compute_capability, const TensorMapRequest& request) {
  check(compute_capability >= 90, "tensor maps need a device of compute capability 9.0 or higher");
  check(is_member(request.data_type, CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B), "tensorDataType is no such type");
  check(is_member(request.interleave, CU_TENSOR_MAP_INTERLEAVE_32B), "interleave is no such layout");
  check(is_member(request.swizzle, CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B), "swizzle is no such mode");
  check(is_member(request.l2_promotion, CU_TENSOR_MAP_L2_PROMOTION_L2_256B), "l2Promotion is no such size");
  check(is_member(request.fill, CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA), "oobFill is no such mode");
  check(request.fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE || type_of(request).is_floating,
        "oobFill: only elements of a floating-point type can be filled with NaN");
  check(compute_capability >= 100 || !type_of(request).is_packed,
        "tensorDataType: packed types need a device of compute capability 10.0 or higher");
  check(compute_capability >= 100 || !is_atom_swizzle(request.swizzle),
        "swizzle: chunks of more than 16 bytes need a device of compute capability 10.0 or higher");
}

std::uint64_t alignment_of(const TensorMapRequest& request) {
  return request.interleave == CU_TENSOR_MAP_INTERLEAVE_32B || type_of(request).is_padded ? 32 : 16;
}

void check_address(std::uint64_t address, std::uint64_t alignment) {
  check(address % alignment == 0, alignment == 32
                                      ? "globalAddress must be a multiple of 32 with INTERLEAVE_32B and padded types"
                                      : "globalAddress must be a multiple of 16");
  check(address < std::uint64_t{1} << 57, "globalAddress must be less than 2^57");
}

void check_extents(const TensorMapRequest& request) {
  for (cuuint32_t axis = 0; axis < request.rank; ++axis) {
    check(request.extents[axis] >= 1 && request.extents[axis] <= std::uint64_t{1} << 32,
          "each of globalDim must be from 1 to 2^32");
  }
  const ElementType& type = type_of(request);
  check(!type.is_padded || request.extents[0] % 128 == 0, "globalDim[0] must be a multiple of 128 with padded types");
  check(!type.is_packed || request.extents[0] % 2 == 0, "globalDim[0] must be a multiple of 2 with packed types");
}

void check_strides(const TensorMapRequest& request, std::uint64_t alignment) {
  for (cuuint32_t axis = 0; axis + 1 < request.rank; ++axis) {
    check(request.strides[axis] % alignment == 0,
          alignment == 32 ? "each of globalStrides must be a multiple of 32 with INTERLEAVE_32B and padded types"
                          : "each of globalStrides must be a multiple of 16");
    check(request.strides[axis] < std::uint64_t{1} << 40, "each of globalStrides must be less than 2^40");
  }
}

void check_element_strides(const TensorMapRequest& request) {
  // Also of axis 0, although it is ignored without interleaving: the engine has no steps there.
  for (cuuint32_t axis = 0; axis < request.rank; ++axis) {
    check(request.element_strides[axis] >= 1 && request.element_strides[axis] <= 8,
          "each of elementStrides must be from 1 to 8");
  }
}

std::uint64_t span_of(CUtensorMapSwizzle swizzle) {
  switch (swizzle) {
    case CU_TENSOR_MAP_SWIZZLE_32B: return 32;
    case CU_TENSOR_MAP_SWIZZLE_64B: return 64;
    default: return 128;
  }
}

// `inner`: the elements along axis 0 of what one copy moves.
void check_inner(const TensorMapRequest& request, cuuint32_t inner) {
  check(bits_of(request, inner) % (16 * 8) == 0, "the bytes that a copy has along axis 0 must be a multiple of 16");
  if (request.interleave == CU_TENSOR_MAP_INTERLEAVE_NONE && request.swizzle != CU_TENSOR_MAP_SWIZZLE_NONE) {
    check(bits_of(request, inner) <= 8 * span_of(request.swizzle),
          "without interleaving, the box's bytes along axis 0 must be no more than the swizzle's span");
  }
  if (!type_of(request).is_padded) return;
  const bool is_6_bits = request.data_type == CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B;
  check(!is_6_bits || request.interleave == CU_TENSOR_MAP_INTERLEAVE_NONE, "elements of 6 bits can't be interleaved");
  check(request.swizzle == CU_TENSOR_MAP_SWIZZLE_NONE || request.swizzle == CU_TENSOR_MAP_SWIZZLE_128B ||
            request.swizzle == CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B ||
            (is_6_bits && request.swizzle == CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B),
        "swizzle: padded types have NONE, 128B, 128B_ATOM_32B and, those of 6 bits, 128B_ATOM_64B");
}

void check_copy(const TensorMapRequest& request, std::uint64_t elements) {
  constexpr std::uint64_t kMostBytes = 228 << 10;
  check(bits_of(request, elements) <= 8 * kMostBytes,
        "a copy must have no more than 228 KiB, which is the shared memory of a multiprocessor");
}

// Everything but what the kinds have of their own.
void check_tensor(unsigned compute_capability, const TensorMapRequest& request, cuuint32_t least_rank) {
  check_enumerations(compute_capability, request);
  check(request.rank >= least_rank && request.rank <= TensorMap::kMaxRank,
        least_rank == 1 ? "tensorRank must be from 1 to 5" : "tensorRank must be from 3 to 5");
  check(request.extents && request.element_strides && request.strides,
        "globalDim, globalStrides or elementStrides is null");
  const std::uint64_t alignment = alignment_of(request);
  check_address(reinterpret_cast<std::uint64_t>(request.address), alignment);
  check_extents(request);
  check_strides(request, alignment);
  check_element_strides(request);
}

void check_pixels(const TensorMapRequest& request, cuuint32_t channels, cuuint32_t pixels) {
  check(channels >= 1 && channels <= 256, "channelsPerPixel must be from 1 to 256");
  check(!type_of(request).is_padded || channels == 128, "channelsPerPixel must be 128 with padded types");
  check_inner(request, channels);
  check(pixels >= 1 && pixels <= 1024, "pixelsPerColumn must be from 1 to 1024");
  check_copy(request, std::uint64_t{channels} * pixels);
}

// A corner is an offset from the tensor's first element, the other from its last one, along an axis. Channels that are
// interleaved have no axis of their own in front. NVIDIA's driver counts in 32 bits with a sign, so extents of 2^31 and
// more may have no elements for it.
void check_corners(const TensorMapRequest& request, const int* lower, const int* upper, cuuint32_t count) {
  const int limit = count == 1 ? 1 << 15 : count == 2 ? 1 << 7 : 1 << 4;  // all of them share 32 bits
  const cuuint64_t* extents = request.extents + (request.interleave == CU_TENSOR_MAP_INTERLEAVE_NONE ? 1 : 0);
  for (cuuint32_t i = 0; i < count; ++i) {
    check(lower[i] >= -limit && lower[i] < limit && upper[i] >= -limit && upper[i] < limit,
          "pixelBoxLowerCorner and pixelBoxUpperCorner have 16 bits for a tensor of rank 3, 8 for 4, and 5 for 5");
    const auto end = static_cast<std::int32_t>(extents[i] + static_cast<std::uint64_t>(upper[i]));
    check(end > lower[i], "the box from pixelBoxLowerCorner to pixelBoxUpperCorner has no elements");
  }
}

TensorMap encode_tensor(TensorMapMode mode, const TensorMapRequest& request) {
  TensorMap map;
  map.mode = mode;
  map.data_type = static_cast<std::uint8_t>(request.data_type);
  map.rank = static_cast<std::uint8_t>(request.rank);
  map.interleave = static_cast<std::uint8_t>(request.interleave);
  map.swizzle = static_cast<std::uint8_t>(request.swizzle);
  map.l2_promotion = static_cast<std::uint8_t>(request.l2_promotion);
  map.fill = static_cast<std::uint8_t>(request.fill);
  map.address = reinterpret_cast<std::uint64_t>(request.address);
  for (cuuint32_t axis = 0; axis < request.rank; ++axis) {
    map.last_index[axis] = static_cast<std::uint32_t>(request.extents[axis] - 1);
    map.element_strides[axis] = static_cast<std::uint8_t>(request.element_strides[axis]);
    if (axis > 0) map.strides[axis - 1] = request.strides[axis - 1];
  }
  if (request.interleave == CU_TENSOR_MAP_INTERLEAVE_NONE) map.element_strides[0] = 1;
  return map;
}

}  // namespace

TensorMap encode_tiled(unsigned compute_capability, const TensorMapRequest& request, const cuuint32_t* box) {
  check_tensor(compute_capability, request, 1);
  check(request.interleave == CU_TENSOR_MAP_INTERLEAVE_NONE || request.rank >= 3,
        "tensorRank must be from 3 to 5 for an interleaved layout");
  check(box != nullptr, "boxDim is null");
  TensorMap map = encode_tensor(TensorMapMode::tiled, request);
  std::uint64_t elements = 1;
  for (cuuint32_t axis = 0; axis < request.rank; ++axis) {
    check(box[axis] >= 1 && box[axis] <= 256, "each of boxDim must be from 1 to 256");
    map.box[axis] = static_cast<std::uint16_t>(box[axis]);
    elements *= box[axis] / request.element_strides[axis];  // rounded down, to none too, as NVIDIA's driver does
  }
  check(!type_of(request).is_padded || box[0] == 128, "boxDim[0] must be 128 with padded types");
  check_inner(request, box[0]);
  check_copy(request, elements);
  return map;
}

TensorMap encode_im2col(unsigned compute_capability, const TensorMapRequest& request, const Im2colRequest& im2col) {
  check_tensor(compute_capability, request, 3);
  check(im2col.lower_corner && im2col.upper_corner, "pixelBoxLowerCorner or pixelBoxUpperCorner is null");
  TensorMap map = encode_tensor(TensorMapMode::im2col, request);
  check_corners(request, im2col.lower_corner, im2col.upper_corner, request.rank - 2);
  for (cuuint32_t axis = 0; axis + 2 < request.rank; ++axis) {
    map.lower_corner[axis] = static_cast<std::int16_t>(im2col.lower_corner[axis]);
    map.upper_corner[axis] = static_cast<std::int16_t>(im2col.upper_corner[axis]);
  }
  check_pixels(request, im2col.channels_per_pixel, im2col.pixels_per_column);
  map.channels_per_pixel = static_cast<std::uint16_t>(im2col.channels_per_pixel);
  map.pixels_per_column = static_cast<std::uint16_t>(im2col.pixels_per_column);
  return map;
}

TensorMap encode_im2col_wide(unsigned compute_capability, const TensorMapRequest& request,
                             const Im2colWideRequest& im2col) {
  check_tensor(compute_capability, request, 3);
  check(is_member(im2col.mode, CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128), "mode is no such mode");
  // Devices that have no such copies take it for im2col, with the other corners 0.
  const bool is_wide = compute_capability >= 100;
  check(!is_wide || request.swizzle == CU_TENSOR_MAP_SWIZZLE_64B || request.swizzle == CU_TENSOR_MAP_SWIZZLE_128B ||
            request.swizzle == CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B,
        "swizzle: im2col-wide has 64B, 128B and 128B_ATOM_32B");
  const int lower[TensorMap::kMaxSpatial] = {im2col.lower_corner},
            upper[TensorMap::kMaxSpatial] = {im2col.upper_corner};
  check_corners(request, lower, upper, is_wide ? 1 : request.rank - 2);
  // W128 loads 128 of them, whatever is said.
  const cuuint32_t pixels = im2col.mode == CU_TENSOR_MAP_IM2COL_WIDE_MODE_W ? im2col.pixels_per_column : 128;
  check_pixels(request, im2col.channels_per_pixel, is_wide ? pixels : im2col.pixels_per_column);
  TensorMap map = encode_tensor(TensorMapMode::im2col_wide, request);
  map.lower_corner[0] = static_cast<std::int16_t>(im2col.lower_corner);
  map.upper_corner[0] = static_cast<std::int16_t>(im2col.upper_corner);
  map.channels_per_pixel = static_cast<std::uint16_t>(im2col.channels_per_pixel);
  map.pixels_per_column = static_cast<std::uint16_t>(pixels);
  map.wide_mode = static_cast<std::uint8_t>(im2col.mode);
  return map;
}

void replace_address(void* map, const void* address) {
  std::optional<TensorMap> decoded = TensorMap::decode(map);
  check(decoded && decoded->data_type < std::size(kTypes), "not a tensor map");
  decoded->address = reinterpret_cast<std::uint64_t>(address);
  check_address(decoded->address, 16);  // of all maps, as NVIDIA's driver does
  decoded->encode(map);
}

}  // namespace softgpu::runtime
