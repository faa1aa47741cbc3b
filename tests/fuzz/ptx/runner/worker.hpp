// The driver in a process of its own, which may crash or hang.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>

#include "fuzz/ptx/runner/trial.hpp"

namespace ptx_fuzz {

/// What the process does: runs one program of standard input after the other, until it ends.
int work();

/// Such a process, seen from outside. It is started when it is needed, and again when it crashed or hung.
class Worker {
 public:
  /// `width` is the value of SOFTGPU_WIDTH, or empty; `cache` a folder for compiled kernels, or empty.
  Worker(std::string width, std::string cache) : width_(std::move(width)), cache_(std::move(cache)) {}
  ~Worker() { stop(); }
  Worker(Worker&& other) noexcept;
  Worker& operator=(Worker&&) = delete;

  Verdict run(const Trial& trial, std::chrono::milliseconds limit);

 private:
  void start();
  void stop();
  std::string end_of_process();
  bool send(const Launch& launch);
  bool receive(std::size_t bytes, std::chrono::steady_clock::time_point deadline, bool& in_time, std::string& text);

  std::string width_, cache_;
  pid_t process_ = -1;
  int to_ = -1, from_ = -1;
};

}  // namespace ptx_fuzz
