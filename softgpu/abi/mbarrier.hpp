// The 64 bits of an mbarrier object, which PTX leaves open. Lowered code makes and tests them, the executor updates
// them.
#pragma once

#include <cstdint>

namespace softgpu::abi {

inline constexpr std::uint32_t kMbarrierCountBits = 20;  // PTX's limit is 2^20 - 1 arrivals

// From the lowest bit: arrivals that the current phase still waits for, arrivals that every phase waits for, bytes that
// the current phase still waits for (a signed number), and the number of the phase's lowest bit.
struct Mbarrier {
  static constexpr std::uint32_t kExpectedShift = kMbarrierCountBits, kBytesShift = 2 * kMbarrierCountBits,
                                 kPhaseShift = 63;
  static constexpr std::uint64_t kCountMask = (std::uint64_t{1} << kMbarrierCountBits) - 1;
  static constexpr std::uint64_t kBytesMask = (std::uint64_t{1} << (kPhaseShift - kBytesShift)) - 1;

  static constexpr std::uint64_t updated(std::uint64_t object, std::uint32_t arrivals, std::uint32_t bytes,
                                         std::uint32_t dropped) {
    const std::uint64_t pending = ((object & kCountMask) - arrivals) & kCountMask;
    const std::uint64_t expected = ((object >> kExpectedShift) - dropped) & kCountMask;
    // Sign-extended: bytes are taken off by adding a negative number.
    const auto change = static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(bytes)));
    const std::uint64_t missing = ((object >> kBytesShift) + change) & kBytesMask;
    const std::uint64_t phase = object >> kPhaseShift;
    const bool complete = pending == 0 && missing == 0;
    return (complete ? expected : pending) | expected << kExpectedShift | missing << kBytesShift |
           (complete ? phase ^ 1 : phase) << kPhaseShift;
  }
};

}  // namespace softgpu::abi
