#include "softgpu/runtime/base/multiprocessors.hpp"

#include <algorithm>

namespace softgpu::runtime {
namespace {

unsigned round_up_to(unsigned value, unsigned unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

MultiprocessorSet MultiprocessorSet::first(unsigned count) {
  MultiprocessorSet set;
  if (count > 0) set.ranges_.push_back({0, count});
  return set;
}

unsigned MultiprocessorSet::count() const {
  unsigned count = 0;
  for (const Range& range : ranges_) count += range.count;
  return count;
}

MultiprocessorSet MultiprocessorSet::take(unsigned count) {
  MultiprocessorSet taken;
  while (count > 0) {
    Range& front = ranges_.front();
    const unsigned here = std::min(count, front.count);
    taken.ranges_.push_back({front.first, here});
    front.first += here;
    front.count -= here;
    if (front.count == 0) ranges_.erase(ranges_.begin());
    count -= here;
  }
  return taken;
}

void MultiprocessorSet::add(const MultiprocessorSet& other) {
  std::vector<Range> all = ranges_;
  all.insert(all.end(), other.ranges_.begin(), other.ranges_.end());
  std::sort(all.begin(), all.end());
  ranges_.clear();
  for (const Range& range : all) {
    if (!ranges_.empty() && ranges_.back().first + ranges_.back().count >= range.first) {
      Range& last = ranges_.back();
      last.count = std::max(last.count, range.first + range.count - last.first);
    } else {
      ranges_.push_back(range);
    }
  }
}

bool MultiprocessorSet::overlaps(const MultiprocessorSet& other) const {
  for (const Range& a : ranges_)
    for (const Range& b : other.ranges_)
      if (a.first < b.first + b.count && b.first < a.first + a.count) return true;
  return false;
}

PartitionRules finest_rules(unsigned multiprocessors) {
  return multiprocessors >= 2 ? PartitionRules{2, 2} : PartitionRules{1, 1};
}

PartitionRules partition_rules(unsigned compute_capability, unsigned multiprocessors) {
  const unsigned major = compute_capability / 10;
  const PartitionRules rules = major >= 9 ? PartitionRules{8, 8} : PartitionRules{major == 8 ? 4U : 2U, 2};
  return multiprocessors >= 2 * rules.smallest ? rules : finest_rules(multiprocessors);
}

EqualParts equal_parts(unsigned available, PartitionRules rules, unsigned most, unsigned least) {
  if (least > available || available < rules.smallest) return {};
  const unsigned size = std::min(available, round_up_to(std::max(least, rules.smallest), rules.alignment));
  return {std::min(most, available / size), size};
}

}  // namespace softgpu::runtime
