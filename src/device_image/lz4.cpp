#include "device_image/lz4.hpp"

#include <cstdint>

namespace cuprum::device_image {
namespace {

class Reader {
 public:
  explicit Reader(std::span<const std::byte> input) : rest_(input) {}

  bool empty() const { return rest_.empty(); }
  bool failed() const { return failed_; }

  std::size_t byte() {
    if (!take(1)) return 0;
    return std::to_integer<std::size_t>(taken_[0]);
  }

  // A length of 4 bits; 15 means that bytes follow, the last of which is not 255.
  std::size_t length(std::size_t nibble) {
    if (nibble != 15) return nibble;
    std::size_t total = nibble, next = 0;
    do total += next = byte();
    while (next == 255 && !failed_);
    return total;
  }

  std::span<const std::byte> bytes(std::size_t count) {
    take(count);
    return taken_;
  }

 private:
  bool take(std::size_t count) {
    failed_ = failed_ || count > rest_.size();
    taken_ = failed_ ? std::span<const std::byte>() : rest_.first(count);
    if (!failed_) rest_ = rest_.subspan(count);
    return !failed_;
  }

  std::span<const std::byte> rest_, taken_;
  bool failed_ = false;
};

}  // namespace

std::optional<std::string> lz4_decode(std::span<const std::byte> block, std::size_t decoded_bytes) {
  std::string out;
  out.reserve(decoded_bytes);
  Reader in(block);
  while (!in.empty()) {
    const std::size_t token = in.byte();
    const std::size_t literals = in.length(token >> 4);
    if (literals > decoded_bytes - out.size()) return std::nullopt;
    for (const std::byte b : in.bytes(literals)) out.push_back(static_cast<char>(b));
    if (in.failed()) return std::nullopt;
    if (in.empty() || out.size() == decoded_bytes) break;  // the last sequence has no match

    const std::size_t low = in.byte();
    const std::size_t offset = low | in.byte() << 8;
    const std::size_t match = in.length(token & 15) + 4;
    if (in.failed() || offset == 0 || offset > out.size() || match > decoded_bytes - out.size()) return std::nullopt;
    for (std::size_t i = 0; i < match; ++i) out.push_back(out[out.size() - offset]);  // may overlap what it writes
  }
  if (out.size() != decoded_bytes) return std::nullopt;
  return out;
}

}  // namespace cuprum::device_image
