// softgpu's settings. Each can be given in the environment, or as a line NAME=value of the file that
// SOFTGPU_CONFIG names; the environment goes first.
#pragma once

#include <cuda.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "softgpu/jit/compiler_settings.hpp"

namespace softgpu::runtime {

// What to say on stderr: SOFTGPU_TRACE, a comma-separated list of these names.
struct Trace {
  bool unsupported = false;  // calls of entry points that softgpu does not have
  bool calls = false;        // every call and what it returned
  bool errors = false;       // the reason of every failed call, where there is more to say than its code
};

struct Config {
  unsigned devices = 1;              // SOFTGPU_DEVICES: how many devices there are, 1 to 64
  unsigned compute_capability = 90;  // SOFTGPU_COMPUTE_CAPABILITY: what the devices claim to be, as in "9.0"
  // SOFTGPU_MEMORY: bytes of the devices, as in "512M" or "8G,1G"; the last is for all that follow, none for half of
  // the machine's.
  std::vector<std::size_t> memory;
  unsigned multiprocessors = 0;  // SOFTGPU_MULTIPROCESSORS: as reported; 0: as many as workers
  // SOFTGPU_CUDA_VERSION: the CUDA release whose entry points are offered, as in "12.4": 12.0 up to softgpu's own.
  int cuda_version = CUDA_VERSION;
  bool memory_pools = true;  // SOFTGPU_MEMORY_POOLS: 0 for devices that have none
  unsigned workers = 0;      // SOFTGPU_WORKERS: threads that run kernels; 0: one per core
  std::string cache_dir;     // SOFTGPU_CACHE_DIR: folder for compiled kernels; empty: the user's cache folder
  std::optional<std::size_t> cache_size;  // SOFTGPU_CACHE_SIZE: most bytes that folder may hold; 0 switches it off
  // SOFTGPU_RUNTIME_DIR: folder in which processes see each other's use of the devices; empty: the user's own
  std::string runtime_dir;
  Trace trace;          // SOFTGPU_TRACE
  bool strict = false;  // SOFTGPU_STRICT: 1 to end programs that do what a GPU's driver may crash by
  // SOFTGPU_WIDTH: threads that run in step where a kernel allows it, 1, 8, 16 or 32, or auto. SOFTGPU_DUMP: passes of
  // the compiler behind which the code is written to stderr. SOFTGPU_TIME_PASSES: 1 to write there what each pass took.
  // SOFTGPU_FAILING_PASS: for tests, a pass that fails.
  jit::CompilerSettings compiler;

  std::size_t memory_of(unsigned device) const { return memory[std::min<std::size_t>(device, memory.size() - 1)]; }
};

// With numbers in place of what was left to softgpu: the memory of the devices, and the workers.
Config completed(Config config);

// Looks a setting up by name; empty when it is not set.
using Lookup = std::function<std::optional<std::string>(const char* name)>;

// Throws std::invalid_argument with a message that names the setting, its value and what it can be.
Config read_config(const Lookup& lookup);

// The environment, then the lines of SOFTGPU_CONFIG. Throws std::invalid_argument as above, also for a file that can't
// be read and for names in it that are no settings.
Config read_config();

}  // namespace softgpu::runtime
