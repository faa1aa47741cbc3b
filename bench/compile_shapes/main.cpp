// How the time that softgpu takes to compile a kernel grows with the kernel's length, for many shapes of code.
//
//   build/release/bin/bench_compile_shapes [INSTRUCTIONS [SHAPE]...]
//
// Prints the processor time from PTX to the end of the first launch for a quarter and a half of INSTRUCTIONS
// instructions of PTX (10,000) and for all of them, and the exponent e if time grows as instructions^e: 1 is
// proportional. SHAPE is part of the name of a shape; without one all are measured.
#include <stdlib.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cuprum/cuprum.hpp>
#include <exception>

#include "bench/compile_shapes/shapes.hpp"

namespace bench {
namespace {

using namespace cuprum;

/// Of all threads of this process: what others do on the machine hardly changes it.
double processor_seconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double measure(Device& device, Stream& stream, const std::string& ptx) {
  constexpr std::size_t bytes = 65536;
  Buffer memory = device.allocate(bytes, stream);
  memory.fill<std::uint32_t>(5, stream);
  stream.sync();
  const double begin = processor_seconds();
  Kernel kernel = ObjectCode::from_ptx(ptx).get_kernel("k");
  launch(stream, {.grid = 1, .block = 64}, kernel, memory);
  stream.sync();
  return processor_seconds() - begin;
}

bool is_wanted(std::string_view name, int count, char** parts) {
  for (int i = 0; i < count; ++i)
    if (name.find(parts[i]) != std::string_view::npos) return true;
  return count == 0;
}

int run(unsigned instructions, int count, char** parts) {
  setenv("SOFTGPU_CACHE_SIZE", "0", 1);
  setenv("CUDA_CACHE_DISABLE", "1", 1);  // NVIDIA's driver
  Device device;
  device.set_current();
  Stream stream = device.create_stream();
  measure(device, stream, make_kernel(code_shapes().front(), 10));  // opens what is opened once

  std::printf("%-30s%9u%9u%9u  exponent\n", "instructions of PTX", instructions / 4, instructions / 2, instructions);
  for (const CodeShape& shape : code_shapes()) {
    if (!is_wanted(shape.name, count, parts)) continue;
    std::printf("%-30.*s", static_cast<int>(shape.name.size()), shape.name.data());
    double first = 0, last = 0;
    for (unsigned part : {4u, 2u, 1u}) {
      last = measure(device, stream, make_kernel(shape, instructions / part));
      if (part == 4) first = last;
      std::printf("%7.2f s", last);
      std::fflush(stdout);
    }
    std::printf("%10.2f\n", std::log(last / first) / std::log(4.0));
  }
  return 0;
}

}  // namespace
}  // namespace bench

int main(int count, char** arguments) try {
  const int instructions = count > 1 ? std::atoi(arguments[1]) : 10000;
  if (instructions < 100) {
    std::fprintf(stderr, "usage: %s [INSTRUCTIONS [SHAPE]...], where INSTRUCTIONS is at least 100\n", arguments[0]);
    return 2;
  }
  return bench::run(static_cast<unsigned>(instructions), std::max(0, count - 2), arguments + 2);
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
