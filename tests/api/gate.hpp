// Holding a stream, so that a test knows that work on it has not run yet.
#pragma once

#include <cuprum/driver.hpp>
#include <cuprum/stream.hpp>
#include <semaphore>

namespace cuprum::tests {

/// Work queued on the stream after this waits until open() is called or the gate goes.
class Gate {
 public:
  explicit Gate(const Stream& stream) : stream_(stream) {
    auto wait = [](void* self) { static_cast<Gate*>(self)->semaphore_.acquire(); };
    driver::call<&driver::Api::cuLaunchHostFunc>(stream.handle(), static_cast<CUhostFn>(wait),
                                                 static_cast<void*>(this));
  }
  ~Gate() {
    open();
    stream_.sync();  // the callback refers to this object
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  void open() {
    if (!is_open_) semaphore_.release();
    is_open_ = true;
  }

 private:
  Stream stream_;
  std::binary_semaphore semaphore_{0};
  bool is_open_ = false;
};

}  // namespace cuprum::tests
