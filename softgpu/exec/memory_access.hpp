// Which memory a grid may use: asked by the code of kernels that may meet memory of another device.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace softgpu::exec {

// Memory that a thread has asked about and may use: most accesses are near one before. Entries are found by the
// address's 64 KiB.
struct PermittedMemory {
  struct Range {
    std::uintptr_t begin = 0, end = 0;
    bool contains(std::uintptr_t address) const { return address >= begin && address < end; }
  };
  std::uint64_t as_of = 0;  // what `ranges` were found out at; the MemoryAccess's own
  std::array<Range, 16> ranges{};

  Range& range_for(std::uintptr_t address) { return ranges[(address >> 16) % ranges.size()]; }
};

class MemoryAccess {
 public:
  virtual ~MemoryAccess() = default;
  // The number of the device whose memory this is, if the grid may not use it, else -1. Called inside of kernels, by
  // several threads, each with what it knows already.
  virtual int owner_if_denied(const void* address, PermittedMemory& known) const noexcept = 0;
};

}  // namespace softgpu::exec
