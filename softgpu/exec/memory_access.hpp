// Which memory a grid may use: asked by the code of kernels that may meet memory which they may not use.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace softgpu::exec {

// Memory that a thread has asked about and may use: most accesses are near one before. Entries are found by the
// address's 64 KiB.
struct PermittedMemory {
  struct Range {
    std::uintptr_t begin = 0, end = 0;
    bool may_write = false;
    bool permits(std::uintptr_t address, bool writes) const {
      return address >= begin && address < end && (may_write || !writes);
    }
  };
  std::uint64_t as_of = 0;  // what `ranges` were found out at; the MemoryAccess's own
  std::array<Range, 16> ranges{};

  Range& range_for(std::uintptr_t address) { return ranges[(address >> 16) % ranges.size()]; }
};

struct DeniedMemory {
  int device;     // whose memory it is; -1: the host's
  bool may_read;  // and not write
};

class MemoryAccess {
 public:
  virtual ~MemoryAccess() = default;
  // Empty: the grid may read here, or write. Called inside of kernels, by several threads, each with what it knows
  // already.
  virtual std::optional<DeniedMemory> denied(const void* address, bool writes,
                                             PermittedMemory& known) const noexcept = 0;
};

}  // namespace softgpu::exec
