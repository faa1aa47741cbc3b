#include "softgpu/runtime/work/eventfd_semaphore.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <optional>
#include <utility>

#include "softgpu/runtime/base/error.hpp"
#include "softgpu/runtime/base/imported_descriptor.hpp"

namespace softgpu::runtime {
namespace {

// The flag O_NONBLOCK belongs to all processes that have the eventfd, so it is left alone: a read says for itself that
// it does not wait. Before Linux 5.8 there is no such read.
ssize_t read_without_waiting(int descriptor, std::uint64_t& count) {
  const iovec part{&count, sizeof count};
  return preadv2(descriptor, &part, 1, -1, RWF_NOWAIT);
}

bool system_reads_without_waiting() {
  const memory::Descriptor test(eventfd(0, EFD_CLOEXEC));
  require(static_cast<bool>(test), CUDA_ERROR_OPERATING_SYSTEM, "the process has too many open files");
  std::uint64_t count = 0;
  return read_without_waiting(test.number(), count) < 0 && errno == EAGAIN;
}

[[noreturn]] void fail_eventfd(const char* what) { throw Failure(CUDA_ERROR_EXTERNAL_DEVICE, what); }
[[noreturn]] void fail_full() { fail_eventfd("the eventfd has been signalled too often"); }

// While it lives, nothing waits for the descriptor, here and in other processes.
class NonBlocking {
 public:
  explicit NonBlocking(int descriptor) : descriptor_(descriptor), flags_(fcntl(descriptor, F_GETFL)) {
    fcntl(descriptor_, F_SETFL, flags_ | O_NONBLOCK);
  }
  ~NonBlocking() { fcntl(descriptor_, F_SETFL, flags_); }
  NonBlocking(const NonBlocking&) = delete;
  NonBlocking& operator=(const NonBlocking&) = delete;

 private:
  const int descriptor_;
  const int flags_;
};

}  // namespace

EventfdSemaphore::EventfdSemaphore(std::shared_ptr<Context> context, memory::Descriptor descriptor)
    : ExternalSemaphore(std::move(context)),
      descriptor_(std::move(descriptor)),
      needs_plain_reads_(!system_reads_without_waiting()) {
  require(is_eventfd(descriptor_), CUDA_ERROR_INVALID_HANDLE,
          "the file descriptor is not one of eventfd(), which is what softgpu takes for OPAQUE_FD");
  const bool non_blocking = (fcntl(descriptor_.number(), F_GETFL) & O_NONBLOCK) != 0;
  require(!needs_plain_reads_ || non_blocking, CUDA_ERROR_NOT_SUPPORTED,
          "on this system the eventfd has to be made with EFD_NONBLOCK; from Linux 5.8 on it need not be");
}

void EventfdSemaphore::signal(std::uint64_t) {
  order_.fetch_add(1, std::memory_order_release);
  add(1);
}

// A write would wait while the counter has no room, and there is none that says for itself that it doesn't. poll()
// tells of room for 1, which only somebody else who adds to a counter that is nearly full could take away meanwhile:
// here that is one thread at a time. A count that could fill the counter is written without waiting, at the price that
// no read or write of somebody else's waits in that moment.
void EventfdSemaphore::add(std::uint64_t count) {
  static std::mutex one_at_a_time;  // whichever objects have the same eventfd
  const std::scoped_lock lock(one_at_a_time);
  pollfd room{.fd = descriptor_.number(), .events = POLLOUT, .revents = 0};
  if (poll(&room, 1, 0) != 1 || (room.revents & POLLOUT) == 0) fail_full();
  constexpr std::uint64_t kFewEnough = std::uint64_t{1} << 32;
  const std::optional<NonBlocking> non_blocking =
      count > kFewEnough ? std::optional<NonBlocking>(std::in_place, descriptor_.number()) : std::nullopt;
  if (write(descriptor_.number(), &count, sizeof count) == sizeof count) return;
  if (errno == EAGAIN) fail_full();
  fail_eventfd("the eventfd can't be written");
}

bool EventfdSemaphore::take(std::uint64_t) {
  std::uint64_t count = 0;
  const ssize_t got = needs_plain_reads_ ? read(descriptor_.number(), &count, sizeof count)
                                         : read_without_waiting(descriptor_.number(), count);
  if (got < 0 && errno == EAGAIN) return false;
  if (got != sizeof count) fail_eventfd("the eventfd can't be read");
  order_.load(std::memory_order_acquire);
  if (count > 1) add(count - 1);  // it was made without EFD_SEMAPHORE, and gave all it had
  return true;
}

void EventfdSemaphore::sleep(std::uint32_t, std::chrono::microseconds limit) const {
  pollfd signalled{.fd = descriptor_.number(), .events = POLLIN, .revents = 0};
  const timespec time{.tv_sec = 0, .tv_nsec = std::chrono::nanoseconds(limit).count()};
  ppoll(&signalled, 1, &time, nullptr);
}

}  // namespace softgpu::runtime
