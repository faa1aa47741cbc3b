#include "device_image/elf.hpp"

#include <elf.h>

#include <cstdint>

namespace cuprum::device_image {
namespace {

constexpr std::uint8_t kCudaAbi13 = 8;  // of CUDA 13 and newer; older ones have 7 and keep the architecture elsewhere

Architecture architecture_of(const Elf64_Ehdr& header) {
  const unsigned shift = header.e_ident[EI_ABIVERSION] >= kCudaAbi13 ? 8 : 0;
  return {header.e_flags >> shift & 0xff};
}

// A table of `count` headers of at least the size that we know.
template <typename Header>
std::vector<Header> read_table(Bytes file, std::size_t offset, std::size_t count, std::size_t entry_bytes,
                               const char* what) {
  std::vector<Header> table;
  if (count == 0) return table;
  if (entry_bytes < sizeof(Header)) throw Damaged(std::string(what) + " has entries that are too short");
  if (count > file.size() / entry_bytes) throw Damaged(std::string(what) + " is cut off");
  for (std::size_t i = 0; i < count; ++i) table.push_back(read<Header>(file, offset + i * entry_bytes, what));
  return table;
}

Bytes contents_of(Bytes file, const Elf64_Shdr& section) {
  if (section.sh_type == SHT_NOBITS || section.sh_type == SHT_NULL) return {};
  return part_of(file, section.sh_offset, section.sh_size, "a section of the ELF file");
}

std::string_view name_at(Bytes names, std::size_t offset) {
  if (offset >= names.size()) return {};
  const std::string_view rest = text_of(names.subspan(offset));
  return rest.substr(0, rest.find('\0'));
}

// Numbers that don't fit into the file's header are in the first section's.
std::vector<ElfSection> read_sections(Bytes file, const Elf64_Ehdr& header) {
  constexpr const char* what = "the section table of the ELF file";
  if (header.e_shoff == 0) return {};
  const auto first = read<Elf64_Shdr>(file, header.e_shoff, what);
  const std::size_t count = header.e_shnum != 0 ? header.e_shnum : first.sh_size;
  const std::size_t names_index = header.e_shstrndx != SHN_XINDEX ? header.e_shstrndx : first.sh_link;
  const auto table = read_table<Elf64_Shdr>(file, header.e_shoff, count, header.e_shentsize, what);
  const Bytes names = names_index < table.size() ? contents_of(file, table[names_index]) : Bytes();
  std::vector<ElfSection> sections;
  for (const Elf64_Shdr& section : table)
    sections.push_back({.name = name_at(names, section.sh_name), .contents = contents_of(file, section)});
  return sections;
}

void check_segments(Bytes file, const Elf64_Ehdr& header) {
  for (const auto& segment : read_table<Elf64_Phdr>(file, header.e_phoff, header.e_phnum, header.e_phentsize,
                                                    "the segment table of the ELF file"))
    part_of(file, segment.p_offset, segment.p_filesz, "a segment of the ELF file");
}

}  // namespace

bool starts_like_elf(Bytes image) { return text_of(image).starts_with(ELFMAG); }

ElfFile read_elf(Bytes file) {
  const auto header = read<Elf64_Ehdr>(file, 0, "the header of the ELF file");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
    throw Damaged("the ELF file is not of 64 bits, little-endian");
  check_segments(file, header);
  const bool device = header.e_machine == EM_CUDA;
  return {.is_device_code = device,
          .is_relocatable = header.e_type == ET_REL,
          .architecture = device ? architecture_of(header) : Architecture(),
          .sections = read_sections(file, header)};
}

}  // namespace cuprum::device_image
