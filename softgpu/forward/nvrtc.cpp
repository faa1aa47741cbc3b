// NVRTC's machine code, with the PTX that the same compilation yields.
#include <algorithm>

#include "softgpu/forward/image.hpp"
#include "softgpu/forward/interpose.hpp"

namespace softgpu::forward {
namespace {

using Program = void*;
using GetSize = int (*)(Program, std::size_t*);
using GetBytes = int (*)(Program, char*);

// What a pair of functions such as nvrtcGetPTXSize and nvrtcGetPTX gives; `code` is of the one that failed, or 0.
std::string get(Library nvrtc, Program program, const char* size_name, const char* bytes_name, int& code) {
  constexpr int internal_error = 11;
  const auto get_size = reinterpret_cast<GetSize>(nvrtc.symbol(size_name));
  const auto get_bytes = reinterpret_cast<GetBytes>(nvrtc.symbol(bytes_name));
  std::size_t size = 0;
  code = get_size && get_bytes ? get_size(program, &size) : internal_error;
  std::string bytes(size, '\0');
  if (code == 0 && size != 0) code = get_bytes(program, bytes.data());
  return bytes;
}

std::string cubin_with_ptx(Library nvrtc, Program program, int& code) {
  std::string cubin = get(nvrtc, program, "nvrtcGetCUBINSize", "nvrtcGetCUBIN", code);
  if (code != 0 || cubin.empty()) return cubin;
  int ptx_code = 0;
  std::string ptx = get(nvrtc, program, "nvrtcGetPTXSize", "nvrtcGetPTX", ptx_code);
  ptx.resize(std::min(ptx.find('\0'), ptx.size()));
  return ptx_code == 0 && !ptx.empty() ? with_ptx(std::move(cubin), {ptx}) : cubin;
}

// Both make the image anew, instead of remembering it until nobody knows when: it takes a fraction of the compilation.
int get_cubin_size(Library nvrtc, Program program, std::size_t* size) {
  constexpr int invalid_input = 3;
  if (!size) return invalid_input;
  int code = 0;
  *size = cubin_with_ptx(nvrtc, program, code).size();
  return code;
}

int get_cubin(Library nvrtc, Program program, char* bytes) {
  constexpr int invalid_input = 3;
  if (!bytes) return invalid_input;
  int code = 0;
  const std::string image = cubin_with_ptx(nvrtc, program, code);
  if (code == 0) image.copy(bytes, image.size());
  return code;
}

constexpr Row rows[] = {
    {"nvrtcGetCUBINSize", Copies<get_cubin_size>::at},
    {"nvrtcGetCUBIN", Copies<get_cubin>::at},
};

}  // namespace

const Row* nvrtc_row(std::string_view name) {
  const auto* row =
      std::find_if(std::begin(rows), std::end(rows), [&](const Row& known) { return known.name == name; });
  return row == std::end(rows) ? nullptr : row;
}

SOFTGPU_EXPORT int nvrtcGetCUBINSize(Program program, std::size_t* size) {
  return get_cubin_size(Library::linked_to(__builtin_return_address(0)), program, size);
}

SOFTGPU_EXPORT int nvrtcGetCUBIN(Program program, char* bytes) {
  return get_cubin(Library::linked_to(__builtin_return_address(0)), program, bytes);
}

}  // namespace softgpu::forward
