// What keeps a stream busy until the test lets it go on: ordering is proven with it, never with sleeping.
#pragma once

#include <atomic>
#include <memory>
#include <thread>

#include "conformance/driver.hpp"
#include "conformance/kernels.hpp"

namespace conformance {

// A host function that holds the stream.
class Gate {
 public:
  explicit Gate(CUstream stream) { EXPECT_SUCCESS(CU(cuLaunchHostFunc)(stream, hold, new Flag(open_))); }
  ~Gate() { open(); }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  void open() { *open_ = true; }

 private:
  using Flag = std::shared_ptr<std::atomic<bool>>;
  // Owns its argument: the gate may be gone by the time the function sees that it is open.
  static void hold(void* argument) {
    const std::unique_ptr<Flag> open(static_cast<Flag*>(argument));
    while (!(*open)->load()) std::this_thread::yield();
  }

  Flag open_ = std::make_shared<std::atomic<bool>>(false);
};

// Reads what work behind a latch is going to write. The kernel that sees the latch open is generated code, in which
// ThreadSanitizer sees no order; so it may not see this, either.
template <typename T>
__attribute__((noinline, no_sanitize("thread"))) T peek(const T* value) {
  return *static_cast<const volatile T*>(value);
}

// A kernel that holds the stream: it spins on a flag in page-locked memory. The latch has to outlive the kernel.
class Latch {
 public:
  explicit Latch(CUstream stream) {
    EXPECT_SUCCESS(launch(module_.function("wait_for"), 1, 1, stream, flag_.device()));
  }
  ~Latch() {
    open();
    EXPECT_SUCCESS(CU(cuCtxSynchronize)());
  }
  Latch(const Latch&) = delete;
  Latch& operator=(const Latch&) = delete;
  void open() { reinterpret_cast<volatile int&>(flag_[0]) = 1; }

 private:
  const TestModule module_{kKernels};
  const PinnedMemory<int> flag_{1};
};

}  // namespace conformance
