// Programs in a process of their own, which may crash or hang.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>

#include "fuzz/ptx/runner/trial.hpp"

namespace ptx_fuzz {

/// What the process does: answers one line of standard input after the other, until it ends.
int work(const Features& allowed);

/// Such a process, seen from outside. It is started when it is needed, and again when it crashed or hung.
class Worker {
 public:
  /// `width` is the value of SOFTGPU_WIDTH, or empty; `features` the list to pass on, or empty.
  Worker(std::string width, std::string features) : width_(std::move(width)), features_(std::move(features)) {}
  ~Worker() { stop(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  Verdict run(const Choice& choice, std::chrono::milliseconds limit);

 private:
  void start();
  void stop();
  std::string end_of_process();
  bool send(const std::string& line);
  bool receive(std::size_t bytes, std::chrono::steady_clock::time_point deadline, bool& in_time, std::string& text);

  std::string width_, features_;
  pid_t process_ = -1;
  int to_ = -1, from_ = -1;
};

}  // namespace ptx_fuzz
