// The list of driver entry points as data. The list itself is <cuprum/detail/driver_entry_points.def>: it is among the
// public headers because the typed table of <cuprum/driver.hpp> is made from it.
#pragma once

#include <cstddef>
#include <span>

namespace cuprum::driver_abi {

struct EntryPoint {
  const char* name;  ///< as cuGetProcAddress takes it: without _v2 and the like
  int version;       ///< CUDA version of the prototype we call
};

/// In the order of the list.
std::span<const EntryPoint> entry_points() noexcept;

/// "12.4" for 12040.
struct CudaVersion {
  int number;
};

template <typename Out>
Out& operator<<(Out& out, CudaVersion version) {
  out << version.number / 1000 << '.' << version.number % 1000 / 10;
  return out;
}

}  // namespace cuprum::driver_abi
