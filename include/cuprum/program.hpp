// Programs: CUDA C++, NVVM IR or PTX, compiled at run time.
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

namespace cuprum::inline CUPRUM_ABI {

/// What a program is written in.
enum class SourceCodeType {
  cxx,   ///< CUDA C++, compiled by NVRTC
  ptx,   ///< PTX, compiled by the linker: nvJitLink or, without it, the driver
  nvvm,  ///< NVVM IR, text or bitcode, compiled by libNVVM
};

enum class CompilerBackendType {
  nvrtc,
  nvvm,
  nvjitlink,
  driver,  ///< the driver's own linker
};

/// What became of a precompiled header.
enum class PCHStatusType {
  created,
  not_attempted,  ///< the compiler saw no use in it, or used one that it had
  failed,
};

/// `{"NDEBUG"}` or `{"VERSION", "2"}`.
struct Macro {
  std::string name;
  std::optional<std::string> value = {};
};

/// Another module of NVVM IR that is compiled together with the program.
struct ExtraSource {
  std::string name;    ///< what diagnostics call it
  std::string source;  ///< text or bitcode
};

/// What the compiler is told. What is not given is left to the compiler's default. Names are cuda.core's; NVRTC's
/// documentation says what each one does. An option that the compiler of a program can't honour is refused when it is
/// compiled. Only those of PTX programs, which the linker compiles, are left out where the linker doesn't have them, as
/// cuda.core does: they are about the source that the PTX was made of.
struct ProgramOptions {
  std::string name = "default_program";  ///< what diagnostics call the source file
  /// "sm_90", "compute_90"…; when not given that of the current device, or without any device the newest that the
  /// compiler knows.
  std::optional<std::string> arch = {};
  std::optional<std::string> std = {};  ///< "c++17", "c++20"…
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
  std::vector<ExtraSource> extra_sources = {};  ///< NVVM IR only
  std::optional<bool> use_libdevice = {};       ///< NVVM IR only: NVIDIA's library of mathematical functions
  std::optional<bool> numba_debug = {};

  /// The options as `backend` reads them, for a compilation to `target`. Throws InvalidArgument that lists the options
  /// which it doesn't have; a linker's are left out.
  CUPRUM_API std::vector<std::string> as_arguments(CompilerBackendType backend, Target target) const;
};

class ProgramCacheResource;

/// The cache that Program::compile uses unless told otherwise: up to 1 GiB of files in the folder that CUPRUM_CACHE_DIR
/// names, or $XDG_CACHE_HOME/cuprum, or ~/.cache/cuprum. Null when CUPRUM_CACHE_DIR is "off", or when there is no
/// folder. The environment is looked at once.
CUPRUM_API ProgramCacheResource* default_program_cache();

struct CompileOptions {
  /// C++ names of kernels and variables to instantiate and to find again, such as "scale<float>".
  std::vector<std::string> name_expressions = {};
  /// Receives what the compiler prints when it succeeds (warnings), or printed when what is in the cache was compiled;
  /// when it fails, CompileError has it.
  std::ostream* log = nullptr;
  /// Where to look before compiling, and to keep the result (<cuprum/program_cache.hpp>); null for nowhere. What can't
  /// be cached is compiled each time. A cache that fails is the log hook's matter, once, and never that of compile().
  ProgramCacheResource* cache = default_program_cache();
};

/// Source and options; a cheap handle whose copies share them. Threads may compile one program at the same time.
class CUPRUM_API Program {
 public:
  /// An empty handle, for a variable that gets its value later; to use it before throws InvalidArgument.
  Program() = default;

  /// CUDA C++. Throws InvalidArgument when there is no source at all.
  explicit Program(std::string_view source, ProgramOptions options = {});
  /// PTX and NVVM IR, too.
  Program(std::string_view source, SourceCodeType type, ProgramOptions options = {});

  /// Reads the source from a file; its ending says what it is: .ptx, .ll and .bc (NVVM IR), CUDA C++ otherwise. When
  /// options.name isn't given the path is the name, so that headers beside the file are found. Throws InvalidArgument
  /// when it can't be read.
  static Program from_file(const std::string& path, ProgramOptions options = {});

  /// Compiles. Target::cubin keeps the PTX of the same compilation too, so that the result runs on devices that take no
  /// machine code. CUDA's headers (<cuda_fp16.h>, <cooperative_groups.h>, <cub/cub.cuh>, <cuda/std/…>…) are found
  /// without an include path. Throws CompileError with the compiler's log, the source around the first error and the
  /// options; InvalidArgument for a target or an option that the compiler doesn't have; NotSupported when the compiler
  /// isn't installed (what was searched, how to get it).
  ///
  /// Target::pch makes a precompiled header, of CUDA C++ only. Saved to a file, it is for use_pch of programs with the
  /// same options and the same headers in front, in this process.
  ObjectCode compile(Target target, const CompileOptions& options = {}) const;

  /// The compiler that this program needs.
  CompilerBackendType backend() const;

  /// A program of the compiler's own, with the source and nothing compiled: nvrtc::Program, nvvm::Program, or for PTX
  /// what Linker::handle() is, by backend(). It is made at the first call and given back with this program; compile()
  /// doesn't touch it. Throws what compile() throws for a compiler that isn't there and for bad options.
  void* handle() const;

  /// What the last compilation did about a precompiled header; none when `pch` or `create_pch` wasn't asked for, or
  /// nothing was compiled yet.
  std::optional<PCHStatusType> pch_status() const;

  /// Releases the source for all copies; later use throws InvalidArgument.
  void close();

 private:
  friend struct detail::Access;
  detail::Shared<detail::ProgramResource> shared_;
};

/// Print cuda.core's words: "c++", "ptx", "nvvm"; "NVRTC", "NVVM", "nvJitLink", "driver"; "created", "not_attempted",
/// "failed".
CUPRUM_API std::ostream& operator<<(std::ostream& out, SourceCodeType type);
CUPRUM_API std::ostream& operator<<(std::ostream& out, CompilerBackendType backend);
CUPRUM_API std::ostream& operator<<(std::ostream& out, PCHStatusType status);

}  // namespace cuprum::inline CUPRUM_ABI
