#include "softgpu/runtime/jit_options.hpp"

#include <algorithm>
#include <cstdint>

#include "softgpu/runtime/error.hpp"

namespace softgpu::runtime {

JitOptions::JitOptions(unsigned count, CUjit_option* options, void** values) {
  require(count == 0 || (options != nullptr && values != nullptr), CUDA_ERROR_INVALID_VALUE, "options without values");
  for (unsigned i = 0; i < count; ++i) {
    require(options[i] >= 0 && options[i] < CU_JIT_NUM_OPTIONS, CUDA_ERROR_INVALID_VALUE, "no such JIT option");
    switch (options[i]) {
      case CU_JIT_INFO_LOG_BUFFER: info_.buffer = static_cast<char*>(values[i]); break;
      case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES: info_.size = &values[i]; break;
      case CU_JIT_ERROR_LOG_BUFFER: error_.buffer = static_cast<char*>(values[i]); break;
      case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES: error_.size = &values[i]; break;
      default: break;
    }
  }
}

void JitOptions::write(const Log& log, std::string_view text) {
  if (log.size == nullptr) return;
  const auto room = static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(*log.size));
  std::size_t written = 0;
  if (log.buffer != nullptr && room != 0) {
    const std::string_view fitting = text.substr(0, room - 1);
    *std::copy(fitting.begin(), fitting.end(), log.buffer) = '\0';
    written = fitting.empty() ? 0 : fitting.size() + 1;
  }
  *log.size = reinterpret_cast<void*>(static_cast<std::uintptr_t>(written));
}

}  // namespace softgpu::runtime
