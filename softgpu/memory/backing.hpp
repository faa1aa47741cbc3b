// What lies behind an allocation's pages when it is more than memory that nobody else can reach.
#pragma once

namespace softgpu::memory {

// Held by the allocations that use it, and given up with the last of them.
class Backing {
 public:
  virtual ~Backing() = default;
};

}  // namespace softgpu::memory
