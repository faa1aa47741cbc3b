#include "softgpu/runtime/fatbin.hpp"

#include <zstd.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "softgpu/runtime/device_code.hpp"
#include "softgpu/runtime/error.hpp"
#include "softgpu/runtime/lz4.hpp"

namespace softgpu::runtime {
namespace {

constexpr std::uint32_t kFatbinMagic = 0xba55ed50;
constexpr std::uint32_t kWrapperMagic = 0x466243b1;

// What nvcc puts into a program's .nvFatBinSegment.
struct Wrapper {
  std::uint32_t magic, version;
  const void* fatbin;
  const void* unused;
};

struct Header {
  std::uint32_t magic;
  std::uint16_t version, header_bytes;
  std::uint64_t bytes;  // of all entries, behind this header
};

struct EntryHeader {
  std::uint16_t kind, version;
  std::uint32_t header_bytes;
  std::uint64_t payload_bytes;  // padded
  std::uint32_t compressed_bytes, options_offset;
  std::uint16_t minor, major;
  std::uint32_t architecture;
  std::uint32_t name_offset, name_bytes;
  std::uint64_t flags, reserved;
  std::uint64_t decompressed_bytes;
};
static_assert(sizeof(Header) == 16 && offsetof(EntryHeader, flags) == 40 && sizeof(EntryHeader) == 64);

constexpr std::uint16_t kKindPtx = 1, kKindMachineCode = 2;
constexpr std::uint64_t kFlagLz4 = 0x2000, kFlagZstd = 0x8000;

// Unaligned.
template <typename T>
T read(const void* memory) {
  T value;
  std::memcpy(&value, memory, sizeof value);
  return value;
}

const std::byte* unwrapped(const void* image) {
  const bool wrapped = read<std::uint32_t>(image) == kWrapperMagic;
  return static_cast<const std::byte*>(wrapped ? read<Wrapper>(image).fatbin : image);
}

[[noreturn]] void damaged(const char* what) {
  throw Failure(CUDA_ERROR_INVALID_IMAGE, std::string("the fatbin is damaged: ") + what);
}

std::optional<std::string> zstd_decode(std::span<const std::byte> input, std::size_t decoded_bytes) {
  std::string out(decoded_bytes, '\0');
  const std::size_t written = ZSTD_decompress(out.data(), out.size(), input.data(), input.size());
  return !ZSTD_isError(written) && written == decoded_bytes ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace

bool is_fatbin(const void* image, std::size_t size) {
  if (size < sizeof(Header)) return false;
  const auto magic = read<std::uint32_t>(image);
  return magic == kFatbinMagic || magic == kWrapperMagic;
}

std::vector<FatbinEntry> fatbin_entries(const void* image, std::size_t size) {
  const std::byte* const start = unwrapped(image);
  const auto header = read<Header>(start);
  if (header.magic != kFatbinMagic) damaged("it does not start with the magic number");
  const bool known_size = size != kUnknownSize && start == image;
  if (header.header_bytes < sizeof(Header) || (known_size && header.bytes > size - header.header_bytes))
    damaged("its header says that it is longer than it is");
  std::vector<FatbinEntry> entries;
  const std::byte* const end = start + header.header_bytes + header.bytes;
  for (const std::byte* at = start + header.header_bytes; at != end;) {
    const auto left = static_cast<std::size_t>(end - at);
    if (left < sizeof(EntryHeader)) damaged("an entry's header is cut off");
    const auto entry = read<EntryHeader>(at);
    if (entry.header_bytes < sizeof(EntryHeader) || entry.header_bytes > left ||
        entry.payload_bytes > left - entry.header_bytes)
      damaged("an entry is longer than the whole");
    if (entry.kind == kKindPtx || entry.kind == kKindMachineCode)
      entries.push_back({.is_ptx = entry.kind == kKindPtx, .architecture = entry.architecture, .header = at});
    at += entry.header_bytes + entry.payload_bytes;
  }
  return entries;
}

std::string fatbin_contents(const FatbinEntry& entry) {
  const auto header = read<EntryHeader>(entry.header);
  const std::span payload(entry.header + header.header_bytes, header.payload_bytes);
  if ((header.flags & (kFlagLz4 | kFlagZstd)) == 0)
    return {reinterpret_cast<const char*>(payload.data()), payload.size()};
  if (header.compressed_bytes > payload.size()) damaged("an entry's compressed size is wrong");
  const auto compressed = payload.first(header.compressed_bytes);
  const auto decode = (header.flags & kFlagZstd) != 0 ? zstd_decode : lz4_decode;
  std::optional<std::string> text = decode(compressed, header.decompressed_bytes);
  if (!text) damaged("an entry can't be decompressed");
  return *std::move(text);
}

}  // namespace softgpu::runtime
