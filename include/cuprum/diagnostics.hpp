// Looking at the library from outside: messages that can't be exceptions, and how many CUDA objects it holds.
#pragma once

#include <cstddef>
#include <cuprum/detail/export.hpp>
#include <functional>
#include <string_view>

namespace cuprum::inline CUPRUM_ABI {

/// Receives one line without line feed. Destructors don't throw; what fails in one is told here.
using LogHook = std::function<void(std::string_view)>;

/// Replaces where messages go (stderr by default) and returns what was there. Threads may call it; the hook itself may
/// be called from any thread, one at a time, also while the process exits, and must not throw or call the library.
CUPRUM_API LogHook set_log_hook(LogHook hook);

/// CUDA objects that the library has made or wrapped and not released yet.
struct LiveObjects {
  std::size_t contexts = 0;
  std::size_t streams = 0;
  std::size_t events = 0;
  std::size_t buffers = 0;
  std::size_t memory_pools = 0;  ///< that were made for a memory resource; the driver's default pools are not counted
  std::size_t programs = 0;
  std::size_t linkers = 0;
  std::size_t object_codes = 0;
  std::size_t kernels = 0;
  std::size_t graphs = 0;  ///< definitions, those inside of others included
  std::size_t executable_graphs = 0;
  std::size_t graph_builders = 0;

  std::size_t total() const {
    return contexts + streams + events + buffers + memory_pools + programs + linkers + object_codes + kernels + graphs +
           executable_graphs + graph_builders;
  }
  bool operator==(const LiveObjects&) const = default;
};

/// What the driver has let go of meanwhile is released first.
CUPRUM_API LiveObjects live_objects() noexcept;

}  // namespace cuprum::inline CUPRUM_ABI
