// Reading foreign bytes: nothing beyond their end, whatever their headers say.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace cuprum::device_image {

using Bytes = std::span<const std::byte>;

/// An image whose headers contradict its size or each other. The message says what is wrong with what.
class Damaged : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline Bytes bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

inline std::string_view text_of(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

/// `size` bytes from `offset` on. `what` is what they are, for the message of Damaged when they are not all there.
inline Bytes part_of(Bytes whole, std::size_t offset, std::size_t size, const char* what) {
  if (offset > whole.size() || size > whole.size() - offset) throw Damaged(std::string(what) + " is cut off");
  return whole.subspan(offset, size);
}

/// A header that may lie at any address.
template <typename Header>
Header read(Bytes whole, std::size_t offset, const char* what) {
  Header header;
  std::memcpy(&header, part_of(whole, offset, sizeof header, what).data(), sizeof header);
  return header;
}

}  // namespace cuprum::device_image
