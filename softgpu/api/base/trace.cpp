#include "softgpu/api/base/trace.hpp"

#include <cstdio>
#include <string_view>

#include "softgpu/api/base/errors.hpp"

namespace softgpu::api {
namespace {

constexpr std::size_t kLongestText = 80;

std::string hexadecimal(unsigned long long number) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", number);
  return text;
}

std::string extent(std::size_t x, std::size_t y, std::size_t z) {
  return "(" + std::to_string(x) + ", " + std::to_string(y) + ", " + std::to_string(z) + ")";
}

// One side of a copy: whichever of the addresses counts.
std::string place(CUmemorytype type, const void* host, CUdeviceptr device, CUarray array) {
  switch (type) {
    case CU_MEMORYTYPE_HOST: return "host " + text_of(host);
    case CU_MEMORYTYPE_ARRAY: return "array " + text_of(static_cast<const void*>(array));
    default: return "device " + text_of(device);
  }
}

}  // namespace

std::string text_of(const void* pointer) {
  return pointer == nullptr ? "null" : hexadecimal(reinterpret_cast<unsigned long long>(pointer));
}

std::string text_of(unsigned long long number) { return hexadecimal(number); }

std::string text_of(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", number);
  return text;
}

std::string text_of(const char* text) {
  if (text == nullptr) return "null";
  std::string quoted = "\"";
  for (; *text != '\0' && quoted.size() < kLongestText; ++text) {
    const bool is_plain = *text >= ' ' && *text < 0x7f;
    quoted += is_plain ? *text : '?';
  }
  return quoted + (*text == '\0' ? "\"" : "\"...");
}

std::string text_of(const CUmemLocation& location) {
  return "{type=" + std::to_string(location.type) + ", id=" + std::to_string(location.id) + "}";
}

std::string text_of(const CUlaunchConfig* config) {
  if (config == nullptr) return "null";
  return "{grid=" + extent(config->gridDimX, config->gridDimY, config->gridDimZ) +
         ", block=" + extent(config->blockDimX, config->blockDimY, config->blockDimZ) +
         ", shared=" + std::to_string(config->sharedMemBytes) +
         ", stream=" + text_of(static_cast<const void*>(config->hStream)) +
         ", attributes=" + std::to_string(config->numAttrs) + "}";
}

std::string text_of(const CUDA_MEMCPY2D* copy) {
  if (copy == nullptr) return "null";
  return "{" + place(copy->dstMemoryType, copy->dstHost, copy->dstDevice, copy->dstArray) + " pitch " +
         std::to_string(copy->dstPitch) + " <- " +
         place(copy->srcMemoryType, copy->srcHost, copy->srcDevice, copy->srcArray) + " pitch " +
         std::to_string(copy->srcPitch) + ", extent=" + extent(copy->WidthInBytes, copy->Height, 1) + "}";
}

std::string text_of(const CUDA_MEMCPY3D* copy) {
  if (copy == nullptr) return "null";
  return "{" + place(copy->dstMemoryType, copy->dstHost, copy->dstDevice, copy->dstArray) + " pitch " +
         std::to_string(copy->dstPitch) + " <- " +
         place(copy->srcMemoryType, copy->srcHost, copy->srcDevice, copy->srcArray) + " pitch " +
         std::to_string(copy->srcPitch) + ", extent=" + extent(copy->WidthInBytes, copy->Height, copy->Depth) + "}";
}

void TracedArgument::add_to(std::string& text, bool succeeded) const {
  if (!text.empty()) text += ", ";
  text.append(name_).append("=").append(text_(value_, succeeded));
}

void trace(const char* name, CUresult result, std::initializer_list<TracedArgument> arguments) {
  std::string text;
  for (const TracedArgument& argument : arguments) argument.add_to(text, result == CUDA_SUCCESS);
  const char* const code = error_name(result);
  std::fprintf(stderr, "softgpu: %s(%s) -> %s\n", name, text.c_str(), code != nullptr ? code : "?");
}

}  // namespace softgpu::api
