#include "device_image/fatbin.hpp"
#include "device_image/fatbin_layout.hpp"
#include "device_image/ptx_text.hpp"

namespace cuprum::device_image {
namespace {

template <typename Header>
void append(std::string& out, const Header& header) {
  out.append(reinterpret_cast<const char*>(&header), sizeof header);
}

// With at least one zero behind it where it is text.
void append_padded(std::string& out, std::string_view bytes, bool terminated) {
  out += bytes;
  out.append(padded(bytes.size() + (terminated ? 1 : 0)) - bytes.size(), '\0');
}

struct Version {
  std::uint16_t major, minor;
};

std::uint16_t elf_abi_version(std::string_view cubin) {
  constexpr std::size_t kAbiVersion = 8;  // where ELF has it
  return cubin.size() > kAbiVersion ? static_cast<unsigned char>(cubin[kAbiVersion]) : std::uint16_t{0};
}

// Of what an entry holds: the PTX's own, or that of the machine code's container.
Version version_of(const FatbinImage& image) {
  switch (image.kind) {
    case EntryKind::cubin: return {1, elf_abi_version(image.contents)};
    case EntryKind::ltoir: return {1, 65};
    case EntryKind::ptx: break;
  }
  const PtxHeader header = read_ptx_header(image.contents);
  return {header.major, header.minor};
}

std::uint64_t flags_of(Architecture architecture) {
  std::uint64_t flags = kFlag64Bit | kFlagLinux;
  if (architecture.variant == 'a') flags |= kFlagArchitectureSpecific;
  if (architecture.variant == 'f') flags |= kFlagFamilySpecific;
  return flags;
}

// The identifier and the options, as they lie behind the fixed part of an entry's header, which learns where they are.
std::string texts_of(const FatbinImage& image, FatbinEntryHeader& header) {
  std::string texts;
  const auto here = [&] { return static_cast<std::uint32_t>(sizeof header + texts.size()); };
  if (!image.identifier.empty()) {
    header.identifier_offset = here();
    header.identifier_bytes = static_cast<std::uint32_t>(image.identifier.size());
    append_padded(texts, image.identifier, true);
  }
  if (image.kind != EntryKind::cubin) {
    header.options_offset = here();
    append(texts, FatbinText{static_cast<std::uint32_t>(here() + sizeof(FatbinText)),
                             static_cast<std::uint32_t>(image.options.size())});
    append_padded(texts, image.options, true);
  }
  return texts;
}

void append_entry(std::string& out, const FatbinImage& image) {
  const bool is_text = image.kind == EntryKind::ptx;
  const Version version = version_of(image);
  FatbinEntryHeader header{.kind = static_cast<std::uint16_t>(image.kind),
                           .version = kFatbinEntryVersion,
                           .payload_bytes = padded(image.contents.size() + (is_text ? 1 : 0)),
                           .minor = version.minor,
                           .major = version.major,
                           .architecture = image.architecture.number,
                           .flags = flags_of(image.architecture)};
  const std::string texts = texts_of(image, header);
  header.header_bytes = static_cast<std::uint32_t>(sizeof header + texts.size());
  append(out, header);
  out += texts;
  append_padded(out, image.contents, is_text);
}

}  // namespace

std::string write_fatbin(const std::vector<FatbinImage>& images) {
  std::string body;
  for (const FatbinImage& image : images) append_entry(body, image);
  std::string fatbin;
  append(fatbin, FatbinHeader{.magic = kFatbinMagic,
                              .version = kFatbinVersion,
                              .header_bytes = sizeof(FatbinHeader),
                              .bytes = body.size()});
  return fatbin + body;
}

}  // namespace cuprum::device_image
