// What is left to softgpu when the user says nothing.
#include <sched.h>
#include <unistd.h>

#include <algorithm>

#include "softgpu/memory/address_space.hpp"
#include "softgpu/runtime/base/config.hpp"

namespace softgpu::runtime {
namespace {

std::size_t half_of_machine_memory() {
  const auto pages = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES));
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) / 2;
}

unsigned usable_cores() {
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof cores, &cores) != 0) return 1;
  return static_cast<unsigned>(std::max(1, CPU_COUNT(&cores)));
}

}  // namespace

Config completed(Config config) {
  if (config.memory.empty()) config.memory.push_back(0);
  for (std::size_t& bytes : config.memory)
    bytes = memory::round_up(bytes != 0 ? bytes : half_of_machine_memory(), memory::kHugePageBytes);
  if (config.workers == 0) config.workers = usable_cores();
  return config;
}

}  // namespace softgpu::runtime
