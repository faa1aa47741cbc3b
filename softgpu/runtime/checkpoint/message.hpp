// What goes between a process that controls another one and that one: a request, and replies to it, of which the last
// one is the answer and the others are signs of life. Both sides are the same user's, and check what they get all the
// same.
#pragma once

#include <cuda.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <type_traits>

namespace softgpu::runtime {

enum class ControlOperation : std::uint32_t { state, restore_thread, lock, checkpoint, restore, unlock };

constexpr bool is_question(ControlOperation operation) { return operation <= ControlOperation::restore_thread; }

struct ControlRequest {
  static constexpr std::array<char, 8> kMagic = {'s', 'o', 'f', 't', 'g', 'p', 'u', 'c'};
  static constexpr std::uint32_t kMostPairs = 64;  // as many as there can be devices

  std::array<char, 8> magic = kMagic;
  ControlOperation operation = ControlOperation::state;
  std::uint32_t timeout_ms = 0;  // of lock; 0: none
  std::uint32_t pair_count = 0;  // of restore
  std::array<CUcheckpointGpuPair, kMostPairs> pairs{};
};

struct ControlReply {
  bool is_last = true;
  CUresult code = CUDA_SUCCESS;
  std::int32_t value = 0;          // of a question
  std::array<char, 256> reason{};  // where it failed, in words
};

static_assert(std::is_trivially_copyable_v<ControlRequest> && std::is_trivially_copyable_v<ControlReply>);

// A process that works on a request says so this often; one that has said nothing for so long is stopped, or stuck.
inline constexpr std::chrono::milliseconds kSignEvery{250};
inline constexpr std::chrono::milliseconds kPatience{5000};

}  // namespace softgpu::runtime
