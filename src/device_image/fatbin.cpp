#include "device_image/fatbin.hpp"

#include <zstd.h>

#include <algorithm>
#include <optional>

#include "device_image/fatbin_layout.hpp"
#include "device_image/lz4.hpp"

namespace cuprum::device_image {
namespace {

using Compression = FatbinEntry::Compression;

// The most that compressed bytes can become: 255 to one in LZ4; in zstd, blocks of 3 bytes that stand for 128 KiB. A
// header that says more is wrong, and must not make us reserve what it says.
constexpr std::size_t kLz4Growth = 255, kZstdGrowth = (std::size_t{128} << 10) / 3 + 1;

bool starts_with(Bytes image, std::uint32_t magic) {
  return image.size() >= sizeof magic && read<std::uint32_t>(image, 0, "the image") == magic;
}

std::string_view text_in(Bytes entry, std::size_t offset, std::size_t bytes, const char* what) {
  const std::string_view text = text_of(part_of(entry, offset, bytes, what));
  return text.substr(0, text.find('\0'));
}

// Tools pad options with blanks.
std::string_view options_in(Bytes header, std::size_t offset) {
  if (offset == 0) return {};
  const auto where = read<FatbinText>(header, offset, "a fatbin entry's list of options");
  const std::string_view text = text_in(header, where.offset, where.bytes, "a fatbin entry's options");
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

char variant_of(std::uint64_t flags) {
  if ((flags & kFlagArchitectureSpecific) != 0) return 'a';
  return (flags & kFlagFamilySpecific) != 0 ? 'f' : '\0';
}

Compression compression_of(std::uint64_t flags) {
  if ((flags & kFlagZstd) != 0) return Compression::zstd;
  return (flags & kFlagLz4) != 0 ? Compression::lz4 : Compression::none;
}

// The entry at the start of `rest`, which loses it.
FatbinEntry take_entry(Bytes& rest) {
  const auto header = read<FatbinEntryHeader>(rest, 0, "the header of a fatbin's entry");
  if (header.header_bytes < sizeof header) throw Damaged("the header of a fatbin's entry is too short");
  const Bytes whole_header = part_of(rest, 0, header.header_bytes, "the header of a fatbin's entry");
  rest = rest.subspan(header.header_bytes);
  Bytes payload = part_of(rest, 0, header.payload_bytes, "an entry of the fatbin");
  rest = rest.subspan(payload.size());
  const Compression compression = compression_of(header.flags);
  if (compression != Compression::none)
    payload = part_of(payload, 0, header.compressed_bytes, "a compressed entry of the fatbin");
  return {.kind = EntryKind{header.kind},
          .architecture = {.number = header.architecture, .variant = variant_of(header.flags)},
          .identifier = text_in(whole_header, header.identifier_offset, header.identifier_bytes,
                                "the identifier of a fatbin's entry"),
          .options = options_in(whole_header, header.options_offset),
          .compression = compression,
          .scrambled = (header.flags & kFlagScrambled) != 0,
          .decompressed_bytes = header.decompressed_bytes,
          .payload = payload};
}

// The entries of the fatbin at the start of `rest`, which loses it.
void take_fatbin(Bytes& rest, std::vector<FatbinEntry>& entries) {
  const auto header = read<FatbinHeader>(rest, 0, "the fatbin's header");
  if (header.magic != kFatbinMagic) throw Damaged("the fatbin does not start with its magic number");
  if (header.header_bytes < sizeof header) throw Damaged("the fatbin's header is too short");
  rest = part_of(rest, header.header_bytes, rest.size() - std::min<std::size_t>(rest.size(), header.header_bytes),
                 "the fatbin's header");
  Bytes body = part_of(rest, 0, header.bytes, "the fatbin");
  rest = rest.subspan(body.size());
  while (!body.empty()) entries.push_back(take_entry(body));
}

void skip_padding(Bytes& rest) {
  while (!rest.empty() && rest.front() == std::byte{0}) rest = rest.subspan(1);
}

std::optional<std::string> zstd_decode(Bytes input, std::size_t decoded_bytes) {
  std::string out(decoded_bytes, '\0');
  const std::size_t written = ZSTD_decompress(out.data(), out.size(), input.data(), input.size());
  return !ZSTD_isError(written) && written == decoded_bytes ? std::optional(std::move(out)) : std::nullopt;
}

std::string decompressed(const FatbinEntry& entry) {
  const bool zstd = entry.compression == Compression::zstd;
  std::optional<std::string> out;
  if (entry.decompressed_bytes / (zstd ? kZstdGrowth : kLz4Growth) <= entry.payload.size())
    out = (zstd ? zstd_decode : lz4_decode)(entry.payload, entry.decompressed_bytes);
  if (!out) throw Damaged("an entry of the fatbin can't be decompressed");
  return *std::move(out);
}

}  // namespace

bool starts_like_fatbin(Bytes image) { return starts_with(image, kFatbinMagic); }

bool starts_like_fatbin_wrapper(Bytes image) { return starts_with(image, kFatbinWrapperMagic); }

Bytes fatbin_at(const void* image) {
  const auto at = [&](std::size_t bytes) { return Bytes(static_cast<const std::byte*>(image), bytes); };
  if (starts_like_fatbin_wrapper(at(sizeof kFatbinWrapperMagic))) return wrapped_fatbin(at(sizeof(FatbinWrapper)));
  if (!starts_like_fatbin(at(sizeof kFatbinMagic))) throw Damaged("the fatbin does not start with its magic number");
  const auto header = read<FatbinHeader>(at(sizeof(FatbinHeader)), 0, "the fatbin's header");
  return at(header.header_bytes + header.bytes);
}

Bytes wrapped_fatbin(Bytes wrapper) {
  const void* const fatbin = read<FatbinWrapper>(wrapper, 0, "the fatbin's wrapper").fatbin;
  const Bytes start(static_cast<const std::byte*>(fatbin), fatbin == nullptr ? 0 : sizeof kFatbinMagic);
  if (!starts_like_fatbin(start)) throw Damaged("the fatbin's wrapper points to something else");
  return fatbin_at(fatbin);
}

std::vector<FatbinEntry> read_fatbin(Bytes fatbin) {
  std::vector<FatbinEntry> entries;
  do {
    take_fatbin(fatbin, entries);
    skip_padding(fatbin);
  } while (!fatbin.empty());
  return entries;
}

std::string contents_of(const FatbinEntry& entry) {
  if (entry.scrambled) throw Damaged("an entry of the fatbin is scrambled: NVIDIA's linkers alone can read it");
  std::string contents =
      entry.compression == Compression::none ? std::string(text_of(entry.payload)) : decompressed(entry);
  if (entry.kind == EntryKind::ptx) contents.resize(contents.find_last_not_of('\0') + 1);
  return contents;
}

}  // namespace cuprum::device_image
