#include "softgpu/runtime/device_code.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "softgpu/runtime/error.hpp"
#include "softgpu/runtime/fatbin.hpp"

namespace softgpu::runtime {
namespace {

constexpr std::string_view kElfMagic = "\177ELF";

std::string architecture_name(const char* prefix, unsigned capability) { return prefix + std::to_string(capability); }

// The newest PTX that the device can run.
std::string ptx_of_fatbin(const void* image, std::size_t size, unsigned compute_capability) {
  const FatbinEntry* best = nullptr;
  std::string found;
  const auto entries = fatbin_entries(image, size);
  for (const FatbinEntry& entry : entries) {
    found += (found.empty() ? "" : ", ") + architecture_name(entry.is_ptx ? "compute_" : "sm_", entry.architecture);
    if (!entry.is_ptx || entry.architecture > compute_capability) continue;
    if (best == nullptr || entry.architecture > best->architecture) best = &entry;
  }
  if (best == nullptr)
    throw Failure(CUDA_ERROR_NO_BINARY_FOR_GPU, "softgpu runs PTX, and the fatbin holds none for " +
                                                    architecture_name("compute_", compute_capability) +
                                                    " or older; it holds " + (found.empty() ? "nothing" : found));
  return fatbin_contents(*best);
}

// Text up to a null character; one at the end of known-sized text is optional.
std::string ptx_text(const void* image, std::size_t size) {
  const char* text = static_cast<const char*>(image);
  return {text, size == kUnknownSize ? std::strlen(text) : strnlen(text, size)};
}

void trim_padding(std::string& text) { text.resize(std::strlen(text.c_str())); }

bool looks_like_text(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.begin() + std::min<std::ptrdiff_t>(64, std::ssize(text)),
                     [](char c) { return c == '\n' || c == '\r' || c == '\t' || (c >= ' ' && c != '\177'); });
}

}  // namespace

std::string ptx_of(const void* image, std::size_t size, unsigned compute_capability) {
  require(image != nullptr && size != 0, CUDA_ERROR_INVALID_VALUE, "no image");
  const auto* bytes = static_cast<const char*>(image);
  if (size >= kElfMagic.size() && std::strncmp(bytes, kElfMagic.data(), kElfMagic.size()) == 0)
    throw Failure(CUDA_ERROR_NO_BINARY_FOR_GPU,
                  "the image is machine code for a GPU (a cubin); softgpu runs PTX: compile to PTX, or to a fatbin "
                  "that holds it");
  std::string text = is_fatbin(image, size) ? ptx_of_fatbin(image, size, compute_capability) : ptx_text(image, size);
  trim_padding(text);
  if (!looks_like_text(text)) throw Failure(CUDA_ERROR_INVALID_IMAGE, "the image is neither PTX text nor a fatbin");
  return text;
}

}  // namespace softgpu::runtime
