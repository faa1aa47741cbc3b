// What the tests of exec share: launches written in one line, kernels written in C++.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <new>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "softgpu/exec/pool.hpp"

extern "C" void* softgpu_rt_allocate_frame(std::uint64_t bytes, std::uint64_t alignment);

namespace softgpu::exec {

// A launch whose only parameter is a pointer.
inline GridLaunch launch_of(KernelCode code, abi::Dim3 grid, abi::Dim3 block, void* argument = nullptr) {
  GridLaunch launch{.code = code, .grid = grid, .block = block, .kernel_name = "test_kernel"};
  launch.params.resize(sizeof argument);
  std::memcpy(launch.params.data(), &argument, sizeof argument);
  return launch;
}

template <typename T>
T& argument(const abi::Block& block) {
  T* pointer;
  std::memcpy(&pointer, block.params, sizeof pointer);
  return *pointer;
}

inline KernelCode plain(abi::RunBlock function) { return {.run_block = function}; }

// Submits and keeps the result; wait() helps.
class Submitted {
 public:
  Submitted(Pool& pool, GridLaunch launch) : pool_(pool), queue_(launch.queue) {
    launch.on_done = [this](Outcome outcome, std::string_view reason) {
      outcome_ = outcome;
      reason_ = reason;
      calls_.fetch_add(1);
    };
    pool.submit(std::move(launch));
  }
  ~Submitted() { wait(); }
  Submitted(const Submitted&) = delete;

  bool done() const { return calls_.load() > 0; }
  Outcome wait() {
    pool_.wait_until([this] { return done(); }, queue_);
    EXPECT_EQ(calls_.load(), 1);
    return outcome_;
  }
  const std::string& reason() const { return reason_; }

 private:
  Pool& pool_;
  const void* queue_;
  Outcome outcome_ = Outcome::completed;
  std::string reason_;
  std::atomic<int> calls_{0};
};

inline Outcome run(Pool& pool, GridLaunch launch) { return Submitted(pool, std::move(launch)).wait(); }

// A store that neither the compiler nor a sanitizer sees through, as in generated code.
__attribute__((noinline, no_sanitize("thread", "address", "undefined"))) inline void write_to(std::uintptr_t address) {
  asm volatile("" : "+r"(address));
  *reinterpret_cast<volatile char*>(address) = 1;
}

// For what must happen without anybody waiting in the pool.
template <typename Condition>
bool happens(Condition condition, std::chrono::seconds limit = std::chrono::seconds(20)) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return true;
}

// A gang of a kernel with suspend points, as the compiler makes them: the first word is the function that resumes it.
struct Frame {
  abi::ResumeGang resume;
  abi::Gang* gang;
  int state;
  std::uint64_t value;

  const abi::Block& block() const { return *gang->block; }
  bool is_first() const { return gang->first_thread == 0; }

  // The suspend points; a step returns what they return.
  bool barrier(std::uint32_t id = 0, std::uint32_t threads = 0) {
    gang->reason = abi::Suspend::barrier;
    gang->barrier_id = id;
    gang->barrier_threads = threads;
    gang->arrived = gang->lanes;
    gang->reduction = abi::BarrierReduction::none;
    gang->reduction_in = 0;
    return true;
  }
  bool reduce(abi::BarrierReduction reduction, std::uint32_t how_many_true) {
    barrier();
    gang->reduction = reduction;
    gang->reduction_in = how_many_true;
    return true;
  }
  bool yield() {
    gang->reason = abi::Suspend::yield;
    return true;
  }
  bool sleep(std::uint32_t nanoseconds) {
    gang->reason = abi::Suspend::sleep;
    gang->nanoseconds = nanoseconds;
    return true;
  }
  bool end() { return false; }
};

// `Step` runs a gang up to its next suspend point; it says whether there is one. Frame::state counts the steps.
template <bool (*Step)(Frame&)>
struct Gangs {
  static void resume(void* frame) {
    Frame& self = *static_cast<Frame*>(frame);
    if (!Step(self)) self.resume = nullptr;
    ++self.state;
  }
  static void* start(abi::Gang* gang) {
    auto* frame = new (softgpu_rt_allocate_frame(sizeof(Frame), alignof(Frame))) Frame{resume, gang, 0, 0};
    resume(frame);
    return frame->resume ? frame : nullptr;
  }
  static KernelCode code(unsigned width = 8) { return {.start_gang = start, .width = width}; }
};

}  // namespace softgpu::exec
