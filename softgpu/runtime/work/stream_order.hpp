// What a stream's next operation comes after, in other streams.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace softgpu::runtime {

// For memory pools, which reuse a block where the order of streams allows it. Not knowing of an order is never wrong,
// it only means less reuse; so the oldest points are dropped when there are too many.
class StreamOrder {
 public:
  // Up to and with that operation of a stream; operations are counted from 1.
  void add(std::uint64_t stream, std::uint64_t position) {
    const auto same = std::find_if(points_.begin(), points_.end(), [&](const Point& p) { return p.stream == stream; });
    if (same != points_.end()) {
      same->position = std::max(same->position, position);
      return;
    }
    if (points_.size() == kMostPoints) points_.erase(points_.begin());
    points_.push_back({stream, position});
  }
  void add(const StreamOrder& other) {
    for (const Point& point : other.points_) add(point.stream, point.position);
  }

  bool covers(std::uint64_t stream, std::uint64_t position) const {
    return std::any_of(points_.begin(), points_.end(),
                       [&](const Point& p) { return p.stream == stream && p.position >= position; });
  }

 private:
  static constexpr std::size_t kMostPoints = 64;
  struct Point {
    std::uint64_t stream, position;
  };
  std::vector<Point> points_;
};

}  // namespace softgpu::runtime
