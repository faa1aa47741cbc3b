// Which parts of a line (addresses, offsets into a file) are free.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace softgpu::memory {

// Not thread-safe. All sizes are greater than 0.
class FreeRanges {
 public:
  // Joins what is given with its free neighbours.
  void give(std::uint64_t first, std::size_t count);
  // Best fit: from the smallest free range that holds `count` at the alignment.
  std::optional<std::uint64_t> take(std::size_t count, std::size_t alignment);
  // These and no others; false when one of them is taken.
  bool take_at(std::uint64_t first, std::size_t count);

 private:
  using Range = std::pair<std::uint64_t, std::size_t>;  // first, count

  void take_from(Range free, std::uint64_t first, std::size_t count);
  void insert(Range range);
  void erase(Range range);

  std::map<std::uint64_t, std::size_t> by_position_;
  std::set<std::pair<std::size_t, std::uint64_t>> by_size_;
};

}  // namespace softgpu::memory
