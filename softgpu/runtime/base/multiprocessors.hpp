// Some of a device's multiprocessors, and the rules by which they can be divided: what green contexts are made of.
//
// A device's multiprocessors are numbered, and those next to each other are the ones that a GPU schedules together. A
// part is taken from the front of what is there, so that parts of one division never overlap.
#pragma once

#include <compare>
#include <vector>

namespace softgpu::runtime {

class MultiprocessorSet {
 public:
  MultiprocessorSet() = default;
  static MultiprocessorSet first(unsigned count);

  unsigned count() const;
  // Takes the first ones out; there must be as many.
  MultiprocessorSet take(unsigned count);
  void add(const MultiprocessorSet& other);
  bool overlaps(const MultiprocessorSet& other) const;

  // Calls visit(first, count) for those that are next to each other.
  template <typename Visit>
  void for_each_range(Visit&& visit) const {
    for (const Range& range : ranges_) visit(range.first, range.count);
  }

  auto operator<=>(const MultiprocessorSet&) const = default;

 private:
  struct Range {
    unsigned first, count;
    auto operator<=>(const Range&) const = default;
  };
  std::vector<Range> ranges_;  // sorted, apart from each other
};

// How finely a device's multiprocessors can be divided.
struct PartitionRules {
  unsigned smallest = 1;   // minSmPartitionSize
  unsigned alignment = 1;  // smCoscheduledAlignment
};
// As CUDA documents it by compute capability. A device too small for two such parts has finer ones, like NVIDIA's
// systems on a chip, so that it can be divided at all.
PartitionRules partition_rules(unsigned compute_capability, unsigned multiprocessors);
// Without regard to what is scheduled together: CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING.
PartitionRules finest_rules(unsigned multiprocessors);

// Equal parts, each of at least `least` multiprocessors.
struct EqualParts {
  unsigned count = 0;  // of parts
  unsigned size = 0;   // of each
};
// As many as fit, but no more than `most`. When not even one does, rounded up as its size is, one part has everything;
// none when `least` are more than there are.
EqualParts equal_parts(unsigned available, PartitionRules rules, unsigned most, unsigned least);

}  // namespace softgpu::runtime
