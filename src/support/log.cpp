#include "support/log.hpp"

#include <cstdio>
#include <mutex>
#include <utility>

namespace cuprum::support {
namespace {

void print_to_stderr(std::string_view line) {
  std::fprintf(stderr, "cuprum: %.*s\n", static_cast<int>(line.size()), line.data());
}

struct Log {
  std::mutex mutex;
  LogSink sink = print_to_stderr;
};

// Never destroyed: handles in static variables are released, and may complain, after our own destructors would have
// run.
Log& the_log() {
  static Log& log = *new Log;
  return log;
}

}  // namespace

void log(std::string_view line) noexcept {
  try {
    std::lock_guard lock(the_log().mutex);
    the_log().sink(line);
  } catch (...) {
    print_to_stderr("the log hook threw an exception");
  }
}

LogSink set_log_sink(LogSink sink) {
  std::lock_guard lock(the_log().mutex);
  return std::exchange(the_log().sink, sink ? std::move(sink) : print_to_stderr);
}

}  // namespace cuprum::support
