#include "softgpu/runtime/base/partition_groups.hpp"

namespace softgpu::runtime {
namespace {

// What there is to discover: whole units, and the rest if it may be filled up. A group has one unit at least.
unsigned discovered(unsigned left, unsigned unit, bool backfill) {
  const unsigned whole = left / unit * unit;
  if (whole == 0) return 0;
  return backfill ? left / 2 * 2 : whole;
}

bool is_possible(const GroupRequest& request, unsigned unit, unsigned left) {
  if (request.count % 2 != 0 || request.count < unit || request.count > left) return false;
  return request.backfill || request.count % unit == 0;
}

}  // namespace

unsigned largest_unit(unsigned compute_capability) { return compute_capability >= 90 ? 32 : 2; }

std::optional<std::vector<unsigned>> group_sizes(unsigned available, PartitionRules rules, unsigned largest_unit,
                                                 std::span<const GroupRequest> requests) {
  std::vector<unsigned> sizes;
  unsigned left = available;
  for (const GroupRequest& request : requests) {
    const unsigned unit = request.coscheduled != 0 ? request.coscheduled : rules.alignment;
    if (unit > largest_unit || unit % 2 != 0) return std::nullopt;
    if (request.count != 0 && !is_possible(request, unit, left)) return std::nullopt;
    sizes.push_back(request.count != 0 ? request.count : discovered(left, unit, request.backfill));
    left -= sizes.back();
  }
  return sizes;
}

}  // namespace softgpu::runtime
