// Groups of different sizes, as cuDevSmResourceSplit makes them since CUDA 13.1.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "softgpu/runtime/base/multiprocessors.hpp"

namespace softgpu::runtime {

struct GroupRequest {
  unsigned count = 0;        // multiprocessors; 0: as many as there are, in whole units
  unsigned coscheduled = 0;  // the unit; 0: the device's alignment
  bool backfill = false;     // the last unit may be incomplete
};

// The most that can be scheduled together.
unsigned largest_unit(unsigned compute_capability);

// How many multiprocessors each group gets of those that are available, the first group first; 0 where discovery finds
// none. Empty when a request can't be: an odd number, no multiple of its unit without backfill, a unit that the device
// does not have, or more than is left. softgpu's multiprocessors are all alike, so that units always fit.
std::optional<std::vector<unsigned>> group_sizes(unsigned available, PartitionRules rules, unsigned largest_unit,
                                                 std::span<const GroupRequest> requests);

}  // namespace softgpu::runtime
