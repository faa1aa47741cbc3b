#include "softgpu/runtime/memory/array_format.hpp"

#include <algorithm>
#include <array>

#include "softgpu/runtime/base/error.hpp"

namespace softgpu::runtime {
namespace {

using texture::ChannelType;
using texture::TexelFormat;

struct ArrayFormat {
  CUarray_format format;
  ChannelType type;
  unsigned channels;  // 0: as the program says
};

constexpr ArrayFormat kArrayFormats[] = {
    {CU_AD_FORMAT_UNSIGNED_INT8, ChannelType::u8, 0},
    {CU_AD_FORMAT_UNSIGNED_INT16, ChannelType::u16, 0},
    {CU_AD_FORMAT_UNSIGNED_INT32, ChannelType::u32, 0},
    {CU_AD_FORMAT_SIGNED_INT8, ChannelType::s8, 0},
    {CU_AD_FORMAT_SIGNED_INT16, ChannelType::s16, 0},
    {CU_AD_FORMAT_SIGNED_INT32, ChannelType::s32, 0},
    {CU_AD_FORMAT_HALF, ChannelType::f16, 0},
    {CU_AD_FORMAT_FLOAT, ChannelType::f32, 0},
    {CU_AD_FORMAT_UNORM_INT8X1, ChannelType::unorm8, 1},
    {CU_AD_FORMAT_UNORM_INT8X2, ChannelType::unorm8, 2},
    {CU_AD_FORMAT_UNORM_INT8X4, ChannelType::unorm8, 4},
    {CU_AD_FORMAT_UNORM_INT16X1, ChannelType::unorm16, 1},
    {CU_AD_FORMAT_UNORM_INT16X2, ChannelType::unorm16, 2},
    {CU_AD_FORMAT_UNORM_INT16X4, ChannelType::unorm16, 4},
    {CU_AD_FORMAT_SNORM_INT8X1, ChannelType::snorm8, 1},
    {CU_AD_FORMAT_SNORM_INT8X2, ChannelType::snorm8, 2},
    {CU_AD_FORMAT_SNORM_INT8X4, ChannelType::snorm8, 4},
    {CU_AD_FORMAT_SNORM_INT16X1, ChannelType::snorm16, 1},
    {CU_AD_FORMAT_SNORM_INT16X2, ChannelType::snorm16, 2},
    {CU_AD_FORMAT_SNORM_INT16X4, ChannelType::snorm16, 4},
};

// Block-compressed, planar and packed video formats are numbered from 0x91 on, and one packed format at 0x50.
bool is_known_to_cuda(CUarray_format format) {
  return format == 0x50 || (format >= CU_AD_FORMAT_BC1_UNORM && format <= CU_AD_FORMAT_SNORM_INT16X4);
}

// View formats come in threes, for 1, 2 and 4 channels, in this order.
constexpr std::array kViewTypes = {ChannelType::u8,  ChannelType::s8,  ChannelType::u16, ChannelType::s16,
                                   ChannelType::u32, ChannelType::s32, ChannelType::f16, ChannelType::f32};
static_assert(CU_RES_VIEW_FORMAT_UINT_1X8 == 1 && CU_RES_VIEW_FORMAT_SINT_1X8 == 4 &&
              CU_RES_VIEW_FORMAT_FLOAT_4X32 == 3 * kViewTypes.size());

}  // namespace

TexelFormat texel_format(CUarray_format format, unsigned channels) {
  const auto found = std::find_if(std::begin(kArrayFormats), std::end(kArrayFormats),
                                  [&](const ArrayFormat& entry) { return entry.format == format; });
  if (found == std::end(kArrayFormats)) {
    require(!is_known_to_cuda(format), CUDA_ERROR_NOT_SUPPORTED, "softgpu has no compressed or video formats");
    throw Failure(CUDA_ERROR_INVALID_VALUE, "no such format");
  }
  require(channels == 1 || channels == 2 || channels == 4, CUDA_ERROR_INVALID_VALUE, "a texel has 1, 2 or 4 channels");
  require(found->channels == 0 || found->channels == channels, CUDA_ERROR_INVALID_VALUE,
          "the format has another number of channels");
  return {found->type, static_cast<std::uint8_t>(channels)};
}

TexelFormat view_format(CUresourceViewFormat format, TexelFormat stored) {
  if (format == CU_RES_VIEW_FORMAT_NONE) return stored;
  const auto number = static_cast<std::size_t>(format) - 1;
  if (number >= 3 * kViewTypes.size()) {
    require(format > CU_RES_VIEW_FORMAT_UNSIGNED_BC7 || format < 0, CUDA_ERROR_NOT_SUPPORTED,
            "softgpu has no compressed formats");
    throw Failure(CUDA_ERROR_INVALID_VALUE, "no such format of a view");
  }
  const TexelFormat seen{kViewTypes[number / 3], static_cast<std::uint8_t>(1u << number % 3)};
  require(seen.bytes() == stored.bytes(), CUDA_ERROR_INVALID_VALUE, "a view's texels have the size of the array's");
  return seen;
}

}  // namespace softgpu::runtime
