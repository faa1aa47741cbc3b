// Names that are unique without anybody handing them out.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <cuprum/detail/export.hpp>
#include <iosfwd>
#include <string>
#include <string_view>

namespace cuprum::inline CUPRUM_ABI {

/// 128 bits; the default is all zeros. A plain value.
struct CUPRUM_API Uuid {
  std::array<std::uint8_t, 16> bytes{};  ///< in the order in which they are written

  /// A new one: 122 random bits of the operating system.
  static Uuid random();

  /// Reads what to_string() writes, and the same after "GPU-", as system::Device::uuid() has it. Throws InvalidArgument
  /// for anything else.
  static Uuid parse(std::string_view text);

  /// As "f81d4fae-7dec-41d0-a765-00a0c91e6bf6".
  std::string to_string() const;

  friend auto operator<=>(const Uuid&, const Uuid&) = default;
};

/// Prints what to_string() gives.
CUPRUM_API std::ostream& operator<<(std::ostream& out, const Uuid& uuid);

}  // namespace cuprum::inline CUPRUM_ABI
