// Some of a pool's seats: where grids may run that have only a part of their device.
#pragma once

#include <cstddef>
#include <vector>

namespace softgpu::exec {

class SeatSet {
 public:
  void add(std::size_t seat) {
    if (seat >= has_.size()) has_.resize(seat + 1);
    if (!has_[seat]) ++count_;
    has_[seat] = true;
  }
  bool contains(std::size_t seat) const { return seat < has_.size() && has_[seat]; }
  std::size_t count() const { return count_; }

 private:
  std::vector<bool> has_;
  std::size_t count_ = 0;
};

}  // namespace softgpu::exec
