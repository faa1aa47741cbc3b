// How a fatbin lies in memory; little-endian.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cuprum::device_image {

inline constexpr std::uint32_t kFatbinMagic = 0xba55ed50;
inline constexpr std::uint32_t kFatbinWrapperMagic = 0x466243b1;

/// What nvcc puts into a program's .nvFatBinSegment.
struct FatbinWrapper {
  std::uint32_t magic, version;
  const void* fatbin;
  const void* unused;
};

struct FatbinHeader {
  std::uint32_t magic;
  std::uint16_t version, header_bytes;
  std::uint64_t bytes;  ///< of all entries, behind this header
};

/// Offsets count from the start of this header.
struct FatbinEntryHeader {
  std::uint16_t kind, version;
  std::uint32_t header_bytes;      ///< with the texts below
  std::uint64_t payload_bytes;     ///< padded
  std::uint32_t compressed_bytes;  ///< without the padding; 0 when not compressed
  std::uint32_t options_offset;    ///< of a FatbinText; 0 for none
  std::uint16_t minor, major;      ///< of the PTX, or of the machine code's format
  std::uint32_t architecture;
  std::uint32_t identifier_offset, identifier_bytes;
  std::uint64_t flags, scramble_key;
  std::uint64_t decompressed_bytes;  ///< 0 when not compressed
};

struct FatbinText {
  std::uint32_t offset, bytes;
};

static_assert(sizeof(FatbinHeader) == 16 && offsetof(FatbinEntryHeader, flags) == 40 &&
              sizeof(FatbinEntryHeader) == 64);

inline constexpr std::uint16_t kFatbinVersion = 1, kFatbinEntryVersion = 0x101;
inline constexpr std::uint64_t kFlag64Bit = 0x1, kFlagLinux = 0x10;
inline constexpr std::uint64_t kFlagLz4 = 0x2000, kFlagZstd = 0x8000, kFlagScrambled = 0x10000;
inline constexpr std::uint64_t kFlagArchitectureSpecific = 0x100000, kFlagFamilySpecific = 0x200000;

/// Entries, and what is inside them, start at multiples of this.
inline constexpr std::size_t kFatbinAlignment = 8;

constexpr std::size_t padded(std::size_t bytes) {
  return (bytes + kFatbinAlignment - 1) / kFatbinAlignment * kFatbinAlignment;
}

}  // namespace cuprum::device_image
