// The classic: a * x + y, in single and in double precision, from one template compiled at run time.
#include <cmath>
#include <cuprum/cuprum.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "check.hpp"

using namespace cuprum;

namespace {

const char* const source = R"(
template <typename T>
__global__ void saxpy(T a, const T* x, const T* y, T* out, size_t n) {
  const size_t stride = size_t(gridDim.x) * blockDim.x;
  for (size_t i = threadIdx.x + size_t(blockIdx.x) * blockDim.x; i < n; i += stride) out[i] = a * x[i] + y[i];
}
)";

// The grid just fills the device; where there are more elements than threads, each thread does several.
template <typename T>
bool is_right(const ObjectCode& code, const char* name, std::size_t n, const Device& device, const Stream& stream) {
  std::vector<T> x(n), y(n), out(n);
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = static_cast<T>(i) / static_cast<T>(n);
    y[i] = 1 - x[i];
  }
  const std::size_t bytes = n * sizeof(T);
  Buffer device_x = device.allocate(bytes, stream);
  Buffer device_y = device.allocate(bytes, stream);
  Buffer device_out = device.allocate(bytes, stream);
  device_x.copy_from(std::span(x), stream);
  device_y.copy_from(std::span(y), stream);

  const Kernel kernel = code.get_kernel(name);
  const MaxPotentialBlockSize best = kernel.occupancy(device).max_potential_block_size(0, 0);
  const T a = 10;
  launch(stream, {.grid = best.min_grid_size, .block = best.max_block_size}, kernel, a, device_x, device_y, device_out,
         n);
  device_out.copy_to(std::span(out), stream);
  stream.sync();

  const T tolerance = std::is_same_v<T, float> ? T(1e-5) : T(1e-14);
  for (std::size_t i = 0; i < n; ++i)
    if (std::abs(out[i] - (a * x[i] + y[i])) > tolerance) return false;
  return true;
}

void example() {
  Device device;
  device.set_current();
  Stream stream = device.create_stream();

  // The name expressions say which instances of the template there are to be, and find them again.
  const ObjectCode code = Program(source, {.name = "saxpy.cu", .std = "c++17"})
                              .compile(Target::cubin, {.name_expressions = {"saxpy<float>", "saxpy<double>"}});
  std::cout << "a * x + y on " << device.name() << '\n';
  check(is_right<float>(code, "saxpy<float>", 100'000, device, stream), "single precision");
  check(is_right<double>(code, "saxpy<double>", 100'000, device, stream), "double precision");
}

}  // namespace

int main() { return run(example); }
