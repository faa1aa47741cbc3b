"""Textures and surfaces: an image is made four times as large and turned a little. A texture reads it between its pixels and
beyond its edges, a surface writes the result.
"""

import ctypes
import sys

from cuprum import Device, LaunchConfig, Program, launch
from cuprum.texture import OpaqueArrayOptions, ResourceDescriptor, TextureObjectOptions

failures = 0


def check(is_right, what):
    global failures
    print("  ok:" if is_right else "  WRONG:", what)
    failures += not is_right


# Coordinates of the texture go from 0 to 1, whatever the size of the image; surf2Dwrite counts bytes.
source = r"""
extern "C" __global__ void turn(cudaTextureObject_t image, cudaSurfaceObject_t result, int size, float angle) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= size || y >= size) return;
  const float u = (x + 0.5f) / size - 0.5f, v = (y + 0.5f) / size - 0.5f;
  const float4 color = tex2D<float4>(image, u * cosf(angle) - v * sinf(angle) + 0.5f,
                                     u * sinf(angle) + v * cosf(angle) + 0.5f);
  surf2Dwrite(make_uchar4(color.x * 255 + 0.5f, color.y * 255 + 0.5f, color.z * 255 + 0.5f, color.w * 255 + 0.5f),
              result, x * sizeof(uchar4), y);
}
"""

device = Device()
device.set_current()
stream = device.create_stream()
small, large = 64, 256

# Red grows to the right, green grows downwards.
gradient = bytes(channel for y in range(small) for x in range(small) for channel in (4 * x, 4 * y, 0, 255))
image = device.create_opaque_array(OpaqueArrayOptions(shape=(small, small), format="uint8", num_channels=4))
image.copy_from(gradient, stream=stream)
result = device.create_opaque_array(
    OpaqueArrayOptions(shape=(large, large), format="uint8", num_channels=4, is_surface_load_store=True)
)
print("from", image)
print("to", result)

# Integers are read as floats from 0 to 1, or they could not be blended; beyond the edges it is green.
smooth = device.create_texture_object(
    resource=ResourceDescriptor.from_opaque_array(image),
    options=TextureObjectOptions(
        address_mode="border",
        filter_mode="linear",
        read_mode="normalized_float",
        normalized_coords=True,
        border_color=(0, 1, 0, 1),
    ),
)
canvas = device.create_surface_object(resource=ResourceDescriptor.from_opaque_array(result))
turn = Program(source, "c++").compile("cubin").get_kernel("turn")
config = LaunchConfig(grid=(large // 16, large // 16), block=(16, 16))


def drawn(angle):
    launch(stream, config, turn, smooth, canvas, large, ctypes.c_float(angle))
    pixels = result.copy_to(bytearray(result.size_bytes), stream=stream)
    stream.sync()
    return lambda x, y: pixels[4 * (y * large + x) : 4 * (y * large + x) + 4]


at = drawn(0)
places = [4 * ((x + 0.5) / 4 - 0.5) for x in range(large)]  # of the pixels among those of the image
check(all(abs(at(x, 128)[0] - places[x]) <= 2 for x in range(8, large - 8)), "the pixels in between are blended")

at = drawn(0.5)
check(at(0, 0)[1] == 255 and at(0, 0)[0] == 0, "a corner of the turned image is beyond the edge")
check(abs(at(128, 128)[0] - 126) <= 2, "its centre stays where it was")

try:
    device.create_texture_object(
        resource=ResourceDescriptor.from_opaque_array(image), options=TextureObjectOptions(filter_mode="linear")
    )
except ValueError as error:
    print("what can't be filtered is refused:", error)

sys.exit(1 if failures else 0)
