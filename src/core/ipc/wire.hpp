// How descriptors look on their way between processes: records of fixed size, sealed by a checksum.
//
// Both ends run on one machine, so numbers are in its byte order. The checksum finds accidents (a truncated file, mixed
// up messages); against a peer that means harm it does nothing, since anybody can compute it: that is for the checks at
// import, in this library and in the driver.
#pragma once

#include <cstdint>
#include <cstring>
#include <cuprum/ipc.hpp>
#include <type_traits>

namespace cuprum::core::wire {

inline constexpr std::array<char, 4> magic{'C', 'u', 'I', 'P'};
inline constexpr std::uint16_t version = 1;

enum class Kind : std::uint16_t { pool = 1, buffer = 2, event = 3 };

/// "a buffer" and so on, for messages.
const char* title(Kind kind);

struct Header {
  std::array<char, 4> magic;
  std::uint16_t version;
  Kind kind;
  std::uint32_t size;   ///< of the whole record
  std::uint32_t flags;  ///< none are defined for pools and buffers
  detail::IpcOrigin origin;
};

inline constexpr std::uint32_t blocking_sync = 1;  ///< flag of an event

enum class Place : std::uint32_t { unknown, device, host };

struct PoolRecord {
  static constexpr Kind kind = Kind::pool;
  static constexpr std::uint32_t known_flags = 0;
  Header header;
  Uuid pool;  ///< zero when not known
  Place place;
  std::uint32_t reserved;
  std::uint64_t checksum;
};

struct BufferRecord {
  static constexpr Kind kind = Kind::buffer;
  static constexpr std::uint32_t known_flags = 0;
  Header header;
  Uuid pool;
  std::uint64_t size;
  detail::IpcPayload payload;
  std::uint64_t checksum;
};

struct EventRecord {
  static constexpr Kind kind = Kind::event;
  static constexpr std::uint32_t known_flags = blocking_sync;
  Header header;
  detail::IpcPayload payload;
  std::uint64_t checksum;
};

/// Every byte counts, and the checksum comes last.
template <typename Record>
concept Sealable = std::is_trivially_copyable_v<Record> && std::has_unique_object_representations_v<Record> &&
                   offsetof(Record, checksum) + sizeof(std::uint64_t) == sizeof(Record);

/// FNV-1a. Each step is a bijection of the sum for a given byte, so no change of a single byte goes unnoticed.
std::uint64_t checksum(std::span<const std::byte> bytes) noexcept;

/// The checks that are the same for all records; throws InvalidArgument with the reason.
void check(std::span<const std::byte> bytes, Kind expected, std::size_t expected_size, std::uint32_t known_flags);

template <Sealable Record>
std::vector<std::byte> seal(Record record, std::uint32_t flags, const detail::IpcOrigin& origin) {
  record.header = {magic, version, Record::kind, sizeof(Record), flags, origin};
  std::vector<std::byte> bytes(sizeof(Record));
  std::memcpy(bytes.data(), &record, sizeof(Record));
  record.checksum = checksum(std::span(bytes).first(offsetof(Record, checksum)));
  std::memcpy(bytes.data() + offsetof(Record, checksum), &record.checksum, sizeof(record.checksum));
  return bytes;
}

template <Sealable Record>
Record open(std::span<const std::byte> bytes) {
  check(bytes, Record::kind, sizeof(Record), Record::known_flags);
  Record record;
  std::memcpy(&record, bytes.data(), sizeof(Record));
  return record;
}

}  // namespace cuprum::core::wire
