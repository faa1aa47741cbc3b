// Where the shared variables of a kernel are.
#pragma once

#include <cstdint>
#include <vector>

#include "softgpu/ptx/ast.hpp"

namespace softgpu::lower {

// Where a kernel's shared variables are: those of the module that the kernel and the functions it can reach
// name, then those of their bodies, in declaration order. Extern unsized arrays all start at `static_bytes`.
struct SharedLayout {
  struct Entry {
    const ptx::Variable* variable;
    std::uint32_t offset;
  };
  std::vector<Entry> entries;
  std::uint32_t static_bytes =
      0;                        // rounded up to the largest alignment of an extern array, at least 16 when one exists
  std::uint32_t alignment = 1;  // of all of it: the largest of a variable
};
SharedLayout shared_layout(const ptx::Module&, const ptx::Function& kernel);

}  // namespace softgpu::lower
