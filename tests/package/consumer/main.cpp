// Compiles a kernel, runs it, and checks what it wrote: all that an installed package must be able to do.
#include <cstdio>
#include <cuprum/cuprum.hpp>

int main() {
  cuprum::Device device;
  device.set_current();
  cuprum::Stream stream = device.create_stream();

  cuprum::Program program(
      R"(extern "C" __global__ void square(int* out) { out[threadIdx.x] = threadIdx.x * threadIdx.x; })");
  cuprum::Kernel square = program.compile(cuprum::Target::cubin).get_kernel("square");

  constexpr int n = 100;
  cuprum::Buffer out = cuprum::PinnedMemoryResource().allocate(n * sizeof(int), stream);
  cuprum::launch(stream, {.grid = 1, .block = n}, square, out);
  stream.sync();

  for (int i = 0; i < n; ++i)
    if (out.as_span<int>()[i] != i * i) {
      std::printf("element %d is %d\n", i, out.as_span<int>()[i]);
      return 1;
    }
  std::printf("%d squares are right on %s\n", n, device.name().c_str());
}
