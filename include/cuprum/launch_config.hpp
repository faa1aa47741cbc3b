// The shape of a launch: how many threads, in which blocks, with what else they need.
//
//   LaunchConfig config{.grid = ceil_div(n, 256), .block = 256, .shmem_size = 1024};
//   LaunchConfig tiles{.grid = {columns, rows}, .block = {16, 16}};
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cuprum/detail/export.hpp>
#include <functional>
#include <iosfwd>
#include <optional>
#include <type_traits>

namespace cuprum::inline CUPRUM_ABI {

/// Extents in up to three dimensions, written as a number, {x, y} or {x, y, z}. Values are kept as given, so that a
/// negative or an enormous one is refused by launch() instead of being cut off.
struct Dim3 {
  std::int64_t x = 1;  ///< the extent whose index goes up fastest
  std::int64_t y = 1;  ///< 1 unless given
  std::int64_t z = 1;  ///< 1 unless given

  /// (1, 1, 1).
  constexpr Dim3() = default;
  /// (x, 1, 1), of any integer; what is over 63 bits becomes the largest number that fits.
  template <std::integral X>
  constexpr Dim3(X x_extent) : x(saturated(x_extent)) {}
  /// (x, y, 1).
  template <std::integral X, std::integral Y>
  constexpr Dim3(X x_extent, Y y_extent) : x(saturated(x_extent)), y(saturated(y_extent)) {}
  /// All three.
  template <std::integral X, std::integral Y, std::integral Z>
  constexpr Dim3(X x_extent, Y y_extent, Z z_extent)
      : x(saturated(x_extent)), y(saturated(y_extent)), z(saturated(z_extent)) {}

  friend constexpr bool operator==(const Dim3&, const Dim3&) = default;

 private:
  template <std::integral T>
  static constexpr std::int64_t saturated(T value) {
    constexpr std::int64_t most = INT64_MAX;
    if constexpr (std::unsigned_integral<T> && sizeof(T) == sizeof(std::int64_t)) {
      return value > static_cast<T>(most) ? most : static_cast<std::int64_t>(value);
    } else {
      return static_cast<std::int64_t>(value);
    }
  }
};

/// A plain value. It is compared with what the kernel and the device can do when it is used: launch() refuses what is
/// over a limit and names that. The grid and the block must be given.
struct LaunchConfig {
  Dim3 grid = Dim3(0, 0, 0);         ///< blocks; clusters when `cluster` is given
  Dim3 block = Dim3(0, 0, 0);        ///< threads of a block
  std::optional<Dim3> cluster = {};  ///< blocks of a cluster, which share their memory; needs compute capability 9.0
  std::size_t shmem_size = 0;        ///< bytes of dynamic shared memory per block; more than 48 KiB need no extra step
  bool is_cooperative = false;  ///< all blocks run at the same time and can synchronise; the grid must fit for that

  /// The kernel may begin before the one before it on the stream has ended, as far as that one allows it
  /// (cudaTriggerProgrammaticLaunchCompletion); it waits by itself where it must (cudaGridDependencySynchronize).
  bool programmatic_stream_serialization = false;

  std::optional<int> priority = {};  ///< lower numbers come first; the stream's when not given

  friend bool operator==(const LaunchConfig&, const LaunchConfig&) = default;
};

/// Prints "(4, 2, 1)".
CUPRUM_API std::ostream& operator<<(std::ostream& out, const Dim3& extents);

/// Prints "grid (4, 1, 1), block (256, 1, 1)" and whatever else is set.
CUPRUM_API std::ostream& operator<<(std::ostream& out, const LaunchConfig& config);

namespace detail {
CUPRUM_API std::size_t hash(const Dim3& extents) noexcept;
CUPRUM_API std::size_t hash(const LaunchConfig& config) noexcept;
}  // namespace detail

/// a / b, rounded up: how many blocks of b threads cover a elements.
template <std::integral A, std::integral B>
constexpr std::common_type_t<A, B> ceil_div(A a, B b) {
  using T = std::common_type_t<A, B>;
  return static_cast<T>(static_cast<T>(a) / static_cast<T>(b) + (static_cast<T>(a) % static_cast<T>(b) != 0 ? 1 : 0));
}

}  // namespace cuprum::inline CUPRUM_ABI

/// By the extents.
template <>
struct std::hash<cuprum::Dim3> {
  std::size_t operator()(const cuprum::Dim3& extents) const noexcept { return cuprum::detail::hash(extents); }
};

/// By all members.
template <>
struct std::hash<cuprum::LaunchConfig> {
  std::size_t operator()(const cuprum::LaunchConfig& config) const noexcept { return cuprum::detail::hash(config); }
};
