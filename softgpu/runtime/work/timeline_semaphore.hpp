// A counter in shared memory as a semaphore: a signal raises it to a value, a wait is for a value to be reached.
//
// The counter is the first 8 bytes of a memfd, in the machine's order of bytes. Whoever raises it does that by one
// atomic store and then wakes those that sleep on its lower half: FUTEX_WAKE, not private, on the address of the
// counter. Where that is left out, waits end a little later.
#pragma once

#include <atomic>

#include "softgpu/memory/shared_file.hpp"
#include "softgpu/runtime/work/external_semaphore.hpp"

namespace softgpu::runtime {

class TimelineSemaphore final : public ExternalSemaphore {
 public:
  TimelineSemaphore(std::shared_ptr<Context> context, const memory::Descriptor& descriptor);
  ~TimelineSemaphore() override;

  void signal(std::uint64_t value) override;
  bool take(std::uint64_t value) override;

 private:
  std::uint32_t state() const override;
  void sleep(std::uint32_t state, std::chrono::microseconds limit) const override;

  std::atomic<std::uint64_t>& counter() const { return *static_cast<std::atomic<std::uint64_t>*>(page_); }
  const std::atomic<std::uint32_t>& futex() const { return *static_cast<const std::atomic<std::uint32_t>*>(page_); }

  const std::size_t page_bytes_;
  void* const page_;
};

}  // namespace softgpu::runtime
