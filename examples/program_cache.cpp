// Compile once: a cache finds a program again that was compiled before, in this process or in another one.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cuprum/cuprum.hpp>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "check.hpp"

using namespace cuprum;

namespace {

const char* const source = R"(
template <typename T>
__global__ void fill(T* data, T value, size_t n) {
  size_t i = threadIdx.x + size_t(blockIdx.x) * blockDim.x;
  if (i < n) data[i] = value;
}
)";

/// Compiles for `cache`, says how long that took, and returns the kernel.
Kernel compile(const char* what, ProgramCacheResource* cache) {
  const auto start = std::chrono::steady_clock::now();
  const ObjectCode code = Program(source).compile(Target::cubin, {.name_expressions = {"fill<int>"}, .cache = cache});
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  std::printf("%-40s %8.2f ms\n", what, took.count());
  return code.get_kernel("fill<int>");
}

void use(const Device& device, const Kernel& fill) {
  constexpr std::size_t n = 1000;
  const Stream stream = device.create_stream();
  const Buffer data = device.allocate(n * sizeof(int), stream);
  launch(stream, {.grid = 4, .block = 256}, fill, data, 42, n);
  std::vector<int> values(n);
  data.copy_to(std::span(values), stream);
  stream.sync();
  check(values == std::vector<int>(n, 42), "the kernel fills the buffer");
}

void example() {
  Device device;
  device.set_current();
  use(device, compile("without a cache", nullptr));

  // In files, shared with all processes that use this folder. Without a path it is the user's cache folder, which
  // compile() uses when it is not told otherwise.
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("cuprum-example-" + std::to_string(getpid()));
  FileStreamProgramCache files(folder.string(), {.max_size_bytes = 16 << 20});
  use(device, compile("a folder that doesn't have it yet", &files));
  use(device, compile("the folder has it", &files));
  check(files.size() == 1, "one program is in the folder");

  // Another process would do the same.
  FileStreamProgramCache again(folder.string());
  use(device, compile("the folder, opened anew", &again));

  // In memory, for the life of an object.
  InMemoryProgramCache memory;
  use(device, compile("memory that doesn't have it yet", &memory));
  use(device, compile("memory has it", &memory));

  // The key says what a compilation depends on: another option, another program.
  const std::string key = make_program_cache_key(source, SourceCodeType::cxx, {}, Target::cubin);
  const std::string other = make_program_cache_key(source, SourceCodeType::cxx, {.use_fast_math = true}, Target::cubin);
  check(key != other, "options are part of the key");

  std::filesystem::remove_all(folder);
}

}  // namespace

int main() { return run(example); }
