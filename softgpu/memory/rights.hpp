// What may be done with memory, and by whom.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>

namespace softgpu::memory {

enum class Access : std::uint8_t { none, read, read_write };

// What devices, by their numbers, and the host may do with memory that a program maps. Nothing at first.
class Rights {
 public:
  static constexpr int kHost = -1;
  static constexpr int kMostDevices = 64;

  void set(int who, Access access) {
    if (who == kHost) {
      host_ = access;
      return;
    }
    const std::uint64_t bit = std::uint64_t{1} << who;
    readers_ = access != Access::none ? readers_ | bit : readers_ & ~bit;
    writers_ = access == Access::read_write ? writers_ | bit : writers_ & ~bit;
  }
  Access of(int who) const {
    if (who == kHost) return host_;
    const std::uint64_t bit = std::uint64_t{1} << who;
    return (writers_ & bit) != 0 ? Access::read_write : (readers_ & bit) != 0 ? Access::read : Access::none;
  }
  // The most that anybody may do.
  Access strongest() const {
    const Access of_devices = writers_ != 0 ? Access::read_write : readers_ != 0 ? Access::read : Access::none;
    return std::max(of_devices, host_);
  }
  // To what may be done with other memory as well.
  void restrict_to(const Rights& other) {
    readers_ &= other.readers_;
    writers_ &= other.writers_;
    host_ = std::min(host_, other.host_);
  }

  auto operator<=>(const Rights&) const = default;

 private:
  std::uint64_t readers_ = 0, writers_ = 0;  // a bit for each device
  Access host_ = Access::none;
};

}  // namespace softgpu::memory
