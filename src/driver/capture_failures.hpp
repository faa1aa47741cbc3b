// Calls that failed because a stream is being captured. They break the capture, which is noticed only when it ends: so
// the last of them is remembered, to say what it was.
#pragma once

#include <cuprum/driver.hpp>
#include <string>

namespace cuprum::driver {

struct CaptureFailure {
  unsigned long long count = 0;  ///< of all so far: tells whether there was one since somebody asked
  std::string text = {};         ///< of the last one
};

/// Whether a code says that a call and a capture did not go together.
inline bool is_capture_error(CUresult code) {
  return code >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED && code <= CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
}

/// Whether such a call has broken a capture, and did not come after another one that had.
inline bool breaks_capture(CUresult code) {
  return is_capture_error(code) && code != CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
}

CaptureFailure last_capture_failure();
void note_capture_failure(const std::string& text) noexcept;

}  // namespace cuprum::driver
