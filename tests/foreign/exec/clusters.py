"""NVIDIA's cuda.core launches clusters of blocks, whose blocks know each other and read each other's shared memory."""

import os

import numpy as np
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions, launch
from cuda.pathfinder import get_cuda_path_or_home

CODE = r"""
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" __global__ void tell(unsigned* dimensions, unsigned* neighbours) {
    __shared__ unsigned own;
    auto grid = cg::this_grid();
    auto cluster = cg::this_cluster();
    if (threadIdx.x == 0) own = blockIdx.x * 10;
    cluster.sync();
    if (threadIdx.x == 0) {
        unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
        neighbours[blockIdx.x] = *cluster.map_shared_rank(&own, next);
    }
    cluster.sync();
    if (grid.thread_rank() == 0) {
        dimensions[0] = grid.dim_blocks().x;
        dimensions[1] = grid.dim_clusters().x;
        dimensions[2] = cg::this_thread_block().dim_threads().x;
    }
}
"""
CLUSTERS, BLOCKS, THREADS = 4, 2, 32


def main():
    device = Device()
    device.set_current()
    headers = os.path.join(get_cuda_path_or_home(), "include")
    options = ProgramOptions(std="c++17", arch=f"sm_{device.arch}", include_path=[headers, os.path.join(headers, "cccl")])
    kernel = Program(CODE, code_type="c++", options=options).compile("cubin").get_kernel("tell")
    count = CLUSTERS * BLOCKS
    resource = LegacyPinnedMemoryResource()
    stream = device.default_stream
    dimensions, neighbours = resource.allocate(3 * 4, stream=stream), resource.allocate(count * 4, stream=stream)
    # The grid is counted in clusters.
    launch(stream, LaunchConfig(grid=CLUSTERS, cluster=BLOCKS, block=THREADS), kernel, dimensions, neighbours)
    stream.sync()
    np.testing.assert_array_equal(np.from_dlpack(dimensions).view(np.uint32), (count, CLUSTERS, THREADS))
    np.testing.assert_array_equal(np.from_dlpack(neighbours).view(np.uint32), (np.arange(count) ^ 1) * 10)
    print(f"{CLUSTERS} clusters of {BLOCKS} blocks: right")


if __name__ == "__main__":
    main()
