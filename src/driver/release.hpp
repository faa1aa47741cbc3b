// Calls of destructors: they never throw.
#pragma once

#include "driver/releasing.hpp"
#include "driver/usable.hpp"

namespace cuprum::inline CUPRUM_ABI::driver {

/// What became of a release. A driver that has shut down at the end of the process has nothing left to release, and a
/// fork's child owns nothing: both are no failures to tell of.
struct Released {
  CUresult code;
  std::size_t entry_point;

  explicit operator bool() const noexcept { return code == CUDA_SUCCESS; }
  void log() const noexcept {
    if (code != CUDA_SUCCESS && code != CUDA_ERROR_DEINITIALIZED) log_failed_release(code, entry_point);
  }
};

/// Calls an entry point that gives something back to the driver.
template <auto Entry, typename... Arguments>
Released try_release(Arguments... arguments) noexcept {
  const Api* table = usable_api();
  if (!table) return {CUDA_ERROR_DEINITIALIZED, 0};
  const auto& entry = table->*Entry;
  const WithoutHarmToCaptures harmless(*table);
  return {entry.function ? entry.function(arguments...) : CUDA_ERROR_NOT_SUPPORTED, entry.index};
}

/// The same; tells the log when it fails.
template <auto Entry, typename... Arguments>
bool release(Arguments... arguments) noexcept {
  const Released released = try_release<Entry>(arguments...);
  if (!released) [[unlikely]]
    released.log();
  return static_cast<bool>(released);
}

}  // namespace cuprum::inline CUPRUM_ABI::driver
