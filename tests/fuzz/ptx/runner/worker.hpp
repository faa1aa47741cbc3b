// The driver in a process of its own, which may crash or hang.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>

#include "fuzz/ptx/runner/trial.hpp"

namespace ptx_fuzz {

/// What the process does: runs one program of standard input after the other, until it ends.
int work(unsigned optimisation);

/// Such a process, seen from outside. It is started when it is needed, and again when it crashed or hung.
class Worker {
 public:
  /// `width` is the value of SOFTGPU_WIDTH, or empty; `cache` a folder for compiled kernels, or empty; `optimisation`
  /// the driver's level.
  Worker(std::string width, std::string cache, unsigned optimisation)
      : width_(std::move(width)), cache_(std::move(cache)), optimisation_(optimisation) {}
  ~Worker() { stop(); }
  Worker(Worker&& other) noexcept;
  Worker& operator=(Worker&&) = delete;

  Verdict run(const Trial& trial, std::chrono::milliseconds limit);

 private:
  void start();
  void stop();
  std::string end_of_process();
  bool send(const Launch& launch);
  struct Patience {
    std::chrono::steady_clock::time_point end;
    std::chrono::milliseconds limit, used_before;  // the latter in processor time
    unsigned extensions = 9;
    bool is_over = false;
  };
  std::chrono::milliseconds processor_time() const;
  bool has_given_up(Patience& patience) const;
  bool receive(std::size_t bytes, Patience& patience, std::string& text);

  std::string width_, cache_;
  unsigned optimisation_;
  pid_t process_ = -1;
  int to_ = -1, from_ = -1;
};

}  // namespace ptx_fuzz
