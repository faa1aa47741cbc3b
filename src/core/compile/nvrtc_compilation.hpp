// CUDA C++ through NVRTC.
#pragma once

#include <cuprum/nvrtc.hpp>
#include <cuprum/program.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/compile/program_resource.hpp"

namespace cuprum::core {

/// Compute capabilities that NVRTC can compile for, such as 90, in ascending order.
std::vector<int> supported_architectures();

/// The current device's, or without any device the newest that NVRTC knows: "sm_90".
std::string default_architecture();

/// One compilation. NVRTC's programs take name expressions only before they are compiled, so each compilation makes its
/// own. All functions throw CompileError when they fail.
class NvrtcCompilation {
 public:
  explicit NvrtcCompilation(const detail::ProgramResource& program);
  ~NvrtcCompilation();
  NvrtcCompilation(const NvrtcCompilation&) = delete;
  NvrtcCompilation& operator=(const NvrtcCompilation&) = delete;

  nvrtc::Program handle() const { return program_; }

  void add_name(const std::string& expression);
  void run(const std::vector<std::string>& arguments);

  std::string lowered_name(const std::string& expression) const;
  std::string log() const;
  std::string ptx() const;
  std::string cubin() const;
  std::string ltoir() const;

  /// Whether a precompiled header was written; none when the heap for it was too small, and then it has been enlarged:
  /// another compilation will succeed.
  std::optional<PCHStatusType> pch_status() const;

 private:
  const detail::ProgramResource& source_;
  nvrtc::Program program_ = nullptr;
};

}  // namespace cuprum::core
