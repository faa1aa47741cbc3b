// Kernels that wait for the host, and a record of what ran in which order: how tests prove that streams order work.
//
//   Latch latch(device);
//   Trace trace(device);
//   latch.hold(first);              // what follows on `first` does not run...
//   trace.note(1, first);
//   trace.note(2, second);
//   second.sync();                  // ...while other streams go on
//   latch.open();                   // ...until now
//   first.sync();
//   EXPECT_THAT(trace.noted(), ElementsAre(2, 1));
#pragma once

#include <atomic>
#include <vector>

#include "api/fixture.hpp"

namespace cuprum::tests {

/// A few integers in page-locked memory that the host and kernels read and write while both run.
class SharedIntegers {
 public:
  SharedIntegers(const Device& device, std::size_t count)
      : stream_(device.create_stream()), buffer_(PinnedMemoryResource().allocate(count * sizeof(int), stream_)) {
    values_ = buffer_.as_span<int>();
    for (std::size_t i = 0; i < count; ++i) store(i, 0);
  }
  DevicePointer address(std::size_t index = 0) const { return buffer_.handle() + index * sizeof(int); }
  int load(std::size_t index) const { return std::atomic_ref(values_[index]).load(); }
  void store(std::size_t index, int value) const { std::atomic_ref(values_[index]).store(value); }

 private:
  Stream stream_;
  Buffer buffer_;
  std::span<int> values_;
};

/// Holds streams until it is opened, at the latest when it goes.
class Latch {
 public:
  explicit Latch(const Device& device) : is_open_(device, 1), kernel_(compile(source, "wait_for_host")) {
    // Code may be loaded at its first launch, for which nothing else may run: so that is now.
    is_open_.store(0, 1);
    Stream stream = device.create_stream();
    hold(stream);
    stream.sync();
    is_open_.store(0, 0);
  }
  ~Latch() {
    open();
    for (const Stream& stream : held_) stream.sync();
  }
  Latch(const Latch&) = delete;
  Latch& operator=(const Latch&) = delete;

  void hold(const Stream& stream) {
    launch(stream, {.grid = 1, .block = 1}, kernel_, is_open_.address());
    held_.push_back(stream);
  }
  void open() const { is_open_.store(0, 1); }

 private:
  static constexpr const char* source = R"(
    extern "C" __global__ void wait_for_host(volatile int* is_open) {
      while (!*is_open) __nanosleep(1000);
    })";
  SharedIntegers is_open_;
  Kernel kernel_;
  std::vector<Stream> held_;
};

/// Numbers that kernels note down as they run.
class Trace {
 public:
  explicit Trace(const Device& device) : cells_(device, capacity + 1), kernel_(compile(source, "note")) {
    Stream stream = device.create_stream();
    note(0, stream);
    stream.sync();
    cells_.store(0, 0);
  }

  /// When the stream gets here, `number` is noted.
  void note(int number, const Stream& stream) const {
    launch(stream, {.grid = 1, .block = 1}, kernel_, cells_.address(), number);
  }

  /// What was noted so far, in this order.
  std::vector<int> noted() const {
    std::vector<int> numbers;
    for (int i = 0; i < cells_.load(0); ++i) numbers.push_back(cells_.load(static_cast<std::size_t>(i) + 1));
    return numbers;
  }

 private:
  static constexpr std::size_t capacity = 30;
  static constexpr const char* source = R"(
    extern "C" __global__ void note(int* cells, int number) {
      int index = ((volatile int*)cells)[0];   // the streams of a test order the notes
      cells[index + 1] = number;
      __threadfence_system();
      ((volatile int*)cells)[0] = index + 1;
    })";
  SharedIntegers cells_;
  Kernel kernel_;
};

}  // namespace cuprum::tests
