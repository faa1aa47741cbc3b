#include "softgpu/memory/free_ranges.hpp"

#include <iterator>

namespace softgpu::memory {

void FreeRanges::give(std::uint64_t first, std::size_t count) {
  Range range{first, count};
  auto next = by_position_.lower_bound(first);
  if (next != by_position_.end() && next->first == first + count) {
    const Range neighbour = *next++;
    erase(neighbour);
    range.second += neighbour.second;
  }
  if (next != by_position_.begin()) {
    const Range neighbour = *std::prev(next);
    if (neighbour.first + neighbour.second == first) {
      erase(neighbour);
      range = {neighbour.first, neighbour.second + range.second};
    }
  }
  insert(range);
}

std::optional<std::uint64_t> FreeRanges::take(std::size_t count, std::size_t alignment) {
  for (auto it = by_size_.lower_bound({count, 0}); it != by_size_.end(); ++it) {
    const auto [free_count, free_first] = *it;
    const std::uint64_t first = (free_first + alignment - 1) / alignment * alignment;
    if (first < free_first || free_count < first - free_first || free_count - (first - free_first) < count) continue;
    take_from({free_first, free_count}, first, count);
    return first;
  }
  return std::nullopt;
}

bool FreeRanges::take_at(std::uint64_t first, std::size_t count) {
  const auto behind = by_position_.upper_bound(first);
  if (behind == by_position_.begin()) return false;
  const Range free = *std::prev(behind);
  const std::uint64_t skipped = first - free.first;
  if (skipped > free.second || free.second - skipped < count) return false;
  take_from(free, first, count);
  return true;
}

void FreeRanges::take_from(Range free, std::uint64_t first, std::size_t count) {
  erase(free);
  const std::size_t skipped = first - free.first;
  if (skipped != 0) insert({free.first, skipped});
  if (free.second > skipped + count) insert({first + count, free.second - skipped - count});
}

void FreeRanges::insert(Range range) {
  by_position_.insert(range);
  by_size_.insert({range.second, range.first});
}

void FreeRanges::erase(Range range) {
  by_position_.erase(range.first);
  by_size_.erase({range.second, range.first});
}

}  // namespace softgpu::memory
