// Programs: CUDA C++ compiled at run time by NVRTC.
//
//   Program program(R"(template <typename T> __global__ void scale(T* data, T factor) { data[threadIdx.x] *= factor;
//   })",
//                   {.std = "c++17"});
//   ObjectCode code = program.compile(Target::cubin, {.name_expressions = {"scale<float>"}});
//   Kernel scale = code.get_kernel("scale<float>");
#pragma once

#include <cuprum/detail/export.hpp>
#include <cuprum/detail/shared.hpp>
#include <cuprum/object_code.hpp>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cuprum {

/// `{"NDEBUG"}` or `{"VERSION", "2"}`.
struct Macro {
  std::string name;
  std::optional<std::string> value = {};
};

/// What the compiler is told. What is not given is left to the compiler's default. Names are cuda.core's; NVRTC's
/// documentation says what each one does.
struct ProgramOptions {
  std::string name = "default_program";  ///< what diagnostics call the source file
  std::optional<std::string> arch = {};  ///< "sm_90", "compute_90"…; the current device's when not given
  std::optional<std::string> std = {};   ///< "c++17", "c++20"…
  std::optional<bool> relocatable_device_code = {};
  std::optional<bool> extensible_whole_program = {};
  std::optional<bool> debug = {};
  std::optional<bool> lineinfo = {};
  std::optional<bool> device_code_optimize = {};
  std::vector<std::string> ptxas_options = {};
  std::optional<int> max_register_count = {};
  std::optional<bool> ftz = {};
  std::optional<bool> prec_sqrt = {};
  std::optional<bool> prec_div = {};
  std::optional<bool> fma = {};
  std::optional<bool> use_fast_math = {};
  std::optional<bool> extra_device_vectorization = {};
  std::optional<bool> link_time_optimization = {};
  std::optional<bool> gen_opt_lto = {};
  std::vector<Macro> define_macro = {};
  std::vector<std::string> undefine_macro = {};
  std::vector<std::string> include_path = {};  ///< searched before CUDA's own headers, which are always found
  std::vector<std::string> pre_include = {};
  std::optional<bool> no_source_include = {};
  std::optional<bool> builtin_move_forward = {};
  std::optional<bool> builtin_initializer_list = {};
  std::optional<bool> disable_warnings = {};
  std::optional<bool> restrict = {};
  std::optional<bool> device_as_default_execution_space = {};
  std::optional<bool> device_int128 = {};
  std::optional<bool> device_float128 = {};
  std::optional<std::string> optimization_info = {};
  std::optional<bool> no_display_error_number = {};
  std::vector<int> diag_error = {};
  std::vector<int> diag_suppress = {};
  std::vector<int> diag_warn = {};
  std::optional<bool> brief_diagnostics = {};
  std::optional<std::string> time = {};
  std::optional<int> split_compile = {};
  std::optional<bool> fdevice_syntax_only = {};
  std::optional<bool> minimal = {};
  std::optional<bool> no_cache = {};
  std::optional<std::string> fdevice_time_trace = {};
  std::optional<std::string> frandom_seed = {};
  std::optional<std::string> ofast_compile = {};
  std::optional<bool> pch = {};
  std::optional<std::string> create_pch = {};
  std::optional<std::string> use_pch = {};
  std::optional<std::string> pch_dir = {};
  std::optional<bool> pch_verbose = {};
  std::optional<bool> pch_messages = {};
  std::optional<bool> instantiate_templates_in_pch = {};
};

struct CompileOptions {
  /// C++ names of kernels and variables to instantiate and to find again, such as "scale<float>".
  std::vector<std::string> name_expressions = {};
  /// Receives what the compiler prints when it succeeds (warnings); when it fails, CompileError has it.
  std::ostream* log = nullptr;
};

/// Source and options; a cheap handle whose copies share them. Threads may compile one program at the same time.
class CUPRUM_API Program {
 public:
  explicit Program(std::string_view source, ProgramOptions options = {});

  /// Compiles. Target::cubin keeps the PTX of the same compilation too, so that the result runs on devices that take no
  /// machine code. Throws CompileError with the compiler's log, NotSupported when NVRTC isn't installed (what was
  /// searched, how to get it).
  ObjectCode compile(Target target, const CompileOptions& options = {}) const;

  /// Releases the source for all copies; later use throws InvalidArgument.
  void close();

 private:
  friend struct detail::Access;
  detail::Shared<detail::ProgramResource> shared_;
};

}  // namespace cuprum
