// What softgpu keeps in the 128 bytes of a tensor map: everything that it was made of.
#include "softgpu/runtime/memory/tensor_map.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "softgpu/runtime/base/error.hpp"
#include "support/tensor_map_model.hpp"

namespace softgpu::runtime {
namespace {

using abi::TensorMap;
using abi::TensorMapMode;
using tensor_map_model::Arguments;

constexpr unsigned kCapability = 100;  // which has all kinds, types and swizzles

TensorMap encode(const Arguments& a) {
  const TensorMapRequest request{.data_type = static_cast<CUtensorMapDataType>(a.data_type),
                                 .rank = a.rank,
                                 .address = reinterpret_cast<const void*>(a.address),
                                 .extents = a.extents.data(),
                                 .strides = a.strides.data(),
                                 .element_strides = a.element_strides.data(),
                                 .interleave = static_cast<CUtensorMapInterleave>(a.interleave),
                                 .swizzle = static_cast<CUtensorMapSwizzle>(a.swizzle),
                                 .l2_promotion = static_cast<CUtensorMapL2promotion>(a.l2_promotion),
                                 .fill = static_cast<CUtensorMapFloatOOBfill>(a.fill)};
  switch (a.kind) {
    case Arguments::Kind::tiled: return encode_tiled(kCapability, request, a.box.data());
    case Arguments::Kind::im2col:
      return encode_im2col(kCapability, request,
                           {a.lower_corner.data(), a.upper_corner.data(), a.channels_per_pixel, a.pixels_per_column});
    case Arguments::Kind::im2col_wide: break;
  }
  return encode_im2col_wide(kCapability, request,
                            {a.lower_corner[0], a.upper_corner[0], a.channels_per_pixel, a.pixels_per_column,
                             static_cast<CUtensorMapIm2ColWideMode>(a.wide_mode)});
}

void expect_same_tensor(const TensorMap& map, const Arguments& a) {
  EXPECT_EQ(map.data_type, a.data_type);
  EXPECT_EQ(map.address, a.address);
  EXPECT_EQ(map.interleave, a.interleave);
  EXPECT_EQ(map.swizzle, a.swizzle);
  EXPECT_EQ(map.l2_promotion, a.l2_promotion);
  EXPECT_EQ(map.fill, a.fill);
  ASSERT_EQ(map.rank, a.rank);
  for (int axis = 0; axis < map.rank; ++axis) {
    EXPECT_EQ(map.extent(axis), a.extents[axis]) << axis;
    if (axis > 0) {
      EXPECT_EQ(map.strides[axis - 1], a.strides[axis - 1]) << axis;
    }
    const bool is_ignored = axis == 0 && a.interleave == CU_TENSOR_MAP_INTERLEAVE_NONE;
    EXPECT_EQ(map.element_strides[axis], is_ignored ? 1 : a.element_strides[axis]) << axis;
  }
}

void expect_same_box(const TensorMap& map, const Arguments& a) {
  if (a.kind == Arguments::Kind::tiled) {
    EXPECT_EQ(map.mode, TensorMapMode::tiled);
    for (int axis = 0; axis < map.rank; ++axis) EXPECT_EQ(map.box[axis], a.box[axis]) << axis;
    return;
  }
  const bool is_wide = a.kind == Arguments::Kind::im2col_wide;
  EXPECT_EQ(map.mode, is_wide ? TensorMapMode::im2col_wide : TensorMapMode::im2col);
  for (int i = 0; i < (is_wide ? 1 : map.rank - 2); ++i) {
    EXPECT_EQ(map.lower_corner[i], a.lower_corner[i]) << i;
    EXPECT_EQ(map.upper_corner[i], a.upper_corner[i]) << i;
  }
  EXPECT_EQ(map.channels_per_pixel, a.channels_per_pixel);
  const bool is_w128 = is_wide && a.wide_mode == CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128;
  EXPECT_EQ(map.pixels_per_column, is_w128 ? 128 : a.pixels_per_column);
  if (is_wide) {
    EXPECT_EQ(map.wide_mode, a.wide_mode);
  }
}

TEST(TensorMap, GivesBackEverythingThatItWasMadeOf) {
  int decoded = 0;
  for (std::uint64_t seed = 1; seed <= 30000 && !testing::Test::HasFailure(); ++seed) {
    std::mt19937_64 random(seed);
    const auto kind = static_cast<Arguments::Kind>(seed % 3);
    const Arguments arguments = tensor_map_model::random_arguments(random, kind, kCapability);
    if (!tensor_map_model::broken_rules(arguments, kCapability).empty()) continue;
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + text(arguments));
    CUtensorMap bytes{};
    encode(arguments).encode(&bytes);
    const std::optional<TensorMap> map = TensorMap::decode(&bytes);
    ASSERT_TRUE(map);
    expect_same_tensor(*map, arguments);
    expect_same_box(*map, arguments);
    ++decoded;
  }
  EXPECT_GT(decoded, 6000);
}

TEST(TensorMap, OfEqualArgumentsHasEqualBytes) {
  CUtensorMap first{}, second{};
  std::fill(std::begin(first.opaque), std::end(first.opaque), 1);
  encode(Arguments()).encode(&first);
  encode(Arguments()).encode(&second);
  EXPECT_TRUE(std::equal(std::begin(first.opaque), std::end(first.opaque), second.opaque));
}

TEST(TensorMap, IsNoneOfOtherBytes) {
  CUtensorMap bytes{};
  EXPECT_FALSE(TensorMap::decode(&bytes));
  encode(Arguments()).encode(&bytes);
  EXPECT_TRUE(TensorMap::decode(&bytes));
  bytes.opaque[0] ^= 1;
  EXPECT_FALSE(TensorMap::decode(&bytes));
  EXPECT_THROW(replace_address(&bytes, nullptr), Failure);
}

TEST(TensorMap, ReplacesNothingButTheAddress) {
  Arguments arguments;
  CUtensorMap bytes{};
  encode(arguments).encode(&bytes);
  arguments.address = 1 << 30;
  replace_address(&bytes, reinterpret_cast<void*>(arguments.address));
  const std::optional<TensorMap> map = TensorMap::decode(&bytes);
  ASSERT_TRUE(map);
  expect_same_tensor(*map, arguments);
  expect_same_box(*map, arguments);
}

TEST(TensorMap, SaysWhichRuleWasBroken) {
  Arguments arguments;
  arguments.strides[0] = 24;
  try {
    encode(arguments);
    FAIL() << "a stride of 24 bytes";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), CUDA_ERROR_INVALID_VALUE);
    EXPECT_STREQ(failure.what(), "each of globalStrides must be a multiple of 16");
  }
}

}  // namespace
}  // namespace softgpu::runtime
