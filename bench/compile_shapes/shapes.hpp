// Kernels of any length, each of one shape of code over and over: how a compiler's time grows with them shows what in
// it is not proportional to the code.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

struct CodeShape {
  std::string_view name;
  unsigned instructions;                                        // of PTX, in a unit
  std::function<std::string(unsigned i, unsigned count)> unit;  // the i-th of so many
};

/// All shapes, in the order in which they are measured.
const std::vector<CodeShape>& code_shapes();

/// A module with a kernel `k(uint32_t*)` of about so many instructions of PTX. It is right to launch it with a block of
/// 64 threads and 64 KiB of memory, whatever that contains.
std::string make_kernel(const CodeShape&, unsigned instructions);

}  // namespace bench
