#include "softgpu/api/base/errors.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "softgpu/api/base/call.hpp"

namespace softgpu::api {
namespace {

struct Name {
  CUresult code;
  const char* name;
};

constexpr Name kNames[] = {
#define ERROR(name) {name, #name},
#include "softgpu/api/base/errors.inc"
#undef ERROR
};

struct Description {
  CUresult code;
  const char* text;
};

// Where the name alone does not say it.
constexpr Description kDescriptions[] = {
    {CUDA_SUCCESS, "no error"},
    {CUDA_ERROR_INVALID_VALUE, "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "out of memory"},
    {CUDA_ERROR_NOT_INITIALIZED, "initialization error"},
    {CUDA_ERROR_DEINITIALIZED, "driver shutting down"},
    {CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected"},
    {CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal"},
    {CUDA_ERROR_INVALID_IMAGE, "device kernel image is invalid"},
    {CUDA_ERROR_INVALID_CONTEXT, "invalid device context"},
    {CUDA_ERROR_NO_BINARY_FOR_GPU, "no kernel image is available for execution on the device"},
    {CUDA_ERROR_INVALID_PTX, "a PTX JIT compilation failed"},
    {CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "the provided PTX was compiled with an unsupported toolchain"},
    {CUDA_ERROR_FILE_NOT_FOUND, "file not found"},
    {CUDA_ERROR_INVALID_HANDLE, "invalid resource handle"},
    {CUDA_ERROR_NOT_FOUND, "named symbol not found"},
    {CUDA_ERROR_NOT_READY, "device not ready"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered"},
    {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "too many resources requested for launch"},
    {CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE, "cannot set while device is active in this process"},
    {CUDA_ERROR_CONTEXT_IS_DESTROYED, "context is destroyed"},
    {CUDA_ERROR_ASSERT, "device-side assert triggered"},
    {CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "part or all of the requested memory range is already mapped"},
    {CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, "pointer does not correspond to a registered memory region"},
    {CUDA_ERROR_ILLEGAL_INSTRUCTION, "an illegal instruction was encountered"},
    {CUDA_ERROR_MISALIGNED_ADDRESS, "misaligned address"},
    {CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure"},
    {CUDA_ERROR_NOT_PERMITTED, "operation not permitted"},
    {CUDA_ERROR_NOT_SUPPORTED, "operation not supported"},
    {CUDA_ERROR_UNKNOWN, "unknown error"},
};

// CUDA_ERROR_PEER_ACCESS_UNSUPPORTED -> "peer access unsupported"
std::string words_of(const char* name) {
  constexpr std::string_view kPrefix = "CUDA_ERROR_";
  std::string words(std::string_view(name).starts_with(kPrefix) ? name + kPrefix.size() : name);
  for (char& c : words) c = c == '_' ? ' ' : static_cast<char>(c | 0x20);
  return words;
}

const char* error_description(CUresult code) {
  // Never destroyed: programs ask for these while they exit.
  static const auto& descriptions = *[] {
    auto* all = new std::unordered_map<int, std::string>;
    for (const Description& description : kDescriptions) all->emplace(description.code, description.text);
    for (const Name& name : kNames) all->try_emplace(name.code, words_of(name.name));
    return all;
  }();
  const auto it = descriptions.find(code);
  return it == descriptions.end() ? nullptr : it->second.c_str();
}

CUresult give(const char* text, const char** out) {
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *out = text;
  return text == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

}  // namespace

const char* error_name(CUresult code) {
  const auto* found =
      std::find_if(std::begin(kNames), std::end(kNames), [code](const Name& name) { return name.code == code; });
  return found == std::end(kNames) ? nullptr : found->name;
}

}  // namespace softgpu::api

using namespace softgpu::api;

extern "C" {

CUresult cuGetErrorName(CUresult error, const char** name) {
  return call_before_init(__func__, [&] { return give(error_name(error), name); });
}

CUresult cuGetErrorString(CUresult error, const char** text) {
  return call_before_init(__func__, [&] { return give(error_description(error), text); });
}

}  // extern "C"
