// All that programs use a device by. Not in it: the raw driver API (<cuprum/driver.hpp>), which needs NVIDIA's headers;
// the raw compiler libraries and NVML (<cuprum/nvrtc.hpp> and its like); looking at the devices of the machine
// (<cuprum/system.hpp>); and checkpoints of processes (<cuprum/checkpoint.hpp>).
//
//   #include <cuprum/cuprum.hpp>
//   using namespace cuprum;
//
//   int main() {
//     Device device;
//     Stream stream = device.create_stream();
//     Kernel fill = Program(R"(extern "C" __global__ void fill(int* out) { out[threadIdx.x] = threadIdx.x; })")
//                       .compile(Target::cubin)
//                       .get_kernel("fill");
//     Buffer out = PinnedMemoryResource().allocate(4 * sizeof(int), stream);
//     launch(stream, {.grid = 1, .block = 4}, fill, out);
//     stream.sync();
//     for (int value : out.as_span<int>()) std::cout << value << '\n';
//   }
#pragma once

#include <cuprum/buffer.hpp>
#include <cuprum/context.hpp>
#include <cuprum/copy_options.hpp>
#include <cuprum/data_type.hpp>
#include <cuprum/device.hpp>
#include <cuprum/device_memory_resource.hpp>
#include <cuprum/device_resources.hpp>
#include <cuprum/diagnostics.hpp>
#include <cuprum/dlpack.hpp>
#include <cuprum/driver_choice.hpp>
#include <cuprum/error.hpp>
#include <cuprum/event.hpp>
#include <cuprum/graph.hpp>
#include <cuprum/graph_memory_resource.hpp>
#include <cuprum/graphics_resource.hpp>
#include <cuprum/host.hpp>
#include <cuprum/ipc.hpp>
#include <cuprum/ipc_channel.hpp>
#include <cuprum/kernel.hpp>
#include <cuprum/launch.hpp>
#include <cuprum/launch_config.hpp>
#include <cuprum/legacy_pinned_memory_resource.hpp>
#include <cuprum/linker.hpp>
#include <cuprum/location.hpp>
#include <cuprum/managed_buffer.hpp>
#include <cuprum/managed_memory_resource.hpp>
#include <cuprum/memory_batches.hpp>
#include <cuprum/memory_pool.hpp>
#include <cuprum/memory_resource.hpp>
#include <cuprum/object_code.hpp>
#include <cuprum/opaque_tensor_map.hpp>
#include <cuprum/pathfinder.hpp>
#include <cuprum/pinned_memory_resource.hpp>
#include <cuprum/prepared_launch.hpp>
#include <cuprum/program.hpp>
#include <cuprum/program_cache.hpp>
#include <cuprum/scoped_current.hpp>
#include <cuprum/stream.hpp>
#include <cuprum/strided_layout.hpp>
#include <cuprum/strided_memory_view.hpp>
#include <cuprum/tensor_map.hpp>
#include <cuprum/texture.hpp>
#include <cuprum/typed_kernel.hpp>
#include <cuprum/untyped_prepared_launch.hpp>
#include <cuprum/uuid.hpp>
#include <cuprum/version.hpp>
#include <cuprum/virtual_memory_resource.hpp>
