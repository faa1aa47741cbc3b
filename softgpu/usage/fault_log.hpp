// Kernels that ended their context, as the processes of a user note them and as whoever waits for that reads them.
//
// They are in a file beside the processes' pages, which all of them append to. So a process may end right after, and
// who waits need not be there just then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "softgpu/usage/folder.hpp"

namespace softgpu::usage {

struct Fault {
  std::uint64_t pid_namespace;  // of the process
  std::uint32_t unit;           // which of the machine's devices
  std::uint32_t xid;            // the number NVIDIA's driver gives to an error of this kind
};

// A value; threads and processes may share what it stands for.
class FaultLog {
 public:
  // Of a process that others can't see: what is noted goes nowhere.
  FaultLog() = default;
  // In the folder of the processes' pages.
  explicit FaultLog(std::string folder) : folder_(std::move(folder)) {}

  // Where that does not work, nobody hears of it.
  void note(const Fault& fault) const noexcept;

 private:
  std::string folder_;
};

// Not thread-safe.
class FaultReader {
 public:
  // Begins with what is noted from now on. `folder`: empty for the user's own.
  explicit FaultReader(const std::string& folder);

  // What was noted since it was asked last, the oldest first.
  std::vector<Fault> next();

 private:
  File open_current() const;
  void read_rest(std::vector<Fault>& found);

  std::string folder_;
  File file_{-1};         // not open: there is none yet
  std::size_t done_ = 0;  // bytes of it that were read
};

}  // namespace softgpu::usage
