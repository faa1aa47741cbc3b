// Running a probe in a process of its own. Libraries of others crash, hang, print, and can't be unloaded; the doctor
// has to survive that, and to look at two drivers.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <utility>

namespace cuprum::cli {

struct ProbeResult {
  std::string text;     ///< what the probe returned
  std::string problem;  ///< why there is nothing: "ended by signal 11 (Segmentation fault)", an exception's words…
};

/// A probe under way: `probe` is called in a forked process whose standard streams lead nowhere, for at most `seconds`.
/// Several may be under way at once. This process must not have used CUDA.
class Probe {
 public:
  explicit Probe(const std::function<std::string()>& probe, int seconds = 60);
  Probe(Probe&& other) noexcept : child_(std::exchange(other.child_, -1)), answer_(std::exchange(other.answer_, -1)) {}
  Probe(const Probe&) = delete;
  ~Probe();

  /// Waits for the end of the probe. To be called once.
  ProbeResult finish();

 private:
  pid_t child_ = -1;
  int answer_ = -1;  // end of a pipe
};

}  // namespace cuprum::cli
