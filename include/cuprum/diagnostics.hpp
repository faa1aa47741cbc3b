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
  std::size_t contexts = 0;      ///< created ones, and others as long as somebody holds a Context of them
  std::size_t streams = 0;       ///< wrapped ones included; not the default streams, which are never released
  std::size_t events = 0;        ///< wrapped and imported ones included
  std::size_t buffers = 0;       ///< wrapped ones and parts (Buffer::slice) included
  std::size_t memory_pools = 0;  ///< that were made for a memory resource; the driver's default pools are not counted
  std::size_t programs = 0;      ///< sources to compile
  std::size_t linkers = 0;       ///< with the state of the linker that they hold
  std::size_t object_codes = 0;  ///< whether or not they are loaded
  std::size_t kernels = 0;       ///< one that is asked for twice counts once
  std::size_t graphs = 0;        ///< definitions, those inside of others included
  std::size_t executable_graphs = 0;   ///< instantiated ones
  std::size_t graph_builders = 0;      ///< whether or not they are capturing
  std::size_t opaque_arrays = 0;       ///< wrapped ones and levels of mipmapped arrays included
  std::size_t mipmapped_arrays = 0;    ///< with all their levels
  std::size_t texture_objects = 0;     ///< whatever they show
  std::size_t surface_objects = 0;     ///< of arrays
  std::size_t graphics_resources = 0;  ///< registered ones, whether or not they are mapped

  /// Of all kinds together.
  std::size_t total() const {
    return contexts + streams + events + buffers + memory_pools + programs + linkers + object_codes + kernels + graphs +
           executable_graphs + graph_builders + opaque_arrays + mipmapped_arrays + texture_objects + surface_objects +
           graphics_resources;
  }
  bool operator==(const LiveObjects&) const = default;
};

/// How many there are now; what the driver has let go of meanwhile is released first. Each number is right by itself:
/// while other threads work, they may be of different moments.
CUPRUM_API LiveObjects live_objects() noexcept;

}  // namespace cuprum::inline CUPRUM_ABI
