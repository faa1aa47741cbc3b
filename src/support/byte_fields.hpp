// Several byte strings as one, from which they can be told apart again. Numbers are in this machine's byte order: what
// is written stays on it.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace cuprum::support {

class FieldWriter {
 public:
  FieldWriter& add(std::uint64_t number) {
    char bytes[sizeof number];
    std::memcpy(bytes, &number, sizeof number);
    bytes_.append(bytes, sizeof number);
    return *this;
  }
  FieldWriter& add(std::string_view field) {
    add(std::uint64_t{field.size()});
    bytes_.append(field);
    return *this;
  }
  template <typename Range>
  FieldWriter& add_all(const Range& fields) {
    add(std::uint64_t{std::size(fields)});
    for (const auto& field : fields) add(std::string_view(field));
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// Reads what FieldWriter wrote, in the same order. None when the bytes are at their end, or never were such fields;
/// and none from then on, so that of several only the last needs to be looked at.
class FieldReader {
 public:
  explicit FieldReader(std::string_view bytes) : rest_(bytes) {}

  std::optional<std::uint64_t> number() {
    std::uint64_t value = 0;
    if (rest_.size() < sizeof value) return fail();
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return value;
  }
  std::optional<std::string_view> field() {
    const std::optional<std::uint64_t> size = number();
    if (!size || *size > rest_.size()) return fail();
    const std::string_view bytes = rest_.substr(0, *size);
    rest_.remove_prefix(*size);
    return bytes;
  }
  bool at_end() const { return rest_.empty(); }

 private:
  std::nullopt_t fail() {
    rest_ = {};
    return std::nullopt;
  }

  std::string_view rest_;
};

}  // namespace cuprum::support
