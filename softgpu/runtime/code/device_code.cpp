#include "softgpu/runtime/code/device_code.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "device_image/archive.hpp"
#include "device_image/elf.hpp"
#include "device_image/fatbin.hpp"
#include "device_image/recognize.hpp"
#include "softgpu/runtime/base/error.hpp"

namespace softgpu::runtime {
namespace {

namespace images = cuprum::device_image;
using images::Bytes;
using images::EntryKind;

constexpr std::size_t kLongestMagic = 8;  // "!<arch>\n"; those of others hold no zeros, either

// Its first bytes, as many as surely are there: text may end before a magic number would.
Bytes start_of(const void* image, std::size_t size) {
  return {static_cast<const std::byte*>(image),
          size == kUnknownSize ? strnlen(static_cast<const char*>(image), kLongestMagic) : size};
}

std::string name_of(const images::FatbinEntry& entry) {
  switch (entry.kind) {
    case EntryKind::ptx: return virtual_name(entry.architecture);
    case EntryKind::cubin: return real_name(entry.architecture);
    case EntryKind::ltoir: return "LTO-IR for " + real_name(entry.architecture);
  }
  return "something unknown";
}

// PTX for all GPUs of a compute capability comes before PTX that only some of them run.
bool is_better(images::Architecture a, images::Architecture b) {
  return a.number != b.number ? a.number > b.number : a.variant == '\0' && b.variant != '\0';
}

// What a fatbin holds, and what to do so that softgpu finds PTX in it.
[[noreturn]] void refuse_fatbin(const std::vector<images::FatbinEntry>& entries, unsigned compute_capability) {
  const std::string wanted = images::virtual_name({compute_capability});
  std::string found;
  unsigned newer = 0;
  for (const images::FatbinEntry& entry : entries) {
    found += (found.empty() ? "" : ", ") + name_of(entry);
    if (entry.kind == EntryKind::ptx) newer = entry.architecture.number;
  }
  std::string message = "softgpu runs PTX, and the fatbin holds none for " + wanted + " or older; it holds " +
                        (found.empty() ? "nothing" : found) +
                        ": compile it for that, too (nvcc -gencode arch=" + wanted + ",code=" + wanted + ")";
  if (newer != 0)
    message += ", or set SOFTGPU_COMPUTE_CAPABILITY=" + std::to_string(newer / 10) + "." + std::to_string(newer % 10);
  throw Failure(CUDA_ERROR_NO_BINARY_FOR_GPU, message);
}

// The newest PTX that the device can run.
std::vector<PtxPart> ptx_of_fatbin(Bytes fatbin, unsigned compute_capability) {
  const auto entries = images::read_fatbin(fatbin);
  const images::FatbinEntry* best = nullptr;
  for (const images::FatbinEntry& entry : entries) {
    if (entry.kind != EntryKind::ptx || entry.architecture.number > compute_capability) continue;
    if (best == nullptr || is_better(entry.architecture, best->architecture)) best = &entry;
  }
  if (best == nullptr) refuse_fatbin(entries, compute_capability);
  std::vector<PtxPart> parts;
  for (const images::FatbinEntry& entry : entries)
    if (entry.kind == EntryKind::ptx && entry.architecture == best->architecture)
      parts.push_back({std::string(entry.identifier), images::contents_of(entry)});
  return parts;
}

std::vector<PtxPart> ptx_of_fatbin(const void* image, std::size_t size, unsigned compute_capability) try {
  const Bytes start = start_of(image, size);
  const bool whole = size != kUnknownSize && !images::starts_like_fatbin_wrapper(start);
  return ptx_of_fatbin(whole ? start : images::fatbin_at(image), compute_capability);
} catch (const images::Damaged& damage) {
  throw Failure(CUDA_ERROR_INVALID_IMAGE, damage.what());
}

// Whoever gives an ELF file of unknown size gives at least its header.
[[noreturn]] void refuse_elf(const void* image, std::size_t size) {
  require(size >= sizeof(Elf64_Ehdr), CUDA_ERROR_INVALID_IMAGE, "the image is an ELF file whose header is cut off");
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof header);
  require(header.e_machine == EM_CUDA, CUDA_ERROR_INVALID_IMAGE,
          "the image is an ELF file for the host; device code in it has to be linked first (cuLinkAddData)");
  throw Failure(CUDA_ERROR_NO_BINARY_FOR_GPU,
                "the image is machine code for a GPU (a cubin); softgpu runs PTX: compile to PTX, or to a fatbin "
                "that holds it");
}

bool is_fatbin(Bytes start) { return images::starts_like_fatbin(start) || images::starts_like_fatbin_wrapper(start); }

// Text up to a null character; one at the end of known-sized text is optional.
std::string ptx_text(const void* image, std::size_t size) {
  const char* text = static_cast<const char*>(image);
  return {text, size == kUnknownSize ? std::strlen(text) : strnlen(text, size)};
}

bool looks_like_text(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.begin() + std::min<std::ptrdiff_t>(64, std::ssize(text)),
                     [](char c) { return c == '\n' || c == '\r' || c == '\t' || (c >= ' ' && c != '\177'); });
}

}  // namespace

std::vector<PtxPart> ptx_of(const void* image, std::size_t size, unsigned compute_capability) {
  require(image != nullptr && size != 0, CUDA_ERROR_INVALID_VALUE, "no image");
  const Bytes start = start_of(image, size);
  if (images::starts_like_elf(start)) refuse_elf(image, size);
  if (images::starts_like_archive(start))
    throw Failure(CUDA_ERROR_INVALID_IMAGE, "the image is an archive; its members have to be linked (cuLinkAddData)");
  if (images::starts_like_ltoir(start))
    throw Failure(
        CUDA_ERROR_INVALID_IMAGE,
        "the image is LTO-IR, which is no code to run yet: link it with nvJitLink, to PTX (-lto -ptx) for softgpu");
  std::vector<PtxPart> parts = is_fatbin(start) ? ptx_of_fatbin(image, size, compute_capability)
                                                : std::vector<PtxPart>{{"", ptx_text(image, size)}};
  for (const PtxPart& part : parts)
    if (!looks_like_text(part.text))
      throw Failure(CUDA_ERROR_INVALID_IMAGE, "the image is neither PTX text nor a fatbin");
  return parts;
}

std::string image_of(const std::vector<PtxPart>& parts, unsigned compute_capability) {
  std::vector<images::FatbinImage> entries;
  for (const PtxPart& part : parts)
    entries.push_back(
        {.kind = EntryKind::ptx, .architecture = {compute_capability}, .contents = part.text, .identifier = part.name});
  return images::write_fatbin(entries);
}

}  // namespace softgpu::runtime
