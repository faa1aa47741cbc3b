// What a release does besides: it tells when it fails, and leaves captures alone.
#pragma once

#include <atomic>
#include <cuprum/driver.hpp>

namespace cuprum::inline CUPRUM_ABI::driver {

/// Tells the log hook that a release failed.
void log_failed_release(CUresult code, std::size_t entry_point) noexcept;

/// How many captures of this library's have begun and not ended.
inline std::atomic<int> captures_under_way{0};

/// As long as it is there, no call of this thread is unsafe for a capture that is under way. The driver refuses such
/// calls, and the capture is lost with that; but what is released when the last who used it is gone, or the garbage is
/// collected, nobody can keep for later. Costs a load when nothing is captured.
class WithoutHarmToCaptures {
 public:
  explicit WithoutHarmToCaptures(const Api& api) noexcept
      : api_(captures_under_way.load(std::memory_order_relaxed) != 0 ? &api : nullptr) {
    if (api_) [[unlikely]]
      exchange();
  }
  ~WithoutHarmToCaptures() {
    if (api_) [[unlikely]]
      exchange();
  }
  WithoutHarmToCaptures(const WithoutHarmToCaptures&) = delete;
  WithoutHarmToCaptures& operator=(const WithoutHarmToCaptures&) = delete;

 private:
  void exchange() noexcept;

  const Api* api_;
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;  ///< the thread's, after the first exchange
};

}  // namespace cuprum::inline CUPRUM_ABI::driver
