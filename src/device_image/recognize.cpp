#include "device_image/recognize.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "device_image/archive.hpp"
#include "device_image/elf.hpp"
#include "device_image/ptx_text.hpp"

namespace cuprum::device_image {
namespace {

constexpr std::uint32_t kLtoirMagic = 0x7f4e43ed;

struct LtoirHeader {
  std::uint32_t magic;
  std::uint32_t versions[2];
  std::uint16_t attributes_offset, attributes_version;
  std::uint32_t key_offset, payload_offset;
};

struct LtoirAttribute {
  enum Tag : std::uint16_t { architecture = 1, architecture_specific = 0x20, end = 0x63 };
  std::uint16_t tag, value;
};

Architecture architecture_of_ltoir(Bytes image) {
  const auto header = read<LtoirHeader>(image, 0, "the header of the LTO-IR");
  Architecture architecture;
  for (std::size_t at = header.attributes_offset;; at += sizeof(LtoirAttribute)) {
    const auto [tag, value] = read<LtoirAttribute>(image, at, "the header of the LTO-IR");
    if (tag == LtoirAttribute::end) break;
    if (tag == LtoirAttribute::architecture) architecture.number = value / 10;  // 900 for sm_90
    if (tag == LtoirAttribute::architecture_specific && value != 0) architecture.variant = 'a';
  }
  if (header.payload_offset >= image.size()) throw Damaged("the LTO-IR is cut off");
  return architecture;
}

Image recognize_ltoir(Bytes image) { return {ImageKind::ltoir, {{EntryKind::ltoir, architecture_of_ltoir(image)}}}; }

void append_fatbin(Bytes fatbin, std::vector<ImagePart>& parts) {
  for (const FatbinEntry& entry : read_fatbin(fatbin)) parts.push_back({entry.kind, entry.architecture});
}

Image recognize_fatbin(Bytes image) {
  Image fatbin{ImageKind::fatbin};
  append_fatbin(image, fatbin.parts);
  return fatbin;
}

Image recognize_elf(Bytes image) {
  const ElfFile file = read_elf(image);
  if (file.is_device_code) return {ImageKind::cubin, {{EntryKind::cubin, file.architecture, file.is_relocatable}}};
  Image object{ImageKind::object};
  for (const ElfSection& section : file.sections)
    if ((section.name == kFatbinSection || section.name == kRelocatableFatbinSection) && !section.contents.empty())
      append_fatbin(section.contents, object.parts);
  return object;
}

std::optional<Image> recognize_member(Bytes image);

// Members that are no device code, such as a text or an archive in the archive, are the linker's to judge.
Image recognize_archive(Bytes image) {
  Image archive{ImageKind::archive};
  for (const ArchiveMember& member : read_archive(image))
    if (const auto inner = recognize_member(member.contents))
      std::copy(inner->parts.begin(), inner->parts.end(), std::back_inserter(archive.parts));
  return archive;
}

std::optional<Image> recognize_member(Bytes image) {
  if (starts_like_fatbin(image)) return recognize_fatbin(image);
  if (starts_like_elf(image)) return recognize_elf(image);
  if (starts_like_ltoir(image)) return recognize_ltoir(image);
  if (const PtxHeader header = read_ptx_header(text_of(image)); header.is_ptx())
    return Image{ImageKind::ptx, {{EntryKind::ptx, header.architecture}}};
  return std::nullopt;
}

std::string name_of(const ImagePart& part) {
  if (part.kind == EntryKind::ptx) return virtual_name(part.architecture);
  return part.kind == EntryKind::ltoir ? lto_name(part.architecture) : real_name(part.architecture);
}

}  // namespace

bool starts_like_ltoir(Bytes image) {
  return image.size() >= sizeof kLtoirMagic && read<std::uint32_t>(image, 0, "LTO-IR") == kLtoirMagic;
}

const char* description(ImageKind kind) {
  constexpr std::array names = {"PTX",      "a cubin (machine code)", "LTO-IR",
                                "a fatbin", "a host object file",     "an archive"};
  return names[static_cast<std::size_t>(kind)];
}

std::optional<Image> recognize(Bytes image) {
  if (starts_like_thin_archive(image))
    throw Damaged("the archive is a thin one, which has only the names of its members' files");
  return starts_like_archive(image) ? recognize_archive(image) : recognize_member(image);
}

std::string architectures(const Image& image) {
  std::string list;
  for (const ImagePart& part : image.parts) {
    list += list.empty() ? "" : ", ";
    list += name_of(part);
  }
  return list;
}

bool runs_on(unsigned device, const Image& image) {
  return std::any_of(image.parts.begin(), image.parts.end(), [&](const ImagePart& part) {
    if (part.kind == EntryKind::ptx) return runs_ptx(device, part.architecture);
    return part.kind == EntryKind::cubin && runs_machine_code(device, part.architecture);
  });
}

}  // namespace cuprum::device_image
