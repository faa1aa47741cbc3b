// External semaphores for tests: what softgpu imports, which is nothing that NVIDIA's driver does.
#pragma once

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "conformance/driver.hpp"

namespace conformance {

using SignalParams = CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS;
using WaitParams = CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS;

constexpr auto kEventfdType = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD;
constexpr auto kTimelineType = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD;

// A descriptor that is closed with the object.
class OwnedDescriptor {
 public:
  explicit OwnedDescriptor(int number) : number_(number) { EXPECT_GE(number, 0); }
  ~OwnedDescriptor() { close(number_); }
  OwnedDescriptor(const OwnedDescriptor&) = delete;
  OwnedDescriptor& operator=(const OwnedDescriptor&) = delete;
  int get() const { return number_; }
  // Another one, for whoever takes it over.
  int duplicate() const { return fcntl(number_, F_DUPFD_CLOEXEC, 0); }

 private:
  const int number_;
};

inline bool is_open(int descriptor) { return fcntl(descriptor, F_GETFD) >= 0; }

inline CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC semaphore_description(CUexternalSemaphoreHandleType type, int descriptor) {
  CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC description{};
  description.type = type;
  description.handle.fd = descriptor;
  return description;
}

// Imports what is described and lets go of it: `import` and `destroy` are the driver's functions for that.
template <typename Handle, typename Description>
CUresult import_and_destroy(CUresult (*import)(Handle*, const Description*), CUresult (*destroy)(Handle),
                            const std::type_identity_t<Description>& description) {
  Handle imported = nullptr;
  const CUresult result = import(&imported, &description);
  if (result == CUDA_SUCCESS) {
    EXPECT_SUCCESS(destroy(imported));
  }
  return result;
}

class TestSemaphore {
 public:
  // Takes the descriptor over.
  TestSemaphore(CUexternalSemaphoreHandleType type, int descriptor) {
    const auto description = semaphore_description(type, descriptor);
    EXPECT_SUCCESS(CU(cuImportExternalSemaphore)(&semaphore_, &description));
  }
  ~TestSemaphore() {
    if (semaphore_ != nullptr) {
      EXPECT_SUCCESS(CU(cuDestroyExternalSemaphore)(semaphore_));
    }
  }
  TestSemaphore(const TestSemaphore&) = delete;
  TestSemaphore& operator=(const TestSemaphore&) = delete;
  CUexternalSemaphore get() const { return semaphore_; }
  void destroy() { EXPECT_SUCCESS(CU(cuDestroyExternalSemaphore)(std::exchange(semaphore_, nullptr))); }

  void signal(CUstream stream, std::uint64_t value = 0) const {
    SignalParams params{};
    params.params.fence.value = value;
    EXPECT_SUCCESS(CU(cuSignalExternalSemaphoresAsync)(&semaphore_, &params, 1, stream));
  }
  void wait(CUstream stream, std::uint64_t value = 0) const {
    WaitParams params{};
    params.params.fence.value = value;
    EXPECT_SUCCESS(CU(cuWaitExternalSemaphoresAsync)(&semaphore_, &params, 1, stream));
  }

 private:
  CUexternalSemaphore semaphore_ = nullptr;
};

// The program's side of an eventfd.
class Eventfd {
 public:
  explicit Eventfd(unsigned count = 0, int flags = EFD_SEMAPHORE) : descriptor_(eventfd(count, flags | EFD_CLOEXEC)) {}
  explicit Eventfd(const OwnedDescriptor& other) : descriptor_(other.duplicate()) {}
  int descriptor() const { return descriptor_.get(); }
  int duplicate() const { return descriptor_.duplicate(); }
  void add(std::uint64_t count = 1) const { EXPECT_EQ(eventfd_write(descriptor_.get(), count), 0); }
  // How much is in it, all of which is taken.
  std::uint64_t drain() const {
    std::uint64_t all = 0, count = 0;
    const int flags = fcntl(descriptor_.get(), F_GETFL);
    fcntl(descriptor_.get(), F_SETFL, flags | O_NONBLOCK);
    while (eventfd_read(descriptor_.get(), &count) == 0) all += count;
    fcntl(descriptor_.get(), F_SETFL, flags);
    return all;
  }

 private:
  const OwnedDescriptor descriptor_;
};

// The program's side of a timeline.
class Timeline {
 public:
  Timeline() : Timeline(make()) {}
  // Takes the descriptor over.
  explicit Timeline(int descriptor) : descriptor_(descriptor) {
    page_ = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    EXPECT_NE(page_, MAP_FAILED);
  }
  ~Timeline() { munmap(page_, kBytes); }
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  int duplicate() const { return descriptor_.duplicate(); }
  std::uint64_t value() const { return counter().load(); }
  void store(std::uint64_t value) const { counter().store(value); }
  void signal(std::uint64_t value) const {
    store(value);
    wake();
  }
  // Blocks the calling thread.
  void wait(std::uint64_t value) const {
    while (this->value() < value) {
      const auto now = static_cast<std::uint32_t>(this->value());
      const timespec limit{.tv_sec = 0, .tv_nsec = 1'000'000};
      if (this->value() < value) syscall(SYS_futex, page_, FUTEX_WAIT, now, &limit, nullptr, 0);
    }
  }
  void wake() const { syscall(SYS_futex, page_, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0); }

 private:
  static constexpr std::size_t kBytes = 8;
  static int make() {
    const int descriptor = memfd_create("timeline", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    EXPECT_EQ(ftruncate(descriptor, kBytes), 0);
    return descriptor;
  }
  std::atomic<std::uint64_t>& counter() const { return *static_cast<std::atomic<std::uint64_t>*>(page_); }

  const OwnedDescriptor descriptor_;
  void* page_ = nullptr;
};

// For tests of what there is in softgpu alone.
class SemaphoreTest : public DriverTest {
 protected:
  void SetUp() override {
    if (!is_softgpu()) GTEST_SKIP() << "NVIDIA's driver imports semaphores of graphics APIs, and none of Linux";
    DriverTest::SetUp();
  }
  void TearDown() override {
    if (is_softgpu()) DriverTest::TearDown();
  }
};

}  // namespace conformance
