// How long it takes from PTX to the end of the first launch: cold, and when an earlier process has left the compiled
// code in the driver's cache on disk.
//
//   build/release/bin/bench_first_launch
//
// Each measurement is made in a process of its own: this program starts itself with the PTX as argument.
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <cuprum/cuprum.hpp>
#include <exception>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "bench/support/timing.hpp"

namespace {

using namespace cuprum;
namespace fs = std::filesystem;

constexpr unsigned side = 64, tile = 16;
constexpr int rounds = 9;

const char* const source = R"(
extern "C" __global__ void multiply(const float* a, const float* b, float* c, unsigned n) {
  __shared__ float tile_a[16][16], tile_b[16][16];
  unsigned row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (unsigned k = 0; k < n; k += 16) {
    tile_a[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
    tile_b[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
    __syncthreads();
    for (unsigned j = 0; j < 16; ++j) sum += tile_a[threadIdx.y][j] * tile_b[j][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}
)";

std::string read(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

/// In the child: milliseconds from PTX to the end of the first launch.
double measure_here(const std::string& ptx) {
  Device device;
  device.set_current();
  Stream stream = device.create_stream();
  Buffer a = device.allocate(sizeof(float) * side * side, stream);
  Buffer b = device.allocate(a.size(), stream);
  Buffer c = device.allocate(a.size(), stream);
  a.fill<float>(1.0f, stream);
  b.fill<float>(2.0f, stream);
  stream.sync();
  return 1e3 * bench::seconds([&] {
           Kernel multiply = ObjectCode::from_ptx(ptx).get_kernel("multiply");
           launch(stream, {.grid = {side / tile, side / tile}, .block = {tile, tile}}, multiply, a, b, c, side);
           stream.sync();
         });
}

/// In the parent: what a child process measured.
double measure_in_child(const fs::path& ptx_file) {
  const std::string command = fs::read_symlink("/proc/self/exe").string() + " " + ptx_file.string();
  FILE* child = popen(command.c_str(), "r");
  double milliseconds = 0;
  const bool read_it = child && std::fscanf(child, "%lf", &milliseconds) == 1;
  if (!child || pclose(child) != 0 || !read_it) throw std::runtime_error("the child process failed: " + command);
  return milliseconds;
}

struct TemporaryFolder {
  fs::path path = fs::temp_directory_path() / ("bench_first_launch." + std::to_string(getpid()));
  TemporaryFolder() { fs::create_directory(path); }
  ~TemporaryFolder() { fs::remove_all(path); }
};

void compare() {
  TemporaryFolder folder;
  const fs::path ptx_file = folder.path / "multiply.ptx", cache = folder.path / "cache";
  setenv("SOFTGPU_CACHE_DIR", cache.c_str(), 1);
  setenv("CUDA_CACHE_PATH", cache.c_str(), 1);  // NVIDIA's driver

  Device device;
  device.set_current();
  std::ofstream(ptx_file) << Program(source).compile(Target::ptx).code();

  std::vector<double> cold, warm;
  for (int round = 0; round < rounds; ++round) {
    fs::remove_all(cache);
    fs::create_directory(cache);
    cold.push_back(measure_in_child(ptx_file));
    warm.push_back(measure_in_child(ptx_file));
  }
  const double cold_median = bench::median(cold), warm_median = bench::median(warm);
  std::printf("%s, median of %d rounds\n", device.name().c_str(), rounds);
  std::printf("%-34s %10s %10s %9s\n", "PTX to first launch done", "cold", "cached", "ratio");
  std::printf("%-34s %7.2f ms %7.2f ms %7.3f x\n", "tiled matrix product", cold_median, warm_median,
              warm_median / cold_median);
}

}  // namespace

int main(int count, char** arguments) try {
  if (count > 1)
    std::printf("%.6f\n", measure_here(read(arguments[1])));
  else
    compare();
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
