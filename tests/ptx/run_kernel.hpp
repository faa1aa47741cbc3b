// Kernels that are more than one statement: they work on one array.
#pragma once

#include <string>
#include <vector>

#include "conformance/driver.hpp"
#include "ptx/batch.hpp"

namespace ptx_test {

struct Shape {
  unsigned grid_x = 1, grid_y = 1, grid_z = 1;
  unsigned block_x = 32, block_y = 1, block_z = 1;
  unsigned dynamic_shared = 0;
  unsigned cluster_x = 0, cluster_y = 1, cluster_z = 1;  // in blocks; without x there are no clusters
};

inline CUresult launch_shaped(CUfunction kernel, const Shape& shape, void** parameters) {
  CUlaunchAttribute cluster{};
  cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  cluster.value.clusterDim = {shape.cluster_x, shape.cluster_y, shape.cluster_z};
  CUlaunchConfig config{};
  config.gridDimX = shape.grid_x, config.gridDimY = shape.grid_y, config.gridDimZ = shape.grid_z;
  config.blockDimX = shape.block_x, config.blockDimY = shape.block_y, config.blockDimZ = shape.block_z;
  config.sharedMemBytes = shape.dynamic_shared;
  config.attrs = &cluster;
  config.numAttrs = shape.cluster_x != 0 ? 1 : 0;
  return CU(cuLaunchKernelEx)(&config, kernel, parameters, nullptr);
}

// A module of one kernel `k` that gets the array's address in %data. `statements` may use the registers %r0 to %r31
// (.b32), %d0 to %d31 (.b64), %p0 to %p15 (.pred), %f0 to %f15 (.f32), %h0 to %h15 (.b16), and %t, %lane, %block as the
// thread's indices in its block, warp and grid.
inline std::string kernel_text(const std::string& statements, const std::string& module_scope = "") {
  return std::string(kHeader) + module_scope +
         "\n.visible .entry k(.param .u64 array)\n{\n"
         ".reg .b32 %r<32>, %t, %lane, %block; .reg .b64 %d<32>, %data; .reg .pred %p<16>; .reg .f32 %f<16>; .reg .f64 "
         "%e<16>; .reg .b16 %h<16>;\n"
         "ld.param.u64 %data, [array];\ncvta.to.global.u64 %data, %data;\n"
         "mov.u32 %t, %tid.x;\nmov.u32 %lane, %laneid;\nmov.u32 %block, %ctaid.x;\n" +
         statements + "\nret;\n}\n";
}

// %d31 becomes the address of the thread's own element of `size` bytes, over the whole one-dimensional grid.
inline std::string own_element(unsigned size = 4) {
  return "mov.u32 %r31, %ntid.x; mad.lo.u32 %r31, %block, %r31, %t; mul.wide.u32 %d31, %r31, " + std::to_string(size) +
         "; add.u64 %d31, %data, %d31;\n";
}
inline std::string store(const std::string& value) { return "st.global.b32 [%d31], " + value + ";\n"; }

// Runs `k` of the module and returns what the array is then.
template <typename T>
std::vector<T> run_kernel(const std::string& text, std::vector<T> array, Shape shape = {}) {
  conformance::TestModule module(text.c_str());
  CUfunction kernel = module.function("k");
  if (kernel == nullptr) {
    ADD_FAILURE() << text;
    return array;
  }
  const std::size_t bytes = array.size() * sizeof(T);
  conformance::DeviceMemory memory(bytes);
  CUdeviceptr pointer = memory.get();
  void* parameters[] = {&pointer};
  EXPECT_SUCCESS(CU(cuMemcpyHtoD)(pointer, array.data(), bytes));
  EXPECT_SUCCESS(launch_shaped(kernel, shape, parameters));
  EXPECT_SUCCESS(CU(cuMemcpyDtoH)(array.data(), pointer, bytes));
  return array;
}

// What each of `count` threads of one block stored.
inline std::vector<std::uint32_t> run_threads(const std::string& statements, unsigned count = 32,
                                              const std::string& module_scope = "") {
  return run_kernel(kernel_text(own_element() + statements, module_scope), std::vector<std::uint32_t>(count),
                    {.block_x = count});
}

template <typename Function>
std::vector<std::uint32_t> each_thread(unsigned count, Function value) {
  std::vector<std::uint32_t> values(count);
  for (unsigned i = 0; i < count; ++i) values[i] = static_cast<std::uint32_t>(value(i));
  return values;
}

}  // namespace ptx_test
