#include <sys/random.h>

#include <cerrno>
#include <cstring>
#include <cuprum/error.hpp>
#include <cuprum/uuid.hpp>
#include <ostream>

#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI {
namespace {

constexpr std::string_view digits = "0123456789abcdef";
constexpr std::string_view prefix_of_nvml = "GPU-";
constexpr std::string_view shape = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";

[[noreturn]] void refuse(std::string_view text) {
  throw InvalidArgument(support::text("'", text, "' is not a UUID: expected 32 hexadecimal digits as ", shape));
}

}  // namespace

Uuid Uuid::random() {
  Uuid uuid;
  // Reads of up to 256 bytes are never cut short once the system has gathered its first randomness.
  while (getrandom(uuid.bytes.data(), uuid.bytes.size(), 0) != static_cast<ssize_t>(uuid.bytes.size())) {
    if (errno != EINTR) throw SystemError("no random numbers: getrandom failed", errno);
  }
  uuid.bytes[6] = static_cast<std::uint8_t>((uuid.bytes[6] & 0x0f) | 0x40);  // version 4: random
  uuid.bytes[8] = static_cast<std::uint8_t>((uuid.bytes[8] & 0x3f) | 0x80);  // the usual variant
  return uuid;
}

Uuid Uuid::parse(std::string_view given) {
  const std::string_view text = given.substr(given.starts_with(prefix_of_nvml) ? prefix_of_nvml.size() : 0);
  if (text.size() != shape.size()) refuse(given);
  Uuid uuid;
  std::size_t nibble = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == '-') {
      if (text[i] != '-') refuse(given);
      continue;
    }
    const std::size_t value =
        digits.find(text[i] >= 'A' && text[i] <= 'F' ? static_cast<char>(text[i] | 0x20) : text[i]);
    if (value == std::string_view::npos) refuse(given);
    std::uint8_t& byte = uuid.bytes[nibble++ / 2];
    byte = static_cast<std::uint8_t>(byte << 4 | value);
  }
  return uuid;
}

std::string Uuid::to_string() const {
  std::string text(shape);
  std::size_t nibble = 0;
  for (char& place : text) {
    if (place == '-') continue;
    const std::uint8_t byte = bytes[nibble / 2];
    place = digits[nibble++ % 2 == 0 ? byte >> 4 : byte & 0x0f];
  }
  return text;
}

std::ostream& operator<<(std::ostream& out, const Uuid& uuid) { return out << uuid.to_string(); }

}  // namespace cuprum::inline CUPRUM_ABI
