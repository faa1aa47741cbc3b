// Images of device code, laid out by hand as NVIDIA's tools lay them out, without the code under test.
#pragma once

#include <ar.h>
#include <elf.h>
#include <zstd.h>

#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace cuprum::tests {

template <typename T>
void put(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

inline void pad(std::string& out, std::size_t alignment) {
  out.resize((out.size() + alignment - 1) / alignment * alignment);
}

struct RawEntry {
  std::uint16_t kind = 1;  // PTX
  std::uint64_t flags = 0x11;
  std::string payload = {};
  std::uint64_t decompressed = 0;
  std::uint32_t architecture = 90;
};

inline std::string raw_fatbin(const std::vector<RawEntry>& entries) {
  std::string body;
  for (const RawEntry& entry : entries) {
    const bool compressed = (entry.flags & 0xa000) != 0;
    const bool has_options = entry.kind == 1;  // without which NVIDIA's driver takes no PTX
    put<std::uint16_t>(body, entry.kind);
    put<std::uint16_t>(body, 0x101);
    put<std::uint32_t>(body, has_options ? 80 : 64);
    put<std::uint64_t>(body, (entry.payload.size() + 7) / 8 * 8);
    put<std::uint32_t>(body, static_cast<std::uint32_t>(compressed ? entry.payload.size() : 0));
    put<std::uint32_t>(body, has_options ? 64 : 0);
    put<std::uint32_t>(body, 0x00090000);
    put<std::uint32_t>(body, entry.architecture);
    put<std::uint64_t>(body, 0);
    put<std::uint64_t>(body, entry.flags);
    put<std::uint64_t>(body, 0);
    put<std::uint64_t>(body, entry.decompressed);
    if (has_options) {
      put<std::uint32_t>(body, 72);
      put<std::uint32_t>(body, 0);
      put<std::uint64_t>(body, 0);
    }
    body += entry.payload;
    pad(body, 8);
  }
  std::string whole;
  put<std::uint32_t>(whole, 0xba55ed50);
  put<std::uint16_t>(whole, 1);
  put<std::uint16_t>(whole, 16);
  put<std::uint64_t>(whole, body.size());
  return whole + body;
}

inline std::string zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 1));
  return out;
}

struct RawElf {
  std::uint16_t machine = EM_CUDA;
  std::uint16_t type = ET_EXEC;
  std::uint8_t abi_version = 8;
  std::uint32_t flags = 0x06005a04;  // sm_90
  std::vector<std::pair<std::string, std::string>> sections = {{".text.scale", "machine code"}};
};

// Header, contents, names, table of sections, and for programs a segment of everything before.
inline std::string raw_elf(const RawElf& file = {}) {
  std::string contents, names(1, '\0');
  std::vector<Elf64_Shdr> table(1);
  const auto add = [&](const std::string& name, const std::string& bytes) {
    Elf64_Shdr section{};
    section.sh_name = static_cast<Elf64_Word>(names.size());
    section.sh_type = SHT_PROGBITS;
    section.sh_offset = sizeof(Elf64_Ehdr) + contents.size();
    section.sh_size = bytes.size();
    table.push_back(section);
    names += name + '\0';
    contents += bytes;
    pad(contents, 8);
  };
  for (const auto& [name, bytes] : file.sections) add(name, bytes);
  names += ".shstrtab";
  add("", names + '\0');
  table.back().sh_name = 0;

  Elf64_Ehdr header{};
  const unsigned char ident[] = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT, 0x41, file.abi_version};
  std::copy(std::begin(ident), std::end(ident), header.e_ident);
  header.e_type = file.type;
  header.e_machine = file.machine;
  header.e_flags = file.flags;
  header.e_shoff = sizeof header + contents.size();
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = static_cast<Elf64_Half>(table.size());
  header.e_shstrndx = static_cast<Elf64_Half>(table.size() - 1);
  std::string segments;
  if (file.type == ET_EXEC) {
    header.e_phoff = header.e_shoff + table.size() * sizeof(Elf64_Shdr);
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = 1;
    Elf64_Phdr segment{};
    segment.p_type = PT_LOAD;
    segment.p_filesz = header.e_shoff;
    put(segments, segment);
  }
  std::string whole;
  put(whole, header);
  whole += contents;
  for (const Elf64_Shdr& section : table) put(whole, section);
  return whole + segments;
}

inline std::string raw_ltoir(std::uint16_t architecture_times_ten = 900) {
  std::string image;
  put<std::uint32_t>(image, 0x7f4e43ed);
  put<std::uint32_t>(image, 0x62024101);
  put<std::uint32_t>(image, 0x00070203);
  const auto halves = [&](std::initializer_list<std::uint16_t> values) {
    for (const std::uint16_t half : values) put(image, half);
  };
  halves({0x18, 1, 0x2c, 0, 0x30, 0});
  halves({1, architecture_times_ten, 2, 2, 0x20, 1, 0x63, 0, 0, 0});  // pairs of a tag and its value
  halves({0, 0});                                                     // the key
  return image + "scrambled bitcode";
}

inline std::string raw_archive(const std::vector<std::pair<std::string, std::string>>& members) {
  std::string whole = ARMAG;
  for (const auto& [name, contents] : members) {
    char header[sizeof(ar_hdr) + 1];
    std::snprintf(header, sizeof header, "%-16s%-12d%-6d%-6d%-8o%-10zu%s", name.c_str(), 0, 0, 0, 0644, contents.size(),
                  ARFMAG);
    whole += header + contents;
    if (whole.size() % 2 != 0) whole += '\n';
  }
  return whole;
}

inline std::string ptx_text() {
  return "// made by hand\n.version 8.7\n.target sm_90\n.address_size 64\n.visible .entry nothing() { ret; }\n";
}

}  // namespace cuprum::tests
