// Random textures and surfaces, compared with a plain model.
#include <random>

#include "api/texture/model.hpp"

namespace cuprum::tests {
namespace {

constexpr const char* sampling_source = R"(
#define SAMPLE(name, type)                                                                                  \
  extern "C" __global__ void name(cudaTextureObject_t image, int axes, const float3* at, type* out, int n) { \
    const int i = blockIdx.x * blockDim.x + threadIdx.x;                                                     \
    if (i >= n) return;                                                                                      \
    if (axes == 1) out[i] = tex1D<type>(image, at[i].x);                                                     \
    if (axes == 2) out[i] = tex2D<type>(image, at[i].x, at[i].y);                                            \
    if (axes == 3) out[i] = tex3D<type>(image, at[i].x, at[i].y, at[i].z);                                   \
  }
SAMPLE(as_floats, float4)
SAMPLE(as_signed, int4)
SAMPLE(as_unsigned, uint4)
extern "C" __global__ void with_levels(cudaTextureObject_t image, const float3* at, float4* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex2DLod<float4>(image, at[i].x, at[i].y, at[i].z);
}
)";

constexpr const char* surface_source = R"(
extern "C" __global__ void move(cudaSurfaceObject_t from, cudaSurfaceObject_t to, const int4* at, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const uint2 read = surf3Dread<uint2>(from, at[i].x * 8, at[i].y, at[i].z, cudaBoundaryModeClamp);
  surf3Dwrite(read, to, i * 8, 0, 0, cudaBoundaryModeZero);
}
)";

bool is_integer(ArrayFormatType format) {
  return format != ArrayFormatType::float16 && format != ArrayFormatType::float32;
}

bool is_signed(ArrayFormatType format) { return format == ArrayFormatType::int8 || format == ArrayFormatType::int16; }

class RandomTextureTest : public TextureTest {
 protected:
  /// What one seed stands for.
  struct Case {
    OpaqueArray array;
    ModelImage model;
    TextureObjectOptions options;
    bool reads_floats;
  };

  unsigned below(unsigned limit) { return static_cast<unsigned>(random() % limit); }
  double between(double least, double most) { return std::uniform_real_distribution<>(least, most)(random); }

  /// Bytes of texels in which floats are between -1 and 1.
  std::vector<std::byte> random_texels(ArrayFormatType format, std::size_t bytes) {
    std::vector<std::byte> texels(bytes);
    for (std::byte& byte : texels) byte = static_cast<std::byte>(random());
    for (std::size_t i = 0; format == ArrayFormatType::float32 && i + 4 <= bytes; i += 4) {
      const auto value = static_cast<float>(between(-1, 1));
      std::memcpy(&texels[i], &value, 4);
    }
    for (std::size_t i = 0; format == ArrayFormatType::float16 && i + 2 <= bytes; i += 2)
      texels[i + 1] = texels[i + 1] & std::byte{0xbb};  // the highest bit of the exponent: less than 2
    return texels;
  }

  ModelImage fill(const OpaqueArray& array, bool is_normalized) {
    const ArrayFormatType format = array.format();
    const std::vector<std::byte> texels = random_texels(format, array.size_bytes());
    array.copy_from(texels, stream);
    stream.sync();
    ModelImage model{array.shape(), array.num_channels(), {}};
    const std::size_t step = array.element_bytes() / static_cast<std::size_t>(array.num_channels());
    for (std::size_t i = 0; i < texels.size(); i += step)
      model.values.push_back(channel_value(&texels[i], format, is_normalized));
    return model;
  }

  AddressModeType random_mode(bool may_have_border) {
    return static_cast<AddressModeType>(below(may_have_border ? 4 : 3));
  }

  Case random_case() {
    std::vector<std::size_t> shape(1 + below(3));
    for (std::size_t& extent : shape) extent = 1 + below(shape.size() == 3 ? 9 : 33);
    const auto format = static_cast<ArrayFormatType>(below(8));
    OpaqueArray image = array(shape, format, 1 << below(3));
    TextureObjectOptions options;
    const bool is_small = image.element_bytes() / static_cast<std::size_t>(image.num_channels()) < 4;
    if (is_integer(format) && is_small && below(2) != 0) options.read_mode = ReadModeType::normalized_float;
    const bool reads_floats = !is_integer(format) || options.read_mode == ReadModeType::normalized_float;
    if (reads_floats && below(2) != 0) options.filter_mode = FilterModeType::linear;
    options.normalized_coords = below(2) != 0;
    // GPUs blend a line with its border in a way of their own.
    const bool may_have_border = reads_floats && (shape.size() > 1 || options.filter_mode == FilterModeType::point);
    options.address_mode = {random_mode(may_have_border), random_mode(may_have_border), random_mode(may_have_border)};
    const bool may_be_negative = options.read_mode != ReadModeType::normalized_float || is_signed(format);
    options.border_color = {0.25f, 0.5f, may_be_negative ? -0.75f : 0.75f, 1.0f};
    ModelImage model = fill(image, options.read_mode == ReadModeType::normalized_float);
    return {std::move(image), std::move(model), options, reads_floats};
  }

  /// Where a texel ends, rounding decides which is the nearest: not there.
  double random_coordinate(const Case& of, std::size_t axis) {
    const ModelTexture model(of.model, of.options);
    const double scale = of.options.normalized_coords ? 1 : static_cast<double>(of.model.extent(axis));
    while (true) {
      const auto coordinate = static_cast<double>(static_cast<float>(between(-1.6, 2.6) * scale));
      const double texels = model.in_texels(coordinate, axis);
      if (std::abs(texels - std::round(texels)) > 0.01) return coordinate;
    }
  }

  std::vector<std::array<float, 3>> random_places(const Case& of, std::size_t count) {
    std::vector<std::array<float, 3>> places(count);
    for (auto& place : places)
      for (std::size_t axis = 0; axis < 3; ++axis) place[axis] = static_cast<float>(random_coordinate(of, axis));
    return places;
  }

  template <typename T>
  std::vector<std::array<T, 4>> run(const Kernel& kernel, const Case& of,
                                    const std::vector<std::array<float, 3>>& places) {
    const Buffer at = upload(places, stream), out = device.allocate<std::array<T, 4>>(places.size(), stream);
    launch(stream, {.grid = ceil_div(places.size(), std::size_t{64}), .block = 64}, kernel,
           texture(of.array, of.options), static_cast<int>(of.model.shape.size()), at, out,
           static_cast<int>(places.size()));
    return download<std::array<T, 4>>(out, stream);
  }

  /// Weights have 8 bits after the point; values are between -2 and 2, and what blends 8 bits is no more exact.
  double tolerance(const Case& of) const {
    if (of.options.filter_mode == FilterModeType::point) return 1e-5 + border_tolerance(of);
    return static_cast<double>(of.model.shape.size()) * 4.0 / 256 + 2.0 / 255;
  }
  /// GPUs have the border's colour in the texels' format: an H200 reads 0.5 as 16383 / 32767 from an array of int16.
  static double border_tolerance(const Case& of) {
    const auto& modes = of.options.address_mode;
    constexpr AddressModeType border = AddressModeType::border;
    const bool has_border = modes[0] == border || modes[1] == border || modes[2] == border;
    if (!has_border || of.options.read_mode != ReadModeType::normalized_float) return 0;
    const bool is_byte = of.array.element_bytes() == static_cast<std::size_t>(of.array.num_channels());
    if (is_signed(of.array.format())) return is_byte ? 1.0 / 127 : 1.0 / 32767;
    return is_byte ? 1.0 / 255 : 1.0 / 65535;
  }

  template <typename T>
  void compare(const Kernel& kernel, const Case& of) {
    constexpr std::size_t count = 128;
    const auto places = random_places(of, count);
    const auto results = run<T>(kernel, of, places);
    const ModelTexture model(of.model, of.options);
    for (std::size_t i = 0; i < count && !HasFailure(); ++i) {
      const std::array<double, 3> at = {static_cast<double>(places[i][0]), static_cast<double>(places[i][1]),
                                        static_cast<double>(places[i][2])};
      for (int channel = 0; channel < of.model.num_channels; ++channel) {
        EXPECT_NEAR(static_cast<double>(results[i][static_cast<std::size_t>(channel)]), model.sample(at, channel),
                    tolerance(of))
            << of.array << ", at " << at[0] << ", " << at[1] << ", " << at[2] << ", channel " << channel << ", filter "
            << of.options.filter_mode << ", modes " << of.options.address_mode[0] << ", " << of.options.address_mode[1]
            << ", " << of.options.address_mode[2] << ", normalized " << of.options.normalized_coords;
      }
    }
  }

  std::mt19937 random;
};

TEST_F(RandomTextureTest, AreReadAsTheModelSays) {
  const ObjectCode code = Program(sampling_source).compile(Target::cubin);
  for (unsigned seed = 1; seed <= 300 && !HasFailure(); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    random.seed(seed);
    const Case of = random_case();
    const ArrayFormatType format = of.array.format();
    if (of.reads_floats)
      compare<float>(code.get_kernel("as_floats"), of);
    else if (format == ArrayFormatType::int8 || format == ArrayFormatType::int16 || format == ArrayFormatType::int32)
      compare<std::int32_t>(code.get_kernel("as_signed"), of);
    else
      compare<std::uint32_t>(code.get_kernel("as_unsigned"), of);
  }
}

TEST_F(RandomTextureTest, LevelsAreBlendedAsTheModelSays) {
  const Kernel with_levels = Program(sampling_source).compile(Target::cubin).get_kernel("with_levels");
  for (unsigned seed = 1; seed <= 40 && !HasFailure(); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    random.seed(seed);
    const std::vector<std::size_t> shape = {8 + below(40), 8 + below(40)};
    const int num_levels = 2 + static_cast<int>(below(3));
    const MipmappedArray levels = device.create_mipmapped_array({.shape = shape, .num_levels = num_levels});
    const auto bias = static_cast<float>(between(-0.5, 0.5));
    const auto least = static_cast<float>(between(0, 0.6)), most = static_cast<float>(between(0.9, num_levels));
    const TextureObjectOptions options{.address_mode = random_mode(false),
                                       .filter_mode = FilterModeType::linear,
                                       .normalized_coords = true,
                                       .mipmap_filter_mode = FilterModeType::linear,
                                       .mipmap_level_bias = bias,
                                       .min_mipmap_level_clamp = least,
                                       .max_mipmap_level_clamp = most};
    std::vector<ModelImage> images;
    for (int level = 0; level < num_levels; ++level) images.push_back(fill(levels.get_level(level), false));
    constexpr std::size_t count = 64;
    std::vector<std::array<float, 3>> places(count);
    for (auto& place : places)
      place = {static_cast<float>(between(-1, 2)), static_cast<float>(between(-1, 2)),
               static_cast<float>(between(-1, num_levels + 1))};
    const Buffer at = upload(places, stream), out = device.allocate<std::array<float, 4>>(count, stream);
    launch(stream, {.grid = 1, .block = count}, with_levels,
           device.create_texture_object(ResourceDescriptor::from_mipmapped_array(levels), options), at, out,
           static_cast<int>(count));
    const auto results = download<std::array<float, 4>>(out, stream);
    for (std::size_t i = 0; i < count && !HasFailure(); ++i) {
      const double wanted =
          std::clamp(static_cast<double>(places[i][2] + bias), static_cast<double>(least), static_cast<double>(most));
      const double level = std::clamp(wanted, 0.0, num_levels - 1.0);
      const auto lower = static_cast<std::size_t>(level);
      const std::size_t upper = std::min(lower + 1, images.size() - 1);
      const double share = level - static_cast<double>(lower);
      const std::array<double, 3> where = {static_cast<double>(places[i][0]), static_cast<double>(places[i][1]), 0};
      const double expected = (1 - share) * ModelTexture(images[lower], options).sample(where, 0) +
                              share * ModelTexture(images[upper], options).sample(where, 0);
      EXPECT_NEAR(static_cast<double>(results[i][0]), expected, 3 * 2.0 / 256 + 0.01)
          << "at " << where[0] << ", " << where[1] << ", level " << level;
    }
  }
}

TEST_F(RandomTextureTest, SurfacesAreReadAndWrittenAsTheModelSays) {
  const Kernel move = compile(surface_source, "move");
  for (unsigned seed = 1; seed <= 30 && !HasFailure(); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    random.seed(seed);
    const std::vector<std::size_t> shape = {1 + below(9), 1 + below(9), 1 + below(9)};
    constexpr std::size_t count = 32;
    const OpaqueArray from = array(shape, ArrayFormatType::uint32, 2, true);
    const OpaqueArray to =
        array({count / 2, 1, 1}, ArrayFormatType::uint16, 4, true);  // half of the writes are outside
    std::vector<std::uint64_t> texels(from.size_bytes() / 8);
    for (std::uint64_t& texel : texels) texel = std::uint64_t{random()} << 32 | random();
    from.copy_from(texels, stream);
    std::vector<std::array<int, 4>> places(count);
    for (auto& place : places)
      for (std::size_t axis = 0; axis < 3; ++axis) place[axis] = static_cast<int>(below(15)) - 3;
    const Buffer at = upload(places, stream);
    launch(stream, {.grid = 1, .block = count}, move, surface(from), surface(to), at, static_cast<int>(count));
    const std::vector<std::uint64_t> moved = contents<std::uint64_t>(to);
    for (std::size_t i = 0; i < count / 2; ++i) {
      std::array<std::size_t, 3> index{};
      for (std::size_t axis = 0; axis < 3; ++axis)
        index[axis] = static_cast<std::size_t>(std::clamp(places[i][axis], 0, static_cast<int>(shape[axis]) - 1));
      EXPECT_EQ(moved[i], texels[(index[2] * shape[1] + index[1]) * shape[0] + index[0]]) << "place " << i;
    }
  }
}

}  // namespace
}  // namespace cuprum::tests
