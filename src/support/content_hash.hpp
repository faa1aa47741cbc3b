// A fast hash of any bytes, of 128 bits: XXH3. Two contents that differ by accident have different ones; somebody who
// means to can make two that agree, so it keeps nothing apart that doesn't trust each other.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cuprum::support {

struct ContentHash {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  bool operator==(const ContentHash&) const = default;
};

ContentHash content_hash(std::string_view bytes) noexcept;

/// 32 hexadecimal digits.
std::string to_string(const ContentHash& hash);

}  // namespace cuprum::support
