// An eventfd as a semaphore: a signal adds 1 to its counter, a wait takes 1.
#pragma once

#include <atomic>

#include "softgpu/memory/shared_file.hpp"
#include "softgpu/runtime/work/external_semaphore.hpp"

namespace softgpu::runtime {

class EventfdSemaphore final : public ExternalSemaphore {
 public:
  EventfdSemaphore(std::shared_ptr<Context> context, memory::Descriptor descriptor);

  void signal(std::uint64_t value) override;
  bool take(std::uint64_t value) override;

 private:
  std::uint32_t state() const override { return 0; }
  void sleep(std::uint32_t state, std::chrono::microseconds limit) const override;
  void add(std::uint64_t count);

  const memory::Descriptor descriptor_;
  const bool needs_plain_reads_;
  // Orders what this process does before a signal and after a wait, as the system does, for those who don't see that.
  std::atomic<std::uint32_t> order_{0};
};

}  // namespace softgpu::runtime
