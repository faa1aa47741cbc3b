// The command line.
#pragma once

#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "fuzz/ptx/generator/features.hpp"

namespace ptx_fuzz {

constexpr unsigned kFullOptimisation = 4;

struct Options {
  std::uint64_t first_seed = 0, last_seed = 100;  // the last one is not run
  std::vector<std::uint64_t> kept;                // seeds that go first
  std::vector<std::string> widths = {""};         // values of SOFTGPU_WIDTH; empty: as it is
  unsigned jobs = 1;
  unsigned seconds = std::numeric_limits<unsigned>::max();
  unsigned limit_seconds = 60;                // for one program
  unsigned most_reduced = 3;                  // failures to reduce
  unsigned optimisation = kFullOptimisation;  // at which the driver compiles
  std::set<unsigned> without;                 // statements to leave out
  Features features;
  std::string feature_list;
  bool fresh = false;
  bool print = false;
  bool statistics = false;
  bool worker = false;
  bool help = false;
};

extern const char* const kUsage;

/// Throws std::invalid_argument for what it does not know.
Options parse_options(int count, char** arguments);

}  // namespace ptx_fuzz
