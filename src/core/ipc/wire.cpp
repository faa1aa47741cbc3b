#include "core/ipc/wire.hpp"

#include <cuprum/error.hpp>

#include "support/text.hpp"

namespace cuprum::core::wire {
namespace {

using support::text;

template <typename... Parts>
[[noreturn]] void refuse(Kind expected, const Parts&... reason) {
  throw InvalidArgument(text("refused the description of ", title(expected), ": ", reason...));
}

bool is_known(Kind kind) { return kind == Kind::pool || kind == Kind::buffer || kind == Kind::event; }

}  // namespace

const char* title(Kind kind) {
  switch (kind) {
    case Kind::pool: return "a memory pool";
    case Kind::buffer: return "a buffer";
    case Kind::event: return "an event";
  }
  return "nothing known";
}

std::uint64_t checksum(std::span<const std::byte> bytes) noexcept {
  std::uint64_t sum = 0xcbf29ce484222325;
  for (std::byte byte : bytes) sum = (sum ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3;
  return sum;
}

void check(std::span<const std::byte> bytes, Kind expected, std::size_t expected_size, std::uint32_t known_flags) {
  Header header;
  if (bytes.size() < sizeof(header)) {
    refuse(expected, "it has ", bytes.size(), " bytes and is truncated: expected ", expected_size);
  }
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.magic != magic) refuse(expected, "it does not begin as one made by ipc_descriptor().to_bytes() does");
  if (header.version != version) {
    refuse(expected, "it has version ", header.version, " of the format and this library knows ", version,
           ": both processes should use the same version of the library");
  }
  if (header.kind != expected) {
    refuse(expected, "it describes ",
           is_known(header.kind) ? title(header.kind) : text("something of kind ", static_cast<int>(header.kind)));
  }
  if (header.size != expected_size || bytes.size() != expected_size) {
    refuse(expected, "it has ", bytes.size(), " bytes and says ", header.size, ": expected ", expected_size,
           bytes.size() < expected_size ? "; it is truncated" : "");
  }
  const auto contents = bytes.first(expected_size - sizeof(std::uint64_t));
  std::uint64_t sum = 0;
  std::memcpy(&sum, bytes.data() + contents.size(), sizeof(sum));
  if (sum != checksum(contents)) refuse(expected, "it is damaged: the checksum is wrong");
  if ((header.flags & ~known_flags) != 0) refuse(expected, "it has flags that this library does not know");
}

}  // namespace cuprum::core::wire
