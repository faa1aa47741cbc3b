#include "softgpu/runtime/work/external_semaphore.hpp"

#include <unistd.h>

#include <algorithm>

#include "softgpu/exec/host_signals.hpp"
#include "softgpu/runtime/base/error.hpp"
#include "softgpu/runtime/base/imported_descriptor.hpp"
#include "softgpu/runtime/work/eventfd_semaphore.hpp"
#include "softgpu/runtime/work/timeline_semaphore.hpp"
#include "softgpu/runtime/work/work_services.hpp"

namespace softgpu::runtime {
namespace {

// How long a thread sleeps that nobody wakes: a program may write a timeline's counter and tell nobody, and a context
// that fails or ends wakes nobody, either. The longer the wait, the longer the sleep.
constexpr std::chrono::microseconds kShortestSleep{50}, kLongestSleep{10'000};

}  // namespace

std::shared_ptr<ExternalSemaphore> ExternalSemaphore::import(std::shared_ptr<Context> context,
                                                             CUexternalSemaphoreHandleType type, int descriptor) {
  std::shared_ptr<ExternalSemaphore> made;
  switch (type) {
    case CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD:
      made = std::make_shared<EventfdSemaphore>(std::move(context), duplicate_imported(descriptor));
      break;
    case CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD:
      made = std::make_shared<TimelineSemaphore>(std::move(context), duplicate_imported(descriptor));
      break;
    default:
      throw Failure(CUDA_ERROR_NOT_SUPPORTED,
                    "softgpu imports an eventfd (OPAQUE_FD) or a counter in memory of memfd_create() "
                    "(TIMELINE_SEMAPHORE_FD); semaphores of Windows, Direct3D and NvSci need their devices");
  }
  close(descriptor);
  return made;
}

void ExternalSemaphore::wait(std::function<bool()> holds, std::function<void()> done) {
  const std::scoped_lock lock(mutex_);
  waits_.push_back({std::move(holds), std::move(done)});
  if (has_thread_) return;
  try {
    exec::start_thread([self = shared_from_this()]() mutable { serve(std::move(self)); });
    has_thread_ = true;
  } catch (...) {
    waits_.pop_back();
    throw;
  }
}

// Those that are over. A thread that has none left ends; the next wait starts another one.
std::list<ExternalSemaphore::Wait> ExternalSemaphore::take_over(bool& any_left) {
  std::list<Wait> over;
  const std::scoped_lock lock(mutex_);
  for (auto it = waits_.begin(); it != waits_.end();) {
    const auto wait = it++;
    if (wait->holds()) over.splice(over.end(), waits_, wait);
  }
  any_left = has_thread_ = !waits_.empty();
  return over;
}

void ExternalSemaphore::serve(std::shared_ptr<ExternalSemaphore> self) {
  auto limit = kShortestSleep;
  for (bool any_left = true; any_left;) {
    const std::uint32_t state = self->state();
    const std::list<Wait> over = self->take_over(any_left);
    // Whoever sees that the wait is over may rely on it that nothing keeps the descriptor open.
    if (!any_left) self.reset();
    for (const Wait& wait : over) wait.done();
    limit = over.empty() ? std::min(2 * limit, kLongestSleep) : kShortestSleep;
    if (any_left) self->sleep(state, limit);
  }
}

void drop_semaphores_of(WorkServices& services, const Context& context) {
  services.external_semaphores.remove_if(
      [&](const ExternalSemaphore& semaphore) { return &semaphore.context() == &context; });
}

}  // namespace softgpu::runtime
