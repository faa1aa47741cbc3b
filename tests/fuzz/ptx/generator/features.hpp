// What programs may contain.
#pragma once

#include <string>
#include <string_view>

namespace ptx_fuzz {

struct Features {
  bool loops = true;      // and ifs
  bool gotos = true;      // irreducible flow
  bool memory = true;     // own global, local and shared memory, with computed addresses
  bool floats = true;     // float32 and float64
  bool atomics = true;    //
  bool barriers = true;   // and exchanges over them
  bool pieces = true;     // barriers and warp operations that threads of a warp enter at different places
  bool warps = true;      // warp operations
  bool signals = true;    // threads that wait in a loop for what another one writes
  bool exits = true;      // threads that end early
  bool calls = true;      // device functions, recursive ones too
  bool recursion = true;  // recursive functions that end threads or wait for others
};

/// Of a list such as "loops,gotos", or "-gotos,-loops" for all but these; throws std::invalid_argument that names the
/// features when it has another word.
Features parse_features(std::string_view list);

}  // namespace ptx_fuzz
