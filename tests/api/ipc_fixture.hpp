// What the tests of sharing between processes have in common.
#pragma once

#include <dirent.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <set>

#include "api/fixture.hpp"

namespace cuprum::tests {

using Bytes = std::vector<std::byte>;

/// The file descriptors that this process has open.
inline std::set<int> open_descriptors() {
  std::set<int> numbers;
  DIR* folder = opendir("/proc/self/fd");
  while (const dirent* entry = readdir(folder)) {
    if (entry->d_name[0] != '.') numbers.insert(std::stoi(entry->d_name));
  }
  numbers.erase(dirfd(folder));
  closedir(folder);
  return numbers;
}

/// Each test must leave as many file descriptors behind as it found.
class DescriptorsAreClosed {
 public:
  ~DescriptorsAreClosed() { EXPECT_EQ(open_descriptors(), before_) << "file descriptors were left open"; }

 private:
  std::set<int> before_ = open_descriptors();
};

/// Where the parts of a descriptor are, spelled out: the format must not change by accident.
namespace layout {
inline constexpr std::size_t version = 4, kind = 6, size = 8, flags = 12, process = 16, device = 32;
inline constexpr std::size_t pool = 48, place = 64, reserved = 68;   // of a pool
inline constexpr std::size_t buffer_size = 64, buffer_payload = 72;  // of a buffer
inline constexpr std::size_t event_payload = 48;                     // of an event
inline constexpr std::size_t pool_total = 80, buffer_total = 144, event_total = 120;
}  // namespace layout

template <typename T>
void put(Bytes& bytes, std::size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(value));
}

template <typename T>
T get(const Bytes& bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  return value;
}

/// Makes the checksum right again: what a peer that means harm would do.
inline Bytes sealed(Bytes bytes) {
  std::uint64_t sum = 0xcbf29ce484222325;
  for (std::size_t i = 0; i + 8 < bytes.size(); ++i) {
    sum = (sum ^ static_cast<std::uint64_t>(bytes[i])) * 0x100000001b3;
  }
  put(bytes, bytes.size() - 8, sum);
  return bytes;
}

/// A descriptor that no driver made.
inline Bytes made_up(std::uint16_t kind, std::size_t total) {
  Bytes bytes(total);
  for (std::size_t i = layout::process; i < total; ++i) bytes[i] = static_cast<std::byte>(i);
  std::memcpy(bytes.data(), "CuIP", 4);
  put<std::uint16_t>(bytes, layout::version, 1);
  put<std::uint16_t>(bytes, layout::kind, kind);
  put<std::uint32_t>(bytes, layout::size, static_cast<std::uint32_t>(total));
  return bytes;
}

inline Bytes pool_bytes() {
  Bytes bytes = made_up(1, layout::pool_total);
  put<std::uint32_t>(bytes, layout::place, 1);
  put<std::uint32_t>(bytes, layout::reserved, 0);
  return sealed(bytes);
}

inline Bytes buffer_bytes(std::uint64_t size = 4096) {
  Bytes bytes = made_up(2, layout::buffer_total);
  put(bytes, layout::buffer_size, size);
  return sealed(bytes);
}

inline Bytes event_bytes() { return sealed(made_up(3, layout::event_total)); }

/// The text of the ChannelError, which must have this fault.
template <typename Statement>
std::string fault_of(ipc::ChannelFault fault, Statement&& statement) {
  return error_of<ipc::ChannelError>([&] {
    try {
      statement();
    } catch (const ipc::ChannelError& error) {
      EXPECT_EQ(static_cast<int>(error.fault()), static_cast<int>(fault)) << error.what();
      throw;
    }
  });
}

}  // namespace cuprum::tests
