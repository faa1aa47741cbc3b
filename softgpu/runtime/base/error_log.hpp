// What the driver has to say of calls and of work that failed, in words: cuLogs*, and the file that CUDA_LOG_FILE
// names.
//
// A result code can't carry a reason, so the reason comes here, followed by a line in the words of NVIDIA's driver:
//
//   the block has 2048 threads; the kernel can have 1024
//   Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuLaunchKernel
//
// Messages are handed to callbacks on the thread whose call failed, before the call returns, and the last ones are
// kept.
#pragma once

#include <cuda.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace softgpu::runtime {

// Thread-safe. Works in any state of the driver.
class ErrorLog {
 public:
  // As much is kept, and a dump is no longer.
  static constexpr std::size_t kKeptBytes = 25600;

  // The one of the process; never destroyed. CUDA_LOG_FILE, if set, is "stdout", "stderr" or a file's path.
  static ErrorLog& get();

  // `file` as in CUDA_LOG_FILE; null for none.
  explicit ErrorLog(const char* file);
  ~ErrorLog();
  ErrorLog(const ErrorLog&) = delete;
  ErrorLog& operator=(const ErrorLog&) = delete;

  void add(CUlogLevel level, std::string_view message);

  // Callbacks may call the driver, this log included.
  CUlogsCallbackHandle add_callback(CUlogsCallback function, void* data);
  // When it returns, the callback is not running, except where the callback itself asks. False for one that is not
  // there.
  bool remove_callback(CUlogsCallbackHandle callback);

  // Counts messages: the number that the next one gets.
  CUlogIterator end() const;
  // The messages from that one on, one per line, with when, where and how bad. Of what is longer than `room` the last
  // ones, and what was lost is said first. Empty with `fits` false when the room is too small for the last one.
  struct Dump {
    std::string text;
    CUlogIterator end = 0;
    bool fits = true;
  };
  Dump dump(CUlogIterator from, std::size_t room = kKeptBytes) const;

 private:
  struct Message {
    std::chrono::system_clock::time_point when;
    int thread;
    CUlogLevel level;
    std::string text;

    std::string line() const;
  };
  struct Callback;

  void keep(const Message& message);
  void tell(const Message& message);

  mutable std::mutex mutex_;  // messages_, first_, kept_bytes_, callbacks_; not held while callbacks run
  std::deque<Message> messages_;
  CUlogIterator first_ = 0;  // the number of messages_.front()
  std::size_t kept_bytes_ = 0;
  std::vector<std::shared_ptr<Callback>> callbacks_;
  std::FILE* file_ = nullptr;
};

}  // namespace softgpu::runtime
