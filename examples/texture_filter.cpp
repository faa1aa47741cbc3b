// Textures and surfaces: an image is made four times as large and turned a little. A texture reads it between its
// pixels and beyond its edges, a surface writes the result.
#include <cmath>
#include <cuprum/cuprum.hpp>
#include <vector>

#include "check.hpp"

using namespace cuprum;
using namespace cuprum::texture;

namespace {

// Coordinates of the texture go from 0 to 1, whatever the size of the image; surf2Dwrite counts bytes.
constexpr const char* source = R"(
extern "C" __global__ void turn(cudaTextureObject_t image, cudaSurfaceObject_t result, int size, float angle) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= size || y >= size) return;
  const float u = (x + 0.5f) / size - 0.5f, v = (y + 0.5f) / size - 0.5f;
  const float4 color = tex2D<float4>(image, u * cosf(angle) - v * sinf(angle) + 0.5f,
                                     u * sinf(angle) + v * cosf(angle) + 0.5f);
  surf2Dwrite(make_uchar4(color.x * 255 + 0.5f, color.y * 255 + 0.5f, color.z * 255 + 0.5f, color.w * 255 + 0.5f),
              result, x * sizeof(uchar4), y);
})";

struct Pixel {
  unsigned char red, green, blue, alpha;
};

// Red grows to the right, green grows downwards.
std::vector<Pixel> gradient(std::size_t size) {
  std::vector<Pixel> pixels;
  for (std::size_t y = 0; y < size; ++y)
    for (std::size_t x = 0; x < size; ++x)
      pixels.push_back({static_cast<unsigned char>(4 * x), static_cast<unsigned char>(4 * y), 0, 255});
  return pixels;
}

void example() {
  Device device;
  device.set_current();
  const Stream stream = device.create_stream();
  constexpr std::size_t small = 64, large = 256;

  const OpaqueArray image =
      device.create_opaque_array({.shape = {small, small}, .format = ArrayFormatType::uint8, .num_channels = 4});
  image.copy_from(gradient(small), stream);
  const OpaqueArray result = device.create_opaque_array(
      {.shape = {large, large}, .format = ArrayFormatType::uint8, .num_channels = 4, .is_surface_load_store = true});
  std::cout << "from " << image << "\nto " << result << '\n';

  // Integers are read as floats from 0 to 1, or they could not be blended; beyond the edges it is green.
  const TextureObject smooth = device.create_texture_object(ResourceDescriptor::from_opaque_array(image),
                                                            {.address_mode = AddressModeType::border,
                                                             .filter_mode = FilterModeType::linear,
                                                             .read_mode = ReadModeType::normalized_float,
                                                             .normalized_coords = true,
                                                             .border_color = {0, 1, 0, 1}});
  const SurfaceObject canvas = device.create_surface_object(ResourceDescriptor::from_opaque_array(result));
  const Kernel turn = Program(source).compile(Target::cubin).get_kernel("turn");
  const LaunchConfig config{.grid = {large / 16, large / 16}, .block = {16, 16}};

  std::vector<Pixel> pixels(large * large);
  const auto draw = [&](float angle) {
    launch(stream, config, turn, smooth, canvas, static_cast<int>(large), angle);
    result.copy_to(pixels, stream);
    stream.sync();
  };
  const auto at = [&](std::size_t x, std::size_t y) { return pixels[y * large + x]; };

  draw(0);
  bool is_smooth = true;
  for (std::size_t x = 8; x + 8 < large; ++x) {
    const double expected =
        4 * ((static_cast<double>(x) + 0.5) / 4 - 0.5);  // the pixel's place among those of the image
    is_smooth = is_smooth && std::abs(at(x, 128).red - expected) <= 2;
  }
  check(is_smooth, "the pixels in between are blended");

  draw(0.5f);
  check(at(0, 0).green == 255 && at(0, 0).red == 0, "a corner of the turned image is beyond the edge");
  check(std::abs(at(128, 128).red - 126) <= 2, "its centre stays where it was");

  try {
    device.create_texture_object(ResourceDescriptor::from_opaque_array(image), {.filter_mode = FilterModeType::linear});
  } catch (const InvalidArgument& error) {
    std::cout << "what can't be filtered is refused: " << error.what() << '\n';
  }
}

}  // namespace

int main() { return run(example); }
