// What a user can tell the compiler.
#pragma once

#include <string>
#include <vector>

namespace softgpu::jit {

struct CompilerSettings {
  unsigned width = 0;             // lanes of a gang, 1, 8, 16 or 32, where the kernel allows it; 0: what suits it
  std::vector<std::string> dump;  // passes behind which the code is written to stderr
  bool time_passes = false;       // write a table of what each pass took to stderr
  std::string failing_pass;       // for tests of what becomes of failures: this pass fails; empty: none does
};

}  // namespace softgpu::jit
