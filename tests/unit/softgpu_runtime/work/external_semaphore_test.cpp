// External semaphores without a driver around them: who waits and who signals are threads.
#include "softgpu/runtime/work/external_semaphore.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "softgpu/runtime/base/error.hpp"

namespace softgpu::runtime {
namespace {

using Semaphore = std::shared_ptr<ExternalSemaphore>;

// No context: the semaphores themselves don't ask for it.
Semaphore import(CUexternalSemaphoreHandleType type, int descriptor) {
  return ExternalSemaphore::import(nullptr, type, descriptor);
}
Semaphore make_eventfd(unsigned count = 0, int flags = 0) {
  return import(CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD, eventfd(count, flags | EFD_CLOEXEC));
}
Semaphore make_timeline() {
  const int descriptor = memfd_create("timeline", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  EXPECT_EQ(ftruncate(descriptor, sizeof(std::uint64_t)), 0);
  return import(CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD, descriptor);
}

// How many waits are over.
class Count {
 public:
  void add() {
    const std::scoped_lock lock(mutex_);
    ++count_;
    changed_.notify_all();
  }
  void await(int wanted) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return count_ >= wanted; });
  }
  int get() {
    const std::scoped_lock lock(mutex_);
    return count_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
};

// As an Op waits.
void wait_for(const Semaphore& semaphore, std::uint64_t value, Count& over) {
  if (semaphore->take(value)) return over.add();
  semaphore->wait([&semaphore = *semaphore, value] { return semaphore.take(value); }, [&over] { over.add(); });
}

TEST(ExternalSemaphore, AnEventfdHasAsManyTakersAsSignals) {
  for (const int flags : {0, int{EFD_SEMAPHORE}, int{EFD_NONBLOCK}}) {
    const Semaphore semaphore = make_eventfd(2, flags);
    EXPECT_TRUE(semaphore->take(0));
    EXPECT_TRUE(semaphore->take(0));
    EXPECT_FALSE(semaphore->take(0));
    semaphore->signal(0);
    EXPECT_TRUE(semaphore->take(0));
    EXPECT_FALSE(semaphore->take(0));
  }
}

// A write of an eventfd waits while its counter has no room.
constexpr std::uint64_t kFull = UINT64_MAX - 1;

TEST(ExternalSemaphore, ThreadsThatFillAnEventfdDoNotWait) {
  const int descriptor = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
  const int own = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  const Semaphore semaphore = import(CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD, descriptor);
  ASSERT_EQ(eventfd_write(own, kFull - 1), 0);
  for (int round = 0; round < 300; ++round) {
    std::atomic<int> refused{0}, ready{0};
    const auto signal = [&] {
      ++ready;
      while (ready < 2) std::this_thread::yield();
      try {
        semaphore->signal(0);
      } catch (const Failure&) {
        ++refused;
      }
    };
    std::thread other(signal);
    signal();
    other.join();
    ASSERT_EQ(refused, 1);
    ASSERT_TRUE(semaphore->take(0));
  }
  close(own);
}

// Made without EFD_SEMAPHORE, it gives all it has: what is put back may not fit any more.
TEST(ExternalSemaphore, TakingFromAnEventfdThatOthersFillDoesNotWait) {
  constexpr std::uint64_t kMoreThanHalf = (std::uint64_t{1} << 63) + 1000;
  for (int round = 0; round < 300; ++round) {
    const int descriptor = eventfd(0, EFD_CLOEXEC);
    const int own = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    const Semaphore semaphore = import(CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD, descriptor);
    ASSERT_EQ(eventfd_write(own, kMoreThanHalf), 0);
    std::atomic<bool> has_added{false};
    std::thread adder([&] {
      // Waits for a moment in which there is room, but for one in which nobody waits.
      while (eventfd_write(own, kMoreThanHalf) != 0) std::this_thread::yield();
      has_added = true;
    });
    for (int i = 0; i < 200 && !has_added; ++i) {
      try {
        EXPECT_TRUE(semaphore->take(0));
      } catch (const Failure&) {
        break;  // the adder was faster, and both don't fit
      }
    }
    std::uint64_t rest = 0;
    if (!has_added) {
      EXPECT_EQ(eventfd_read(own, &rest), 0);
    }
    adder.join();
    close(own);
  }
}

TEST(ExternalSemaphore, ATimelineGrows) {
  const Semaphore semaphore = make_timeline();
  EXPECT_TRUE(semaphore->take(0));
  EXPECT_FALSE(semaphore->take(1));
  semaphore->signal(7);
  EXPECT_TRUE(semaphore->take(7));
  EXPECT_FALSE(semaphore->take(8));
  for (const std::uint64_t value : {7U, 6U, 0U}) EXPECT_THROW(semaphore->signal(value), Failure);
  EXPECT_TRUE(semaphore->take(7));
}

TEST(ExternalSemaphore, ManyThreadsSignalAndWaitForAnEventfd) {
  constexpr int kThreads = 4, kEach = 200;
  const Semaphore semaphore = make_eventfd();
  Count over;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < kEach; ++n) wait_for(semaphore, 0, over);
    });
    threads.emplace_back([&] {
      for (int n = 0; n < kEach; ++n) semaphore->signal(0);
    });
  }
  for (std::thread& thread : threads) thread.join();
  over.await(kThreads * kEach);
  EXPECT_FALSE(semaphore->take(0));
}

// What was written before a signal is read after the wait, by whichever thread that ends on.
TEST(ExternalSemaphore, OrdersWhatIsBeforeASignalAndBehindAWait) {
  for (const Semaphore& semaphore : {make_eventfd(), make_timeline()}) {
    std::mt19937 random(5);
    int data = 0;
    Count over;
    for (int round = 1; round <= 300; ++round) {
      const auto value = static_cast<std::uint64_t>(round);
      int seen = 0;
      const auto begin = [&] {
        semaphore->wait([&] { return semaphore->take(value); },
                        [&] {
                          seen = data;
                          over.add();
                        });
      };
      const bool early = random() % 2 == 0;
      if (early) begin();
      data = round;
      semaphore->signal(value);
      if (!early) begin();
      over.await(round);
      ASSERT_EQ(seen, round);
    }
  }
}

TEST(ExternalSemaphore, WaitsForTimelinesEndAtTheirOwnValues) {
  constexpr int kWaits = 100;
  const Semaphore semaphore = make_timeline();
  std::mt19937 random(6);
  Count over;
  std::vector<int> waits_for(kWaits + 1);
  for (int i = 0; i < 400; ++i) {
    const std::uint64_t value = 1 + random() % kWaits;
    wait_for(semaphore, value, over);
    ++waits_for[value];
  }
  int ended = 0;
  for (int value = 1; value <= kWaits; ++value) {
    semaphore->signal(static_cast<std::uint64_t>(value));
    ended += waits_for[static_cast<std::size_t>(value)];
    over.await(ended);
    ASSERT_EQ(over.get(), ended);
  }
}

// Conditions that have nothing to do with the semaphore are seen a little later.
TEST(ExternalSemaphore, LooksAlsoWithoutASignal) {
  for (const Semaphore& semaphore : {make_eventfd(), make_timeline()}) {
    std::atomic<bool> given_up{false};
    Count over;
    semaphore->wait([&] { return given_up.load(); }, [&] { over.add(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_EQ(over.get(), 0);
    given_up = true;
    over.await(1);
  }
}

}  // namespace
}  // namespace softgpu::runtime
