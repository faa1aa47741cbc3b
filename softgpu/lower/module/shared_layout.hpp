// Where the shared variables of a kernel are.
#pragma once

#include <cstdint>
#include <vector>

#include "softgpu/lower/module/call_graph.hpp"
#include "softgpu/ptx/ast.hpp"

namespace softgpu::lower {

// What CUDA keeps for itself at the start of every block's shared memory, from compute capability 8.0 on: cooperative
// groups of more than a warp meet there. It is zero when a block begins. The numbers are those of an H200.
struct ReservedShared {
  static constexpr std::uint32_t kBytes = 1024;
  static constexpr std::uint32_t kUsedBytes = 288;  // the rest is there to fill up
};

// Where a kernel's shared variables are: those of the module that the kernel and the functions it can reach
// name, then those of their bodies, in declaration order. Extern unsized arrays all start at `static_bytes`.
struct SharedLayout {
  struct Entry {
    const ptx::Variable* variable;
    std::uint32_t offset;
  };
  std::vector<Entry> entries;
  std::uint32_t reserved_bytes = 0;  // in front of them; none if the kernel does not ask where it is
  std::uint32_t static_bytes = 0;    // with those, rounded up to the largest alignment of an extern array, at least 16
  std::uint32_t alignment = 1;       // of all of it: the largest of a variable
};
SharedLayout shared_layout(const CallGraph&, const ptx::Function& kernel);

}  // namespace softgpu::lower
