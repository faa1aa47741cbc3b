#include "kernels/fixture.hpp"

#include <cuprum/program_cache.hpp>

namespace cuprum::tests {
namespace {

/// A case compiles all kernels of its file. Where no folder is given to keep them in, the process keeps them.
ProgramCacheResource* cache() {
  static InMemoryProgramCache of_this_process;
  ProgramCacheResource* folder = default_program_cache();
  return folder != nullptr ? folder : &of_this_process;
}

constexpr std::string_view preamble = R"(
#define KERNEL(name) extern "C" __global__ void name
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned int;
using uint64_t = unsigned long long;
using int64_t = long long;
)";

}  // namespace

KernelsTest::KernelsTest(std::string_view source)
    : code(Program(std::string(preamble).append(source), {.std = "c++17", .device_int128 = true})
               .compile(Target::cubin, {.cache = cache()})) {}

}  // namespace cuprum::tests
