#include "device_image/archive.hpp"

#include <ar.h>

#include <charconv>

namespace cuprum::device_image {
namespace {

template <std::size_t Size>
std::string_view field(const char (&characters)[Size]) {
  const std::string_view text(characters, Size);
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

std::size_t size_of_member(const ar_hdr& header) {
  const std::string_view digits = field(header.ar_size);
  std::size_t size = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
  if (error != std::errc() || end != digits.data() + digits.size() || field(header.ar_fmag) != ARFMAG)
    throw Damaged("the header of an archive's member makes no sense");
  return size;
}

bool is_table(std::string_view name) { return name == "/" || name == "//" || name == "/SYM64/"; }

}  // namespace

bool starts_like_archive(Bytes image) { return text_of(image).starts_with(ARMAG); }

bool starts_like_thin_archive(Bytes image) { return text_of(image).starts_with("!<thin>\n"); }

std::vector<ArchiveMember> read_archive(Bytes archive) {
  std::vector<ArchiveMember> members;
  for (std::size_t at = SARMAG; at < archive.size();) {
    const auto header = read<ar_hdr>(archive, at, "the header of an archive's member");
    const std::string_view name = text_of(archive.subspan(at, field(header.ar_name).size()));
    at += sizeof header;
    const Bytes contents = part_of(archive, at, size_of_member(header), "a member of the archive");
    at += contents.size() + contents.size() % 2;  // members start at even offsets
    if (!is_table(name)) members.push_back({.name = name, .contents = contents});
  }
  return members;
}

}  // namespace cuprum::device_image
