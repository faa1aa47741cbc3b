// The Ops that signal external semaphores and wait for them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "softgpu/runtime/work/op.hpp"

namespace softgpu::runtime {

class ExternalSemaphore;

struct SemaphoreValue {
  std::shared_ptr<ExternalSemaphore> semaphore;
  std::uint64_t value = 0;  // for timelines
};

// One after the other. A semaphore that can't be signalled or waited for fails the context.
OpRef make_signal_op(const OpPlace& place, std::vector<SemaphoreValue> values);
// Holds up no thread that has other work. A context that has failed or is torn down waits for nothing.
OpRef make_wait_op(const OpPlace& place, std::vector<SemaphoreValue> values);

}  // namespace softgpu::runtime
