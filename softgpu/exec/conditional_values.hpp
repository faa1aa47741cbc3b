// The numbers that conditional nodes of graphs look at: kernels set them (cudaGraphSetConditional), graphs read them.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>

namespace softgpu::exec {

// Thread-safe. Handles are never given twice, so that one that is gone is told from a later one.
class ConditionalValues {
 public:
  // Those of the process: a kernel knows no more than a handle.
  static ConditionalValues& all();

  std::uint64_t add();  // the number is 0
  void remove(std::uint64_t handle);
  // False and nothing: there is no such handle.
  bool set(std::uint64_t handle, std::uint32_t value);
  std::optional<std::uint32_t> get(std::uint64_t handle) const;

 private:
  // An arbitrary start: small numbers that a kernel passes by mistake are not handles.
  static constexpr std::uint64_t kFirst = 0x5fc0000000000001;

  mutable std::mutex mutex_;
  std::uint64_t next_ = kFirst;
  std::unordered_map<std::uint64_t, std::uint32_t> values_;
};

}  // namespace softgpu::exec
