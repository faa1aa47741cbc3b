// Calls of destructors: they never throw.
#pragma once

#include "driver/usable.hpp"

namespace cuprum::driver {

/// Tells the log hook that a release failed.
void log_failed_release(CUresult code, std::size_t entry_point) noexcept;

/// Calls an entry point that gives something back to the driver. A driver that has shut down at the end of the process
/// has nothing left to release, and a fork's child owns nothing: both are no failures.
template <auto Entry, typename... Arguments>
bool release(Arguments... arguments) noexcept {
  const Api* table = usable_api();
  if (!table) return false;
  const auto& entry = table->*Entry;
  CUresult code = entry.function ? entry.function(arguments...) : CUDA_ERROR_NOT_SUPPORTED;
  if (code == CUDA_SUCCESS) return true;
  if (code != CUDA_ERROR_DEINITIALIZED) log_failed_release(code, entry.index);
  return false;
}

}  // namespace cuprum::driver
