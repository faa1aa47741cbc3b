// What the raw tables have in common: those of NVRTC, nvJitLink, libNVVM and NVML, and in part the driver's.
#pragma once

#include <cstddef>
#include <cuprum/detail/export.hpp>
#include <string>

namespace cuprum::inline CUPRUM_ABI::detail {

/// One slot of a table. Call it like the C function; it is null when the library is too old to have it.
template <std::size_t Index, typename Function>
struct EntryPoint {
  static constexpr std::size_t index = Index;
  Function function = nullptr;
  operator Function() const noexcept { return function; }
};

enum class Library { nvrtc, nvjitlink, nvvm, nvml };

[[noreturn]] CUPRUM_API void raise_library_error(Library library, std::size_t entry_point, int code);
[[noreturn]] CUPRUM_API void raise_missing_entry_point(Library library, std::size_t entry_point);

/// Calls an entry point and returns its code. Throws NotSupported when the library doesn't have it.
template <Library Which, typename Slot, typename... Arguments>
auto try_call_library(const Slot& slot, Arguments... arguments) {
  if (!slot.function) [[unlikely]]
    raise_missing_entry_point(Which, Slot::index);
  return slot.function(arguments...);
}

/// The same, and throws LibraryError (or NotSupported, where the library says so) unless the code is 0.
template <Library Which, typename Slot, typename... Arguments>
void call_library(const Slot& slot, Arguments... arguments) {
  const int code = static_cast<int>(try_call_library<Which>(slot, arguments...));
  if (code != 0) [[unlikely]]
    raise_library_error(Which, Slot::index, code);
}

}  // namespace cuprum::inline CUPRUM_ABI::detail

namespace cuprum::inline CUPRUM_ABI {

/// A library that was opened at run time.
struct LibraryInfo {
  std::string path;  ///< of its file
  std::string how;   ///< it was found, as pathfinder::Located says it
  int version;       ///< the CUDA release it belongs to, 13000 for 13.0; 0 when it doesn't say
};

}  // namespace cuprum::inline CUPRUM_ABI
