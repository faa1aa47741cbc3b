#include "softgpu/runtime/code/link_input.hpp"

#include <span>
#include <string_view>
#include <utility>

#include "device_image/archive.hpp"
#include "device_image/elf.hpp"
#include "device_image/recognize.hpp"
#include "softgpu/runtime/base/error.hpp"

namespace softgpu::runtime {
namespace {

namespace images = cuprum::device_image;
using images::Bytes;

// The fatbins of a file of the host; empty when it has none. Code that waits to be linked comes before code that was.
Bytes fatbins_of(const images::ElfFile& file) {
  for (const std::string_view name : {images::kRelocatableFatbinSection, images::kFatbinSection})
    for (const images::ElfSection& section : file.sections)
      if (section.name == name && !section.contents.empty()) return section.contents;
  return {};
}

// PTX, a fatbin or a host object with fatbins; empty for a host object without.
std::vector<PtxPart> parts_of(Bytes image, unsigned compute_capability) {
  Bytes code = image;
  if (images::starts_like_elf(image))
    if (const images::ElfFile file = images::read_elf(image); !file.is_device_code) code = fatbins_of(file);
  if (code.empty()) return {};
  return ptx_of(code.data(), code.size(), compute_capability);
}

// Several parts of one input are told apart by the names that they have, or by number.
void put_names(std::vector<PtxPart>& parts, const std::string& input) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string own = parts[i].name.empty() ? std::to_string(i + 1) : std::move(parts[i].name);
    parts[i].name = parts.size() == 1 ? input : input + ":" + own;
  }
}

// "sum.o/"; a long name is a number in a table elsewhere, and starts with the stroke.
std::string name_of(const images::ArchiveMember& member, std::size_t number) {
  const std::string_view name = member.name.substr(0, member.name.find('/'));
  return name.empty() ? std::to_string(number) : std::string(name);
}

LinkInput read_archive(Bytes archive, const std::string& name, unsigned compute_capability) {
  LinkInput input{.parts = {}, .is_archive = true};
  std::size_t number = 1;
  for (const images::ArchiveMember& member : images::read_archive(archive)) {
    const std::string member_name = name + ":" + name_of(member, number++);
    if (!images::recognize(member.contents)) continue;  // notes of somebody
    try {
      std::vector<PtxPart> parts = parts_of(member.contents, compute_capability);
      put_names(parts, member_name);
      for (PtxPart& part : parts) input.parts.push_back(std::move(part));
    } catch (const Failure&) {
      input.without_ptx.push_back(member_name);
    }
  }
  return input;
}

}  // namespace

LinkInput read_link_input(const void* data, std::size_t size, const std::string& name,
                          unsigned compute_capability) try {
  const Bytes image(static_cast<const std::byte*>(data), size);
  if (images::starts_like_thin_archive(image))
    throw Failure(CUDA_ERROR_INVALID_IMAGE, "'" + name +
                                                "' is a thin archive, which has no members, only their names; make it "
                                                "with 'ar' without its option 'T' or '--thin'");
  if (images::starts_like_archive(image)) return read_archive(image, name, compute_capability);
  LinkInput input{.parts = parts_of(image, compute_capability)};
  if (input.parts.empty())
    throw Failure(CUDA_ERROR_NO_BINARY_FOR_GPU, "'" + name + "' is an object file without device code");
  put_names(input.parts, name);
  return input;
} catch (const images::Damaged& damage) {
  throw Failure(CUDA_ERROR_INVALID_IMAGE, "'" + name + "': " + damage.what());
}

}  // namespace softgpu::runtime
