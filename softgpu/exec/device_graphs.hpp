// Launching graphs from kernels, as whoever launches a grid provides it.
#pragma once

#include <cstdint>

namespace softgpu::exec {

// Thread-safe. Called from kernels, which may be left in between two calls but not inside one.
class DeviceGraphs {
 public:
  virtual ~DeviceGraphs() = default;
  // cudaGraphLaunch() of an executable graph into one of the streams that device code names. Gives a cudaError_t.
  virtual std::uint32_t launch(std::uint64_t graph, std::uint64_t stream) noexcept = 0;
  // The executable graph that the kernel is of, when that can be launched from kernels; else 0.
  virtual std::uint64_t current() const noexcept = 0;
};

}  // namespace softgpu::exec
