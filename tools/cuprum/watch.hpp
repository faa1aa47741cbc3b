// What `cuprum top` shows: gathered, then laid out as text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "terminal.hpp"

namespace cuprum::cli {

/// A device at this moment. What it does not tell is empty.
struct WatchedDevice {
  unsigned index = 0;
  std::string name, uuid;
  std::uint64_t memory_used = 0, memory_total = 0;
  std::optional<unsigned> gpu_percent, memory_percent, clock_megahertz, milliwatts, fan_percent;
  std::optional<int> celsius;
};

struct WatchedProcess {
  unsigned device = 0;
  unsigned pid = 0;
  std::string user, name;
  std::optional<std::uint64_t> memory;
};

struct Watched {
  std::string driver;  ///< in words
  std::vector<WatchedDevice> devices;
  std::vector<WatchedProcess> processes;  ///< by device
};

/// Asks NVML. Throws NotSupported and LibraryError where there is none to ask.
Watched watch();

/// The whole as lines that are no longer than `width`.
std::string picture_of(const Watched& watched, const Style& style, std::size_t width);

/// "#####.....", `percent` of `width` characters.
std::string bar(unsigned percent, std::size_t width);

}  // namespace cuprum::cli
