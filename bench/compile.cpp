// What Program::compile costs: over the bare NVRTC calls when it compiles, and when the result is in a cache.
//
//   build/release/bin/bench_compile
//
// The bare calls do what compile() does for Target::cubin: they fetch the machine code, the PTX and the log.
#include <unistd.h>

#include <cstdio>
#include <cuprum/cuprum.hpp>
#include <cuprum/nvrtc.hpp>
#include <exception>
#include <filesystem>
#include <fstream>

#include "bench/support/timing.hpp"

namespace {

using namespace cuprum;
using nvrtc::Api;
namespace fs = std::filesystem;

constexpr int rounds = 15;

struct Case {
  const char* name;
  std::string source;
  std::vector<std::string> include_path = {};
};

const char* const saxpy = R"(
extern "C" __global__ void saxpy(float a, const float* x, float* y, size_t n) {
  size_t i = threadIdx.x + size_t(blockIdx.x) * blockDim.x;
  if (i < n) y[i] += a * x[i];
}
)";

const char* const reduction = R"(
#include <cub/block/block_reduce.cuh>
extern "C" __global__ void sum(const int* in, int* out) {
  using Reduce = cub::BlockReduce<int, 128>;
  __shared__ typename Reduce::TempStorage storage;
  int total = Reduce(storage).Sum(in[threadIdx.x + blockIdx.x * 128]);
  if (threadIdx.x == 0) out[blockIdx.x] = total;
}
)";

struct TemporaryFolder {
  fs::path path = fs::temp_directory_path() / ("bench_compile." + std::to_string(getpid()));
  TemporaryFolder() { fs::create_directory(path); }
  ~TemporaryFolder() { fs::remove_all(path); }
};

template <auto GetSize, auto GetBytes>
std::string fetch(nvrtc::Program program) {
  std::size_t size = 0;
  nvrtc::call<GetSize>(program, &size);
  std::string bytes(size, '\0');
  nvrtc::call<GetBytes>(program, bytes.data());
  return bytes;
}

std::size_t compile_bare(const std::string& source, const std::vector<std::string>& arguments) {
  std::vector<const char*> pointers;
  for (const std::string& argument : arguments) pointers.push_back(argument.c_str());
  nvrtc::Program program = nullptr;
  nvrtc::call<&Api::nvrtcCreateProgram>(&program, source.c_str(), "default_program", 0, nullptr, nullptr);
  nvrtc::call<&Api::nvrtcCompileProgram>(program, static_cast<int>(pointers.size()), pointers.data());
  const std::size_t bytes = fetch<&Api::nvrtcGetCUBINSize, &Api::nvrtcGetCUBIN>(program).size() +
                            fetch<&Api::nvrtcGetPTXSize, &Api::nvrtcGetPTX>(program).size() +
                            fetch<&Api::nvrtcGetProgramLogSize, &Api::nvrtcGetProgramLog>(program).size();
  nvrtc::call<&Api::nvrtcDestroyProgram>(&program);
  return bytes;
}

void measure(const Case& each, const fs::path& folder) {
  const ProgramOptions options{.include_path = each.include_path};
  const Program program(each.source, options);
  std::vector<std::string> arguments = options.as_arguments(CompilerBackendType::nvrtc, Target::cubin);
  for (const std::string& headers : nvrtc::info().header_folders) arguments.push_back("--include-path=" + headers);
  FileStreamProgramCache files((folder / "files").string());
  InMemoryProgramCache memory;
  const auto compile = [&](ProgramCacheResource* cache) {
    return 1e3 * bench::seconds([&] { program.compile(Target::cubin, {.cache = cache}); });
  };

  std::vector<double> bare, uncached, missed, from_files, from_memory;
  compile(nullptr);  // opens the compiler
  for (int round = 0; round < rounds; ++round) {
    files.clear();
    bare.push_back(1e3 * bench::seconds([&] { compile_bare(each.source, arguments); }));
    uncached.push_back(compile(nullptr));
    missed.push_back(compile(&files));
    for (int hit = 0; hit < 5; ++hit) from_files.push_back(compile(&files));
    compile(&memory);
    from_memory.push_back(compile(&memory));
  }
  const double baseline = bench::median(bare);
  std::printf("%-34s %8.2f ms %8.3f x %8.3f x %8.1f us %8.1f us\n", each.name, baseline,
              bench::median(uncached) / baseline, bench::median(missed) / baseline, 1e3 * bench::median(from_files),
              1e3 * bench::median(from_memory));
}

}  // namespace

int main() try {
  TemporaryFolder folder;
  const fs::path headers = folder.path / "headers";
  fs::create_directory(headers);
  std::ofstream(headers / "factor.h") << "#pragma once\n#define FACTOR 2\n";

  std::printf("to machine code, median of %d rounds\n", rounds);
  std::printf("%-34s %11s %10s %10s %11s %11s\n", "", "bare NVRTC", "no cache", "miss", "hit, file", "hit, memory");
  measure({"one kernel", saxpy}, folder.path);
  measure({"with a header of the user's", "#include \"factor.h\"\n" + std::string(saxpy), {headers.string()}},
          folder.path);
  measure({"with CUB", reduction}, folder.path);
  measure({"with CUB and a folder of the user's", reduction, {headers.string()}}, folder.path);
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
