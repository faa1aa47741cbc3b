// The options of cuModuleLoadDataEx, cuLibraryLoadData and cuLink*: of these, the log buffers matter to softgpu; the
// rest is advice to a compiler for GPUs.
#pragma once

#include <cuda.h>

#include <span>
#include <string_view>

namespace softgpu::runtime {

class JitOptions {
 public:
  JitOptions() = default;
  // Throws CUDA_ERROR_INVALID_VALUE for options that don't exist. The arrays must outlive the object.
  JitOptions(unsigned count, CUjit_option* options, void** values);

  // Write the log, as much as fits with a null character behind it, and how many bytes that took.
  void write_error_log(std::string_view text) const { write(error_, text); }
  void write_info_log(std::string_view text) const { write(info_, text); }

 private:
  struct Log {
    char* buffer = nullptr;
    void** size = nullptr;  // the option's value: room on input, bytes written on output
  };
  static void write(const Log& log, std::string_view text);

  Log error_, info_;
};

}  // namespace softgpu::runtime
