// Exchanging the pages behind memory that kernels may be using.
//
//   {
//     const PausedWrites paused(base, bytes);
//     ... copy the content and map other pages there, which can be written ...
//   }
//
// Who writes to the memory meanwhile waits in the fault handler and then writes again, to the new pages.
#pragma once

#include <cstddef>

namespace softgpu::exec {

// One at a time in the process; a second one waits.
class PausedWrites {
 public:
  // Whole pages. Makes them read-only.
  PausedWrites(std::byte* base, std::size_t bytes);
  ~PausedWrites();
  PausedWrites(const PausedWrites&) = delete;
  PausedWrites& operator=(const PausedWrites&) = delete;
};

// For the fault handler, on any thread: whether an access to `address` that failed is to be tried again because its
// pages were paused. Returns when they no longer are.
bool wait_for_paused_writes(const void* address) noexcept;

}  // namespace softgpu::exec
