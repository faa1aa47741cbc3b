// Tensor maps of views: what they refuse, what they keep, and how kernels get them.
#include <cuprum/driver.hpp>
#include <cuprum/graph.hpp>
#include <random>

#include "api/failing_api.hpp"
#include "api/fixture.hpp"
#include "api/printed.hpp"
#include "support/own_process.hpp"
#include "support/tensor_map_model.hpp"

namespace cuprum::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// out = the bytes of the map, as words. CUtensorMap is declared in <cuda.h>, which needs headers of the host.
constexpr const char* copy_map_source = R"(
struct alignas(64) Map { unsigned long long words[16]; };
extern "C" __global__ void copy_map(const __grid_constant__ Map map, unsigned long long* out) {
  const unsigned long long* words = map.words;   // its address is taken, as the instructions for tensor maps need it
  out[threadIdx.x] = words[threadIdx.x];
}
)";

class TensorMapTest : public ApiTest {
 protected:
  void SetUp() override {
    if (!device.properties().tensor_map_access_supported()) GTEST_SKIP() << "the device has no tensor maps";
  }

  template <typename T>
  StridedMemoryView view_of(const std::vector<std::int64_t>& shape) {
    std::int64_t volume = 1;
    for (const std::int64_t extent : shape) volume *= extent;
    return StridedMemoryView::from_buffer<T>(device.allocate(static_cast<std::size_t>(volume) * sizeof(T), stream),
                                             StridedMemoryView::Extents(shape.begin(), shape.end()));
  }
  StridedMemoryView matrix() { return view_of<float>({64, 64}); }

  static std::string refusal(const StridedMemoryView& view, const TensorMapDescriptorOptions& options) {
    return error_of<InvalidArgument>([&] { view.as_tensor_map(options); });
  }
  static std::string refusal_of_columns(const StridedMemoryView& view, const TensorMapIm2ColOptions& options) {
    return error_of<InvalidArgument>([&] { TensorMapDescriptor::from_im2col(view, options); });
  }

  static std::vector<std::uint64_t> words(const TensorMapDescriptor& map) {
    return {std::begin(map.opaque().opaque), std::end(map.opaque().opaque)};
  }

  Stream stream = device.create_stream();
};

class TensorMapLaunchTest : public TensorMapTest {
 protected:
  std::vector<std::uint64_t> result() { return download<std::uint64_t>(out, stream); }

  Kernel copy_map = compile(copy_map_source, "copy_map");
  Buffer out = device.allocate(128, stream);
  const LaunchConfig config{.grid = 1, .block = 16};
};

TEST_F(TensorMapTest, DescribesAView) {
  const StridedMemoryView view = matrix();
  const TensorMapDescriptor map = view.as_tensor_map({.box_dim = {32, 32}, .swizzle = TensorMapSwizzle::swizzle_128b});
  EXPECT_EQ(map.rank(), 2);
  EXPECT_EQ(map.data_type(), TensorMapDataType::float32);
  EXPECT_EQ(map.swizzle(), TensorMapSwizzle::swizzle_128b);
  EXPECT_EQ(map.device(), device);
  EXPECT_EQ(map.view().ptr(), view.ptr());
  EXPECT_NE(map.opaque(), OpaqueTensorMap());
  EXPECT_EQ(printed(map), "TensorMapDescriptor(tiled, rank=2, dtype=FLOAT32, swizzle=SWIZZLE_128B)");
}

TEST_F(TensorMapTest, IsWhatTheDriverMakesOfTheSameNumbers) {
  const Buffer buffer = device.allocate(4 * 8 * 64 * sizeof(float), stream);
  const auto whole = StridedMemoryView::from_buffer<float>(buffer, {4, 8, 64});
  const StridedMemoryView part = whole.sliced({Slice{}, Slice{.start = 1, .stop = 7}, Slice{.stop = 48}});
  const TensorMapDescriptor map = part.as_tensor_map({.box_dim = {1, 2, 16},
                                                      .element_strides = {{3, 2, 1}},
                                                      .swizzle = TensorMapSwizzle::swizzle_64b,
                                                      .l2_promotion = TensorMapL2Promotion::l2_256b,
                                                      .oob_fill = TensorMapOOBFill::nan_request_zero_fma});
  const cuuint64_t extents[] = {48, 6, 4}, strides[] = {256, 2048};
  const cuuint32_t box[] = {16, 2, 1}, steps[] = {1, 2, 3};
  CUtensorMap expected{};
  driver::call<&driver::Api::cuTensorMapEncodeTiled>(
      &expected, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 3u, reinterpret_cast<void*>(buffer.handle() + 256), extents, strides,
      box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_64B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);
  EXPECT_EQ(words(map), (std::vector<std::uint64_t>(expected.opaque, expected.opaque + 16)));
}

TEST_F(TensorMapTest, OfColumnsIsWhatTheDriverMakesOfTheSameNumbers) {
  const auto image = view_of<std::uint16_t>({2, 10, 12, 64});  // N, H, W, C
  const TensorMapDescriptor map = TensorMapDescriptor::from_im2col(image, {.pixel_box_lower_corner = {-1, -2},
                                                                           .pixel_box_upper_corner = {-3, 1},
                                                                           .channels_per_pixel = 64,
                                                                           .pixels_per_column = 128});
  EXPECT_EQ(printed(map), "TensorMapDescriptor(im2col, rank=4, dtype=UINT16, swizzle=NONE)");
  const cuuint64_t extents[] = {64, 12, 10, 2}, strides[] = {128, 1536, 15360};
  const cuuint32_t steps[] = {1, 1, 1, 1};
  const int lower[] = {-2, -1}, upper[] = {1, -3};
  CUtensorMap expected{};
  driver::call<&driver::Api::cuTensorMapEncodeIm2col>(
      &expected, CU_TENSOR_MAP_DATA_TYPE_UINT16, 4u, reinterpret_cast<void*>(image.ptr()), extents, strides, lower,
      upper, 64u, 128u, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
      CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  EXPECT_EQ(words(map), (std::vector<std::uint64_t>(expected.opaque, expected.opaque + 16)));
}

TEST_F(TensorMapTest, OfWideColumnsNeedsANewerDevice) {
  const auto rows = view_of<float>({1, 32, 64});
  const TensorMapIm2ColWideOptions options{
      .pixel_box_upper_corner_width = 4, .channels_per_pixel = 32, .pixels_per_column = 4};
  if (device.compute_capability().major >= 10) {
    EXPECT_EQ(printed(TensorMapDescriptor::from_im2col_wide(rows, options)),
              "TensorMapDescriptor(im2col_wide, rank=3, dtype=FLOAT32, swizzle=SWIZZLE_128B)");
  } else {
    EXPECT_THAT(error_of<NotSupported>([&] { TensorMapDescriptor::from_im2col_wide(rows, options); }),
                HasSubstr("im2col-wide needs 10.0 or higher"));
  }
}

TEST_F(TensorMapTest, TakesTheTypeOfTheView) {
  EXPECT_EQ(view_of<std::uint8_t>({64}).as_tensor_map({.box_dim = {16}}).data_type(), TensorMapDataType::uint8);
  EXPECT_EQ(view_of<std::uint16_t>({64}).as_tensor_map({.box_dim = {16}}).data_type(), TensorMapDataType::uint16);
  EXPECT_EQ(view_of<std::uint32_t>({64}).as_tensor_map({.box_dim = {16}}).data_type(), TensorMapDataType::uint32);
  EXPECT_EQ(view_of<std::int32_t>({64}).as_tensor_map({.box_dim = {16}}).data_type(), TensorMapDataType::int32);
  EXPECT_EQ(view_of<std::uint64_t>({64}).as_tensor_map({.box_dim = {16}}).data_type(), TensorMapDataType::uint64);
  EXPECT_EQ(view_of<std::int64_t>({64}).as_tensor_map({.box_dim = {16}}).data_type(), TensorMapDataType::int64);
  EXPECT_EQ(view_of<double>({64}).as_tensor_map({.box_dim = {16}}).data_type(), TensorMapDataType::float64);
  const auto halves = view_of<std::uint16_t>({64});
  EXPECT_EQ(halves.view({DataTypeCode::floating, 16}).as_tensor_map({.box_dim = {16}}).data_type(),
            TensorMapDataType::float16);
  EXPECT_EQ(halves.view({DataTypeCode::bfloat, 16}).as_tensor_map({.box_dim = {16}}).data_type(),
            TensorMapDataType::bfloat16);
  EXPECT_THAT(refusal(view_of<std::int8_t>({64}), {.box_dim = {16}}), HasSubstr("tensor maps have no int8"));
  const auto untyped = StridedMemoryView::from_buffer(device.allocate(256, stream), StridedLayout({64}, 4));
  EXPECT_THAT(refusal(untyped, {.box_dim = {16}}), HasSubstr("it has no data type"));
}

TEST_F(TensorMapTest, CountsElementsOfAnotherTypeByTheBytesOfTheLastAxis) {
  const Buffer buffer = device.allocate(4096, stream);
  const auto bytes = StridedMemoryView::from_buffer<std::int8_t>(buffer, {16, 256});
  const auto floats = StridedMemoryView::from_buffer<float>(buffer, {16, 64});
  const TensorMapDescriptorOptions options{.box_dim = {8, 32}, .data_type = TensorMapDataType::float32};
  EXPECT_EQ(bytes.as_tensor_map(options), floats.as_tensor_map(options));
  EXPECT_NE(bytes.as_tensor_map(options), floats.as_tensor_map({.box_dim = {8, 16}}));
  const auto odd = StridedMemoryView::from_buffer<std::int8_t>(buffer, {18});
  EXPECT_THAT(refusal(odd, {.box_dim = {4}, .data_type = TensorMapDataType::float32}),
              HasSubstr("18 bytes along its last axis are no whole number of FLOAT32"));
}

TEST_F(TensorMapTest, RefusesViewsThatItCantDescribe) {
  const std::vector<float> host(64);
  EXPECT_THAT(refusal(StridedMemoryView::from_span(std::span(host)), {.box_dim = {16}}),
              HasSubstr("device-accessible"));
  EXPECT_THAT(refusal(matrix().transposed(), {.box_dim = {16, 16}}), HasSubstr("must lie side by side"));
  EXPECT_THAT(refusal(view_of<float>({64, 5}), {.box_dim = {16, 4}}),
              HasSubstr("the stride of axis 0 is 20 bytes; it must be a multiple of 16"));
  EXPECT_THAT(refusal(view_of<float>({64})[Slice{.start = 1}], {.box_dim = {16}}), HasSubstr("a multiple of 16 bytes"));
  EXPECT_THAT(refusal(matrix().sliced({Slice{.step = -1}, Slice{}}), {.box_dim = {16, 16}}), HasSubstr("negative"));
  EXPECT_THAT(refusal(matrix().sliced({Slice{.stop = 0}, Slice{}}), {.box_dim = {16, 16}}),
              HasSubstr("it has no elements"));
  EXPECT_THAT(refusal(view_of<float>({4})[0], {}), HasSubstr("Tensor rank must be between 1 and 5, got 0"));
  EXPECT_THAT(refusal(view_of<float>({2, 2, 2, 2, 2, 4}), {.box_dim = {1, 1, 1, 1, 1, 4}}),
              HasSubstr("Tensor rank must be between 1 and 5, got 6"));
}

TEST_F(TensorMapTest, RefusesOptionsThatItCantHave) {
  const StridedMemoryView view = matrix();
  EXPECT_THAT(refusal(view, {}), HasSubstr("box_dim must have 2 elements (same as tensor rank), got 0"));
  EXPECT_THAT(refusal(view, {.box_dim = {32, 257}}), HasSubstr("box_dim[1] must be in [1, 256], got 257"));
  EXPECT_THAT(refusal(view, {.box_dim = {0, 32}}), HasSubstr("box_dim[0] must be in [1, 256], got 0"));
  EXPECT_THAT(refusal(view, {.box_dim = {32, 3}}),
              HasSubstr("box_dim[1] is 3 elements of 4 bytes; the bytes along the last axis must be a multiple of 16"));
  EXPECT_THAT(refusal(view, {.box_dim = {256, 256}}),
              HasSubstr("a copy would have 262144 bytes, and shared memory has room for 233472"));
  EXPECT_NO_THROW(view.as_tensor_map({.box_dim = {256, 256}, .element_strides = {{2, 1}}}));
  EXPECT_THAT(refusal(view, {.box_dim = {32, 32}, .element_strides = {{1}}}), HasSubstr("element_strides must have 2"));
  EXPECT_THAT(refusal(view, {.box_dim = {32, 32}, .element_strides = {{9, 1}}}),
              HasSubstr("element_strides[0] must be in [1, 8], got 9"));
  EXPECT_THAT(refusal(view, {.box_dim = {32, 32}, .interleave = TensorMapInterleave::interleave_16b}),
              HasSubstr("an interleaved tensor has 3 to 5 axes, and this one has 2"));
  EXPECT_THAT(refusal(view, {.box_dim = {32, 64}, .swizzle = TensorMapSwizzle::swizzle_128b}),
              HasSubstr("SWIZZLE_128B has room for 128 bytes along the last axis, and the box has 256"));
  EXPECT_THAT(
      refusal(view_of<std::int32_t>({64}), {.box_dim = {32}, .oob_fill = TensorMapOOBFill::nan_request_zero_fma}),
      AllOf(HasSubstr("making a tensor map of a view of int32"), HasSubstr("floating-point types, not INT32")));
  EXPECT_THAT(refusal(view, {.box_dim = {32, 32}, .swizzle = static_cast<TensorMapSwizzle>(9)}),
              HasSubstr("swizzle is 9"));
  EXPECT_THAT(refusal(view, {.box_dim = {32, 32}, .data_type = static_cast<TensorMapDataType>(99)}),
              HasSubstr("TensorMapDataType 99"));
}

TEST_F(TensorMapTest, RefusesColumnsThatItCantHave) {
  const auto image = view_of<float>({1, 8, 8, 64});
  const TensorMapIm2ColOptions good{.pixel_box_lower_corner = {0, 0},
                                    .pixel_box_upper_corner = {4, 4},
                                    .channels_per_pixel = 64,
                                    .pixels_per_column = 16};
  EXPECT_EQ(TensorMapDescriptor::from_im2col(image, good).rank(), 4);
  const auto changed = [&](auto change) {
    TensorMapIm2ColOptions options = good;
    change(options);
    return refusal_of_columns(image, options);
  };
  EXPECT_THAT(refusal_of_columns(matrix(), good), HasSubstr("Im2col tensor rank must be between 3 and 5, got 2"));
  EXPECT_THAT(changed([](auto& options) { options.pixel_box_lower_corner = {0}; }),
              HasSubstr("pixel_box_lower_corner must have 2 elements (rank - 2), got 1"));
  EXPECT_THAT(changed([](auto& options) { options.pixel_box_upper_corner = {0, 128}; }),
              HasSubstr("pixel_box_upper_corner[1] must be in [-128, 127], got 128"));
  EXPECT_THAT(changed([](auto& options) { options.pixel_box_upper_corner = {-8, 0}; }),
              HasSubstr("the box of pixels is empty along axis 1: it goes from 0 to -1"));
  EXPECT_THAT(changed([](auto& options) { options.channels_per_pixel = 257; }),
              HasSubstr("channels_per_pixel must be in [1, 256], got 257"));
  EXPECT_THAT(
      changed([](auto& options) { options.channels_per_pixel = 3; }),
      HasSubstr("channels_per_pixel is 3 elements of 4 bytes; the bytes along the last axis must be a multiple"));
  EXPECT_THAT(changed([](auto& options) { options.pixels_per_column = 1024; }),
              HasSubstr("a copy would have 262144 bytes, and shared memory has room for 233472"));
  EXPECT_THAT(changed([](auto& options) { options.pixels_per_column = 0; }),
              HasSubstr("pixels_per_column must be in [1, 1024], got 0"));
  EXPECT_THAT(changed([](auto& options) { options.swizzle = TensorMapSwizzle::swizzle_32b; }),
              HasSubstr("SWIZZLE_32B has room for 32 bytes along the last axis, and a pixel has 256"));
}

/// A view and options at random, and what they are for the driver.
struct RandomTiles {
  RandomTiles(const Buffer& buffer, std::uint64_t seed) : random(seed) {
    const auto rank = static_cast<std::size_t>(pick({1, 2, 3, 3, 4, 5}));
    std::vector<std::int64_t> shape(rank), strides(rank);
    std::int64_t stride = 1;
    options.element_strides.emplace(rank);
    options.box_dim.resize(rank);
    for (std::size_t axis = rank; axis-- > 0;) {
      const bool is_last = axis + 1 == rank;
      shape[axis] = is_last ? pick({8, 16, 32, 64, 64, 64, 5}) : pick({1, 2, 4, 8});
      strides[axis] = stride;
      stride *= shape[axis] + (is_last ? 0 : pick({0, 0, 1}));
      options.box_dim[axis] = pick({1, 4, 8, 8, 16, 16, 32, 256, 257, 0});
      (*options.element_strides)[axis] = pick({1, 1, 1, 1, 2, 8, 8, 9});
    }
    options.data_type = static_cast<TensorMapDataType>(pick({0, 3, 6, 7, 7, 8, 9, 12}));
    options.interleave = static_cast<TensorMapInterleave>(pick({0, 0, 0, 0, 1, 2}));
    options.swizzle = static_cast<TensorMapSwizzle>(pick({0, 0, 0, 1, 2, 3}));
    options.l2_promotion = static_cast<TensorMapL2Promotion>(pick({0, 1, 2, 3}));
    options.oob_fill = static_cast<TensorMapOOBFill>(pick({0, 0, 0, 1}));
    const std::int64_t sizes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
    const std::int64_t size = sizes[static_cast<int>(*options.data_type)];
    view = StridedMemoryView::from_buffer(
        buffer, StridedLayout(StridedMemoryView::Extents(shape.begin(), shape.end()),
                              StridedMemoryView::Extents(strides.begin(), strides.end()), size));
    describe(size);
  }

  std::int64_t pick(std::initializer_list<std::int64_t> values) { return *(values.begin() + random() % values.size()); }

  void describe(std::int64_t size) {
    const auto rank = static_cast<std::size_t>(view->ndim());
    arguments.rank = static_cast<cuuint32_t>(rank);
    arguments.address = view->ptr();
    arguments.data_type = static_cast<std::uint32_t>(*options.data_type);
    arguments.interleave = static_cast<std::uint32_t>(options.interleave);
    arguments.swizzle = static_cast<std::uint32_t>(options.swizzle);
    arguments.l2_promotion = static_cast<std::uint32_t>(options.l2_promotion);
    arguments.fill = static_cast<std::uint32_t>(options.oob_fill);
    for (std::size_t axis = 0; axis < rank; ++axis) {
      const std::size_t theirs = rank - 1 - axis;
      arguments.extents[theirs] = static_cast<cuuint64_t>(view->shape()[axis]);
      if (theirs > 0) arguments.strides[theirs - 1] = static_cast<cuuint64_t>(view->strides()[axis] * size);
      arguments.box[theirs] = static_cast<cuuint32_t>(options.box_dim[axis]);
      arguments.element_strides[theirs] = static_cast<cuuint32_t>((*options.element_strides)[axis]);
    }
    // What is said of the last axis is ignored, by the library rather than by the driver.
    if (options.interleave == TensorMapInterleave::none) arguments.element_strides[0] = 1;
  }

  std::mt19937_64 random;
  std::optional<StridedMemoryView> view;
  TensorMapDescriptorOptions options;
  tensor_map_model::Arguments arguments;
};

TEST_F(TensorMapTest, RefusesByNameWhatBreaksARule) {
  const Buffer buffer = device.allocate(16 << 20, stream);
  const auto capability = static_cast<unsigned>(10 * device.compute_capability().major);
  int described = 0, refused = 0;
  for (std::uint64_t seed = 1; seed <= 5000 && !HasFailure(); ++seed) {
    const RandomTiles tiles(buffer, seed);
    const std::vector<std::string> broken = tensor_map_model::broken_rules(tiles.arguments, capability);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + text(tiles.arguments) +
                 "\nbroken: " + ::testing::PrintToString(broken));
    if (broken.empty()) {
      EXPECT_NO_THROW(tiles.view->as_tensor_map(tiles.options));
      ++described;
    } else {
      EXPECT_NE(refusal(*tiles.view, tiles.options), "");
      ++refused;
    }
  }
  EXPECT_GT(described, 300);
  EXPECT_GT(refused, 300);
}

TEST_F(TensorMapTest, KeepsTheMemoryOfAClosedBuffer) {
  Buffer buffer = device.allocate(256, stream);
  const DevicePointer address = buffer.handle();
  std::optional<TensorMapDescriptor> map =
      StridedMemoryView::from_buffer<float>(buffer, {64}).as_tensor_map({.box_dim = {16}});
  buffer.close();
  EXPECT_EQ(map->view().ptr(), address);
  EXPECT_EQ(live_objects().buffers, 1u);
  const TensorMapDescriptor copy = *map;
  map.reset();
  EXPECT_EQ(live_objects().buffers, 1u);
  EXPECT_EQ(copy.view().ptr(), address);
}

TEST_F(TensorMapTest, MovesToOtherMemory) {
  const StridedMemoryView second = matrix();
  const TensorMapDescriptor expected = second.as_tensor_map({.box_dim = {32, 32}});
  TensorMapDescriptor map = matrix().as_tensor_map({.box_dim = {32, 32}});
  const TensorMapDescriptor before = map;
  EXPECT_NE(map, expected);
  map.replace_address(second);
  EXPECT_EQ(map, expected);
  EXPECT_EQ(map.view().ptr(), second.ptr());
  EXPECT_NE(map, before) << "a copy has bytes of its own";
  EXPECT_EQ(live_objects().buffers, 2u);
}

TEST_F(TensorMapTest, StaysWhereItIsWhenItCantMove) {
  TensorMapDescriptor map = matrix().as_tensor_map({.box_dim = {32, 32}});
  const TensorMapDescriptor before = map;
  std::vector<float> host(64);
  EXPECT_THAT(error_of<InvalidArgument>([&] { map.replace_address(StridedMemoryView::from_span(std::span(host))); }),
              AllOf(HasSubstr("replacing the address of TensorMapDescriptor(tiled"), HasSubstr("device-accessible")));
  EXPECT_THAT(error_of<InvalidArgument>([&] { map.replace_address(view_of<float>({64})[Slice{.start = 2}]); }),
              HasSubstr("its address must be a multiple of 16 bytes"));
  EXPECT_EQ(map, before);
  EXPECT_EQ(map.view().ptr(), before.view().ptr());
}

TEST_F(TensorMapTest, TakesPinnedMemory) {
  const Buffer pinned = LegacyPinnedMemoryResource().allocate(256, stream);
  const auto view = StridedMemoryView::from_buffer<float>(pinned, {64});
  TensorMapDescriptor map = view.as_tensor_map({.box_dim = {16}});
  EXPECT_EQ(map.device(), device);
  map.replace_address(view_of<float>({64}));
  map.replace_address(view);
}

TEST_F(TensorMapTest, SaysWhatTheDriverSays) {
  FailingApi failing;
  const StridedMemoryView view = matrix();
  EXPECT_GE(failing.fail_each_call([&] {
    TensorMapDescriptor map = view.as_tensor_map({.box_dim = {32, 32}});
    map.replace_address(view);
  }),
            2);
}

TEST_F(TensorMapLaunchTest, ReachesTheKernel) {
  const TensorMapDescriptor map = matrix().as_tensor_map({.box_dim = {32, 32}});
  launch(stream, config, copy_map, map, out);
  EXPECT_EQ(result(), words(map));
}

TEST_F(TensorMapLaunchTest, ReachesATypedKernel) {
  const TypedKernel<void(OpaqueTensorMap, std::uint64_t*)> typed(copy_map);
  const TensorMapDescriptor map = matrix().as_tensor_map({.box_dim = {32, 32}});
  launch(stream, config, typed, map, out);
  EXPECT_EQ(result(), words(map));
  const OpaqueTensorMap none;
  launch(stream, config, typed, none, out);
  EXPECT_EQ(result(), std::vector<std::uint64_t>(16));
}

TEST_F(TensorMapLaunchTest, IsComparedWithWhatTheKernelDeclares) {
  const Kernel scale = compile(scale_source, "scale");
  const TensorMapDescriptor map = matrix().as_tensor_map({.box_dim = {32, 32}});
  EXPECT_THAT(error_of<WrongType>([&] { launch(stream, config, scale, map, 1.0f, std::size_t{1}); }),
              HasSubstr("argument 1 of 3 has 128 bytes"));
}

TEST_F(TensorMapLaunchTest, IsKeptByAPreparedLaunch) {
  TensorMapDescriptor map = matrix().as_tensor_map({.box_dim = {32, 32}});
  const std::vector<std::uint64_t> first = words(map);
  PreparedLaunch step = prepare(stream, config, copy_map, map, out);
  map.replace_address(matrix());
  EXPECT_EQ(live_objects().buffers, 3u) << "out, the first matrix, which the launch keeps, and the second";
  step();
  EXPECT_EQ(result(), first);
  step.set<0>(map);
  EXPECT_EQ(live_objects().buffers, 2u);
  step();
  EXPECT_EQ(result(), words(map));
}

TEST_F(TensorMapLaunchTest, IsKeptByAGraph) {
  std::optional<TensorMapDescriptor> map = matrix().as_tensor_map({.box_dim = {32, 32}});
  const std::vector<std::uint64_t> first = words(*map);
  graph::GraphDefinition definition;
  graph::KernelNode node = definition.launch(config, copy_map, *map, out);
  map.reset();
  EXPECT_EQ(live_objects().buffers, 2u);
  graph::Graph graph = definition.instantiate();
  graph.launch(stream);
  EXPECT_EQ(result(), first);
  map = matrix().as_tensor_map({.box_dim = {16, 16}});
  node.update_arguments(*map, out);
  graph = definition.instantiate();
  graph.launch(stream);
  EXPECT_EQ(result(), words(*map));
}

TEST_F(TensorMapLaunchTest, IsKeptByACapturedLaunch) {
  std::optional<TensorMapDescriptor> map = matrix().as_tensor_map({.box_dim = {32, 32}});
  const std::vector<std::uint64_t> expected = words(*map);
  const graph::GraphBuilder builder = stream.create_graph_builder();
  builder.begin_building();
  launch(builder, config, copy_map, *map, out);
  map.reset();
  const graph::Graph graph = builder.end_building().complete();
  EXPECT_EQ(live_objects().buffers, 2u);
  graph.launch(stream);
  EXPECT_EQ(result(), expected);
}

class TensorMapOfOlderDeviceTest : public ApiTest {};

TEST_F(TensorMapOfOlderDeviceTest, DISABLED_IsNotSupported) {
  const Stream stream = device.create_stream();
  const auto view = StridedMemoryView::from_buffer<float>(device.allocate(256, stream), {64});
  EXPECT_THAT(error_of<NotSupported>([&] { view.as_tensor_map({.box_dim = {16}}); }),
              AllOf(HasSubstr("has compute capability 8.0"), HasSubstr("tensor maps need 9.0 or higher")));
}
TEST_F(TensorMapOfOlderDeviceTest, IsNotSupported) {
  if (driver::info().kind != driver::Choice::softgpu) GTEST_SKIP() << "a GPU can't be told its compute capability";
  EXPECT_EQ(own_process::run("TensorMapOfOlderDeviceTest.DISABLED_IsNotSupported", {"SOFTGPU_COMPUTE_CAPABILITY=8.0"}),
            0);
}

class TensorMapMultiDeviceTest : public TensorMapTest {
 protected:
  void SetUp() override {
    if (Device::count() < 2) GTEST_SKIP() << "needs two devices";
    TensorMapTest::SetUp();
  }
  ~TensorMapMultiDeviceTest() override { device.set_current(); }
};

TEST_F(TensorMapMultiDeviceTest, IsOfMemoryOfTheCurrentDevice) {
  const Device other(1);
  const StridedMemoryView first = matrix();
  TensorMapDescriptor map = first.as_tensor_map({.box_dim = {32, 32}});
  other.set_current();
  const Stream others_stream = other.create_stream();
  const auto others = StridedMemoryView::from_buffer<float>(other.allocate(1024, others_stream), {256});
  EXPECT_THAT(refusal(first, {.box_dim = {32, 32}}),
              HasSubstr("a tensor on device 1 is expected, and this is on device 0"));
  EXPECT_EQ(others.as_tensor_map({.box_dim = {64}}).device(), other);
  EXPECT_THAT(error_of<InvalidArgument>([&] { map.replace_address(others); }),
              HasSubstr("a tensor on device 0 is expected, and this is on device 1"));
  map.replace_address(first);  // whatever is current
  EXPECT_EQ(map.device(), device);
}

}  // namespace
}  // namespace cuprum::tests
