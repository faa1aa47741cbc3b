#include "support/content_hash.hpp"

#include <array>
#include <cstdio>

#define XXH_INLINE_ALL  // no library to link
#include <xxhash.h>

namespace cuprum::support {

ContentHash content_hash(std::string_view bytes) noexcept {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.high64, hash.low64};
}

std::string to_string(const ContentHash& hash) {
  std::array<char, 33> digits;
  std::snprintf(digits.data(), digits.size(), "%016llx%016llx", static_cast<unsigned long long>(hash.high),
                static_cast<unsigned long long>(hash.low));
  return digits.data();
}

}  // namespace cuprum::support
