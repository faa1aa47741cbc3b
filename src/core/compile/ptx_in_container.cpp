#include "core/compile/ptx_in_container.hpp"

#include <algorithm>

#include "core/code/code_image.hpp"
#include "device_image/archive.hpp"
#include "device_image/elf.hpp"
#include "device_image/recognize.hpp"

namespace cuprum::core {
namespace {

using device_image::Architecture;
using device_image::Bytes;
using device_image::EntryKind;
using device_image::FatbinEntry;

void collect_fatbins(Bytes image, std::vector<Bytes>& fatbins) {
  if (device_image::starts_like_archive(image)) {
    for (const device_image::ArchiveMember& member : device_image::read_archive(image)) {
      collect_fatbins(member.contents, fatbins);
    }
  } else if (device_image::starts_like_elf(image)) {
    for (const device_image::ElfSection& section : device_image::read_elf(image).sections) {
      const bool has_fatbins =
          section.name == device_image::kRelocatableFatbinSection || section.name == device_image::kFatbinSection;
      if (has_fatbins && !section.contents.empty()) fatbins.push_back(section.contents);
    }
  } else if (device_image::starts_like_fatbin(image)) {
    fatbins.push_back(image);
  }
}

// A file's code is there once for each architecture; the newest that is not too new is the best.
std::vector<FatbinEntry> best_ptx(std::vector<FatbinEntry> entries, Architecture architecture) {
  std::erase_if(entries, [&](const FatbinEntry& entry) {
    return entry.kind != EntryKind::ptx || !device_image::runs_ptx(architecture.number, entry.architecture);
  });
  unsigned best = 0;
  for (const FatbinEntry& entry : entries) best = std::max(best, entry.architecture.number);
  std::erase_if(entries, [&](const FatbinEntry& entry) { return entry.architecture.number != best; });
  return entries;
}

std::vector<std::string> ptx_in(Bytes container, Architecture architecture) {
  std::vector<Bytes> fatbins;
  collect_fatbins(container, fatbins);
  std::vector<std::string> modules;
  for (Bytes fatbin : fatbins) {
    const std::vector<FatbinEntry> entries = best_ptx(device_image::read_fatbin(fatbin), architecture);
    if (entries.empty()) return {};
    for (const FatbinEntry& entry : entries) modules.push_back(device_image::contents_of(entry));
  }
  return modules;
}

}  // namespace

std::vector<std::string> ptx_in_container(const detail::Code& container, Architecture architecture) {
  return reading(container, [&] { return ptx_in(device_image::bytes_of(container.bytes), architecture); });
}

bool holds_ltoir(const detail::Code& container) {
  const auto image = recognized(container);
  return image && std::any_of(image->parts.begin(), image->parts.end(),
                              [](const device_image::ImagePart& part) { return part.kind == EntryKind::ltoir; });
}

}  // namespace cuprum::core
