// What lies behind an allocation's pages when it is more than memory that nobody else can reach.
#pragma once

#include <cstdint>

namespace softgpu::memory {

// What may be done with mapped memory.
enum class Access : std::uint8_t { none, read, read_write };

// Held by the allocations that use it, and given up with the last of them.
class Backing {
 public:
  virtual ~Backing() = default;
};

}  // namespace softgpu::memory
