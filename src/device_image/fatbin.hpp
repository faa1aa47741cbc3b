// Fatbins: the container that nvcc and fatbinary make, with code for several architectures, each entry PTX, machine
// code or LTO-IR, compressed or not. NVIDIA documents no layout; what is here was seen in files of CUDA 11 to 13.
//
//   std::string fatbin = write_fatbin({{.kind = EntryKind::cubin, .architecture = {90}, .contents = cubin},
//                                      {.kind = EntryKind::ptx, .architecture = {90}, .contents = ptx}});
//   for (const FatbinEntry& entry : read_fatbin(bytes_of(fatbin)))
//     if (entry.kind == EntryKind::ptx) use(contents_of(entry));
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "device_image/architecture.hpp"
#include "device_image/bytes.hpp"

namespace cuprum::device_image {

/// By the number in the entry's header; there are others, which nothing here looks into.
enum class EntryKind : std::uint16_t { ptx = 1, cubin = 2, ltoir = 8 };

/// An entry of a fatbin that somebody keeps in memory.
struct FatbinEntry {
  enum class Compression { none, lz4, zstd };

  EntryKind kind{};
  Architecture architecture{};
  std::string_view identifier = {};  ///< the source file, if it says
  std::string_view options = {};     ///< for the compiler of the PTX: "--compile-only" for relocatable code
  Compression compression = Compression::none;
  bool scrambled = false;  ///< LTO-IR of nvcc, which NVIDIA's linkers alone can read, out of the fatbin
  std::size_t decompressed_bytes = 0;
  Bytes payload = {};
};

/// Whether the bytes start like a fatbin, or like the structure by which a program that nvcc linked points to one.
bool starts_like_fatbin(Bytes image);
bool starts_like_fatbin_wrapper(Bytes image);

/// The extent of the fatbin at an address, by its own header: for images that come as a pointer alone, directly or as
/// the wrapper's address. Throws Damaged when there is none.
Bytes fatbin_at(const void* image);

/// The fatbin that a wrapper points to, in this process's memory. Throws Damaged when the wrapper is cut off or points
/// to something else.
Bytes wrapped_fatbin(Bytes wrapper);

/// The entries of a fatbin, or of several that lie one after the other, as in an object file's section. Throws Damaged
/// unless each lies within the bytes.
std::vector<FatbinEntry> read_fatbin(Bytes fatbin);

/// The entry's contents, decompressed; for PTX without the zeros behind it. Throws Damaged, also for scrambled entries.
std::string contents_of(const FatbinEntry& entry);

/// What an entry is to be written from.
struct FatbinImage {
  EntryKind kind{};
  Architecture architecture{};
  std::string_view contents = {};
  std::string_view identifier = {};
  std::string_view options = {};
};

/// A fatbin that NVIDIA's driver and tools take, its entries uncompressed and in the order given.
std::string write_fatbin(const std::vector<FatbinImage>& images);

}  // namespace cuprum::device_image
