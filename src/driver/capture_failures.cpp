#include "driver/capture_failures.hpp"

#include <mutex>

namespace cuprum::driver {
namespace {

struct Noted {
  std::mutex mutex;
  CaptureFailure last;
};

Noted& noted() {
  static Noted* const the_one = new Noted;  // destructors may need it at the end of the process
  return *the_one;
}

}  // namespace

CaptureFailure last_capture_failure() {
  std::lock_guard lock(noted().mutex);
  return noted().last;
}

void note_capture_failure(const std::string& text) noexcept {
  std::lock_guard lock(noted().mutex);
  ++noted().last.count;
  try {
    noted().last.text = text;
  } catch (...) {
    noted().last.text.clear();  // no memory left: it is only for a message
  }
}

}  // namespace cuprum::driver
