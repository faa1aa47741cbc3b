// Threads of a warp that run each for itself, and how they meet: an operation on the warp is done when all members that
// it names and that have not exited have come to it, at whichever instruction.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "softgpu/abi/kernel.hpp"
#include "softgpu/abi/marks.hpp"

namespace softgpu::exec {

inline constexpr std::uint32_t kWarp = 32;

class Warp {
 public:
  // `threads`: how many there are, from lane 0 on.
  explicit Warp(std::uint32_t threads) : missing_(threads == kWarp ? 0 : ~std::uint32_t{0} << threads) {}

  // The thread in this lane waits with the request in its gang. Adds to `released` the lanes that can go on, their
  // results written.
  void wait(std::uint32_t lane, abi::Gang&, std::vector<std::uint32_t>& released);
  // The thread has exited: the others may have been waiting for it alone.
  void exit(std::uint32_t lane, std::vector<std::uint32_t>& released);

  // Threads that ask which of them are active wait until no other thread of the warp can run: those that have come to
  // the same instruction by then go on together.
  bool has_active_waiting() const { return active_; }
  void release_active(std::vector<std::uint32_t>& released);

  std::uint32_t waiting() const { return waiting_; }  // lanes

 private:
  struct Meeting {
    abi::Mark operation;
    std::uint32_t members;  // for activemask: the line
    std::uint32_t arrived;  // lanes
  };
  bool complete(const Meeting&) const;
  void release(const Meeting&, std::vector<std::uint32_t>& released);

  std::uint32_t missing_;  // lanes without a thread, or whose thread has exited
  std::uint32_t waiting_ = 0;
  bool active_ = false;
  std::vector<Meeting> meetings_;
  std::array<abi::Gang*, kWarp> gangs_{};
};

// The results of an operation for the lanes that take part, by lane.
void exchange(abi::Mark operation, std::uint32_t lanes, const std::array<abi::Gang*, kWarp>&);

}  // namespace softgpu::exec
