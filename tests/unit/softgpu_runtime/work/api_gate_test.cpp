#include "softgpu/runtime/work/api_gate.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

namespace softgpu::runtime {
namespace {

void wait_for_waiting(unsigned calls) {
  while (ApiGate::get().waiting() != calls) std::this_thread::yield();
}

TEST(ApiGateTest, IsEmptyWhenTheLastCallHasLeft) {
  ApiGate& gate = ApiGate::get();
  EXPECT_TRUE(gate.is_empty());
  {
    const CallPass pass;
    EXPECT_FALSE(gate.is_empty());
  }
  EXPECT_TRUE(gate.is_empty());
}

TEST(ApiGateTest, ACallWithinACallPassesWhenItIsClosed) {
  ApiGate& gate = ApiGate::get();
  {
    const CallPass outer;
    gate.close();
    const CallPass inner;
    EXPECT_FALSE(gate.is_empty());
  }
  EXPECT_TRUE(gate.is_empty());
  gate.open();
}

TEST(ApiGateTest, CallsWaitUntilItIsOpened) {
  ApiGate& gate = ApiGate::get();
  gate.close();
  std::atomic<int> inside = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      const CallPass pass;
      ++inside;
    });
  wait_for_waiting(4);
  EXPECT_TRUE(gate.is_empty());
  EXPECT_EQ(inside, 0);
  gate.open();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(inside, 4);
}

// Once the gate is closed and empty, nobody is inside, however fast calls come.
TEST(ApiGateTest, NobodyGetsPastAClosedGate) {
  ApiGate& gate = ApiGate::get();
  std::atomic<bool> end = false;
  std::atomic<int> inside = 0, calls = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      while (!end) {
        const CallPass pass;
        ++inside;
        ++calls;
        --inside;
      }
    });
  for (int round = 0; round < 100; ++round) {
    const int before = calls;
    while (calls == before) std::this_thread::yield();
    gate.close();
    while (!gate.is_empty()) std::this_thread::yield();
    const int held = calls;
    EXPECT_EQ(inside, 0);
    std::this_thread::yield();
    EXPECT_EQ(calls, held);
    gate.open();
  }
  end = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace softgpu::runtime
