#include "softgpu/runtime/work/timeline_semaphore.hpp"

#include <sys/mman.h>

#include <bit>
#include <climits>
#include <string>

#include "softgpu/exec/futex.hpp"
#include "softgpu/runtime/base/error.hpp"
#include "softgpu/runtime/base/imported_descriptor.hpp"

namespace softgpu::runtime {
namespace {

static_assert(std::endian::native == std::endian::little, "the futex is the lower half of the counter");

void* map_counter(const memory::Descriptor& descriptor, std::size_t page_bytes) {
  require(seal_size(descriptor) >= sizeof(std::uint64_t), CUDA_ERROR_INVALID_HANDLE,
          "the memory of a timeline semaphore has at least 8 bytes");
  void* page = mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor.number(), 0);
  require(page != MAP_FAILED, CUDA_ERROR_INVALID_HANDLE,
          "the memory of a timeline semaphore can't be mapped for reading and writing");
  return page;
}

}  // namespace

TimelineSemaphore::TimelineSemaphore(std::shared_ptr<Context> context, const memory::Descriptor& descriptor)
    : ExternalSemaphore(std::move(context)),
      page_bytes_(page_bytes(descriptor)),
      page_(map_counter(descriptor, page_bytes_)) {
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
}

TimelineSemaphore::~TimelineSemaphore() { munmap(page_, page_bytes_); }

void TimelineSemaphore::signal(std::uint64_t value) {
  std::uint64_t now = counter().load();
  do {
    if (value <= now)
      throw Failure(CUDA_ERROR_EXTERNAL_DEVICE, "a timeline semaphore that has reached " + std::to_string(now) +
                                                    " was signalled with " + std::to_string(value) +
                                                    ": its values have to grow");
  } while (!counter().compare_exchange_weak(now, value));
  exec::futex_wake(futex(), INT_MAX, exec::FutexScope::machine);
}

bool TimelineSemaphore::take(std::uint64_t value) { return counter().load() >= value; }

std::uint32_t TimelineSemaphore::state() const { return static_cast<std::uint32_t>(counter().load()); }

void TimelineSemaphore::sleep(std::uint32_t state, std::chrono::microseconds limit) const {
  exec::futex_wait(futex(), state, limit, exec::FutexScope::machine);
}

}  // namespace softgpu::runtime
