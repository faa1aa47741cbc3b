// What the library tells its log.
#pragma once

#include <cuprum/diagnostics.hpp>
#include <string>
#include <vector>

namespace cuprum::tests {

/// Collects what is logged, in place of the check that nothing is.
class CapturedLog {
 public:
  CapturedLog() : before_(set_log_hook([this](std::string_view line) { lines.emplace_back(line); })) {}
  ~CapturedLog() { set_log_hook(before_); }
  CapturedLog(const CapturedLog&) = delete;
  CapturedLog& operator=(const CapturedLog&) = delete;

  std::vector<std::string> lines;

 private:
  LogHook before_;
};

}  // namespace cuprum::tests
