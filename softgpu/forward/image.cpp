#include "softgpu/forward/image.hpp"

#include <algorithm>

#include "device_image/archive.hpp"
#include "device_image/elf.hpp"
#include "device_image/ptx_text.hpp"
#include "device_image/recognize.hpp"

namespace softgpu::forward {

using namespace cuprum::device_image;

namespace {

// What all modules together run on. softgpu links the entries of one architecture, so that all have to say the same.
Architecture architecture_of(const std::vector<std::string>& modules) {
  Architecture newest = read_ptx_header(modules.front()).architecture;
  if (modules.size() == 1) return newest;
  for (const std::string& module : modules)
    newest.number = std::max(newest.number, read_ptx_header(module).architecture.number);
  return {newest.number};
}

}  // namespace

std::string with_ptx(std::string cubin, const std::vector<std::string>& ptx) {
  if (ptx.empty()) return cubin;
  try {
    std::vector<FatbinImage> images = {
        {.kind = EntryKind::cubin, .architecture = read_elf(bytes_of(cubin)).architecture, .contents = cubin}};
    const Architecture architecture = architecture_of(ptx);
    for (const std::string& text : ptx)
      images.push_back({.kind = EntryKind::ptx, .architecture = architecture, .contents = text});
    return write_fatbin(images);
  } catch (const Damaged&) {
    return cubin;
  }
}

std::string_view bare_cubin(std::string_view image) {
  if (!starts_like_fatbin(bytes_of(image))) return image;
  try {
    for (const FatbinEntry& entry : read_fatbin(bytes_of(image))) {
      const bool is_plain = entry.compression == FatbinEntry::Compression::none;
      if (entry.kind == EntryKind::cubin && is_plain) return text_of(entry.payload);
    }
    return image;
  } catch (const Damaged&) {
    return image;  // the linker will say what is wrong with it
  }
}

std::vector<std::string> kept_ptx(std::string_view cubin) {
  std::vector<std::string> modules;
  try {
    for (const ElfSection& section : read_elf(bytes_of(cubin)).sections) {
      if (!section.name.starts_with(".nv_debug_ptx_txt")) continue;
      std::string_view kept = text_of(section.contents);
      kept.remove_prefix(std::min(kept.find_first_not_of('\0'), kept.size()));
      std::string text(kept);
      std::replace(text.begin(), text.end(), '\0', '\n');  // a string for each line
      modules.push_back(std::move(text));
    }
  } catch (const Damaged&) {
    modules.clear();
  }
  return modules;
}

std::string with_register_limit(std::string ptx, unsigned limit) {
  const std::string directive = ".maxnreg " + std::to_string(limit) + "\n";
  for (std::size_t start = ptx.find(".entry"); start != std::string::npos; start = ptx.find(".entry", start + 1)) {
    const std::size_t end = ptx.find_first_of("{;", start);  // of the head: parameters have neither
    if (end == std::string::npos || ptx[end] == ';') continue;
    if (ptx.substr(start, end - start).find(".maxnreg") == std::string::npos) ptx.insert(end, directive);
  }
  return ptx;
}

namespace {

class Collector {
 public:
  explicit Collector(unsigned architecture) : architecture_(architecture) {}

  void take(std::string_view input) {
    const std::optional<Image> image = recognize(bytes_of(input));
    if (!image) {
      parts.is_complete = false;
      return;
    }
    switch (image->kind) {
      case ImageKind::ptx: parts.ptx.emplace_back(input.substr(0, input.find('\0'))); break;
      case ImageKind::ltoir: parts.has_ltoir = true; break;
      case ImageKind::cubin: parts.is_complete = false; break;
      case ImageKind::fatbin: take_fatbin(bytes_of(input)); break;
      case ImageKind::object: take_object(bytes_of(input)); break;
      case ImageKind::archive: take_library(bytes_of(input)); break;
    }
  }

  Parts parts;

 private:
  // LTO-IR before PTX, as the linker prefers it.
  void take_fatbin(Bytes fatbin) {
    std::vector<FatbinEntry> best;
    for (const FatbinEntry& entry : read_fatbin(fatbin)) {
      if (entry.kind == EntryKind::ltoir) {
        parts.has_ltoir = true;
        return;
      }
      if (entry.kind != EntryKind::ptx || !runs_ptx(architecture_, entry.architecture)) continue;
      if (!best.empty() && best.front().architecture.number > entry.architecture.number) continue;
      if (!best.empty() && best.front().architecture.number < entry.architecture.number) best.clear();
      best.push_back(entry);
    }
    if (best.empty()) parts.is_complete = false;
    for (const FatbinEntry& entry : best) parts.ptx.push_back(contents_of(entry));
  }

  void take_object(Bytes object) {
    for (const ElfSection& section : read_elf(object).sections) {
      if (section.name == kRelocatableFatbinSection || section.name == kFatbinSection) take_fatbin(section.contents);
    }
  }

  // A library is there for what the others need of it, which may be nothing: what is missing in the end, softgpu says.
  void take_library(Bytes archive) {
    const bool was_complete = parts.is_complete;
    for (const ArchiveMember& member : read_archive(archive)) take(text_of(member.contents));
    parts.is_complete = was_complete;
  }

  unsigned architecture_;
};

}  // namespace

Parts parts_of(std::string_view input, unsigned architecture) {
  Collector collector(architecture);
  try {
    collector.take(input);
  } catch (const Damaged&) {
    collector.parts.is_complete = false;
  }
  return std::move(collector.parts);
}

}  // namespace softgpu::forward
