// The options of cuModuleLoadDataEx, cuLibraryLoadData and cuLink*. The logs, the time and the limits of kernels matter
// to softgpu; the rest is advice to a compiler for GPUs, which is checked and then left alone.
#pragma once

#include <cuda.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "softgpu/ptx/ast.hpp"
#include "softgpu/runtime/base/error.hpp"

namespace softgpu::runtime {

// Limits that options set for all kernels of a program. They come behind those in the PTX unless they override them.
struct KernelLimits {
  std::optional<unsigned> registers;  // per thread
  std::optional<unsigned> threads;    // per block
  bool override_directives = false;

  void apply(ptx::Module& module) const;
};

class JitOptions {
 public:
  // What the options are for: loading, a link as a whole, one input of a link. Not all make sense everywhere.
  enum class Use : unsigned { load = 1, link = 2, link_input = 4 };

  JitOptions() = default;
  // Throws CUDA_ERROR_INVALID_VALUE for options that don't exist, values that are none, and combinations that CUDA
  // excludes, and CUDA_ERROR_NOT_SUPPORTED for what would change the result. The arrays must outlive the object.
  JitOptions(unsigned count, CUjit_option* options, void** values, Use use);

  bool verbose() const { return verbose_; }
  const KernelLimits& limits() const { return limits_; }

  // For the information log.
  void inform(std::string_view text) { info_.add(text); }

  // `work()`, with its time measured and the message of a Failure put into the error log. Of several reports, as for
  // the inputs of a link, the logs follow each other and the times add up.
  template <typename Work>
  auto report(Work&& work) {
    const Clock::time_point start = Clock::now();
    const Writing writing{*this, start};
    try {
      return work();
    } catch (const Failure& failure) {
      error_.add(failure.what());
      throw;
    }
  }

 private:
  using Clock = std::chrono::steady_clock;

  struct Log {
    char* buffer = nullptr;
    void** size = nullptr;  // the option's value: room on input, bytes written on output
    std::size_t room = 0;
    std::string text;

    void add(std::string_view lines);
    void write() const;
  };
  struct Writing {
    JitOptions& options;
    Clock::time_point start;
    ~Writing() { options.write(start); }
  };

  void take(CUjit_option option, void** value);
  void write(Clock::time_point start);

  Log error_, info_;
  bool verbose_ = false;
  KernelLimits limits_;
  void** time_ = nullptr;  // the option's value: a float, in milliseconds
  Clock::duration spent_{};
};

}  // namespace softgpu::runtime
