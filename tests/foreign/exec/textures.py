"""NVIDIA's cuda.core fills an array and samples it through a texture, at the centres of texels and between them."""

import numpy as np
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions, launch
from cuda.core.texture import OpaqueArrayOptions, ResourceDescriptor, TextureObjectOptions
from cuda.core.typing import AddressModeType, ArrayFormatType, FilterModeType, ReadModeType

CODE = """
extern "C" __global__ void sample(cudaTextureObject_t texture, const float2* places, float* out, int n) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < n) out[i] = tex2D<float>(texture, places[i].x, places[i].y);
}
"""
WIDTH, HEIGHT = 16, 8


def sampled(texels, x, y):
    """Bilinear between the four nearest texels, those at the edge repeated."""
    column, row = np.floor(x - 0.5), np.floor(y - 0.5)
    right, down = x - 0.5 - column, y - 0.5 - row

    def texel(c, r):
        return texels[np.clip(r, 0, HEIGHT - 1).astype(int), np.clip(c, 0, WIDTH - 1).astype(int)]

    return ((1 - down) * ((1 - right) * texel(column, row) + right * texel(column + 1, row))
            + down * ((1 - right) * texel(column, row + 1) + right * texel(column + 1, row + 1)))


def main():
    device = Device()
    device.set_current()
    stream = device.create_stream()
    program = Program(CODE, code_type="c++", options=ProgramOptions(std="c++17", arch=f"sm_{device.arch}"))
    kernel = program.compile("cubin", name_expressions=("sample",)).get_kernel("sample")

    texels = (np.arange(WIDTH) + 100 * np.arange(HEIGHT)[:, np.newaxis]).astype(np.float32)
    # Every half of a texel, and two texels beyond the edges: all exact in the 8 bits that hardware weighs with.
    y, x = (grid.ravel() for grid in np.mgrid[-2:HEIGHT + 2:0.5, -2:WIDTH + 2:0.5])
    count = x.size
    resource = LegacyPinnedMemoryResource()
    places, out = resource.allocate(count * 8, stream=stream), resource.allocate(count * 4, stream=stream)
    np.from_dlpack(places).view(np.float32)[:] = np.stack((x, y), axis=1).ravel()

    array_options = OpaqueArrayOptions(shape=(WIDTH, HEIGHT), format=ArrayFormatType.FLOAT32, num_channels=1)
    texture_options = TextureObjectOptions(address_mode=AddressModeType.CLAMP, filter_mode=FilterModeType.LINEAR,
                                           read_mode=ReadModeType.ELEMENT_TYPE, normalized_coords=False)
    with device.create_opaque_array(array_options) as array:
        array.copy_from(texels, stream=stream)
        with device.create_texture_object(resource=ResourceDescriptor.from_opaque_array(array), options=texture_options) as texture:
            launch(stream, LaunchConfig(grid=(count + 63) // 64, block=64), kernel, np.uint64(texture.handle), places, out,
                   np.int32(count))
            stream.sync()
    np.testing.assert_array_equal(np.from_dlpack(out).view(np.float32), sampled(texels, x, y).astype(np.float32))
    stream.close()
    print(f"{count} samples: right")


if __name__ == "__main__":
    main()
