// Launching kernels.
//
//   launch(stream, {.grid = ceil_div(n, 256), .block = 256}, scale, data, 3.0f, n);
//
// Arguments are passed by value and must have the types of the kernel's parameters: a Buffer or a pointer for a
// pointer, a trivially copyable object of the same size for everything else. Their number and sizes are compared with
// what the kernel declares before anything is queued.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cuprum/buffer.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/kernel.hpp>
#include <cuprum/stream.hpp>
#include <limits>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace cuprum {

/// Extents in up to three dimensions, written as a number, {x, y} or {x, y, z}. Values are kept as given, so that a
/// negative or an enormous one is refused by launch() instead of being cut off.
struct Dim3 {
  std::int64_t x = 1;
  std::int64_t y = 1;
  std::int64_t z = 1;

  constexpr Dim3() = default;
  template <std::integral X>
  constexpr Dim3(X x_extent) : x(saturated(x_extent)) {}
  template <std::integral X, std::integral Y>
  constexpr Dim3(X x_extent, Y y_extent) : x(saturated(x_extent)), y(saturated(y_extent)) {}
  template <std::integral X, std::integral Y, std::integral Z>
  constexpr Dim3(X x_extent, Y y_extent, Z z_extent)
      : x(saturated(x_extent)), y(saturated(y_extent)), z(saturated(z_extent)) {}

  friend constexpr bool operator==(const Dim3&, const Dim3&) = default;

 private:
  template <std::integral T>
  static constexpr std::int64_t saturated(T value) {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    if constexpr (std::unsigned_integral<T> && sizeof(T) == sizeof(std::int64_t)) {
      return value > static_cast<T>(most) ? most : static_cast<std::int64_t>(value);
    } else {
      return static_cast<std::int64_t>(value);
    }
  }
};

struct LaunchConfig {
  Dim3 grid = {};                    ///< blocks; clusters when `cluster` is given
  Dim3 block = {};                   ///< threads of a block
  std::optional<Dim3> cluster = {};  ///< blocks of a cluster; needs compute capability 9.0
  std::size_t shmem_size = 0;        ///< bytes of dynamic shared memory per block
  bool is_cooperative = false;       ///< all blocks run at the same time and can synchronise
};

/// a / b, rounded up: how many blocks of b threads cover a elements.
template <std::integral A, std::integral B>
constexpr std::common_type_t<A, B> ceil_div(A a, B b) {
  using T = std::common_type_t<A, B>;
  return static_cast<T>(static_cast<T>(a) / static_cast<T>(b) + (static_cast<T>(a) % static_cast<T>(b) != 0 ? 1 : 0));
}

namespace detail {

template <typename T>
const T& parameter(const T& value) {
  static_assert(std::is_trivially_copyable_v<T>,
                "a kernel argument is copied byte by byte: pass a Buffer, a pointer, a number or a plain struct");
  return value;
}
inline DevicePointer parameter(const Buffer& buffer) { return buffer.handle(); }
inline DevicePointer parameter(std::nullptr_t) { return 0; }  // an object of its type need not hold zeros

CUPRUM_API void launch(const Stream& stream, const LaunchConfig& config, const Kernel& kernel, void** addresses,
                       const std::size_t* sizes, std::size_t count);

}  // namespace detail

/// Queues the kernel on the stream and returns. What the arguments point to must stay valid until it has run; the
/// kernel and the arguments themselves need not. Throws InvalidArgument for arguments or a shape that the kernel or the
/// device can't take. Threads may launch at the same time, also on one stream.
template <typename... Arguments>
void launch(const Stream& stream, const LaunchConfig& config, const Kernel& kernel, const Arguments&... arguments) {
  if constexpr (sizeof...(Arguments) == 0) {
    detail::launch(stream, config, kernel, nullptr, nullptr, 0);
  } else {
    std::tuple<decltype(detail::parameter(arguments))...> values(detail::parameter(arguments)...);
    std::apply(
        [&](const auto&... value) {
          void* addresses[] = {const_cast<void*>(static_cast<const void*>(&value))...};
          static constexpr std::size_t sizes[] = {sizeof(value)...};
          detail::launch(stream, config, kernel, addresses, sizes, sizeof...(value));
        },
        values);
  }
}

}  // namespace cuprum
