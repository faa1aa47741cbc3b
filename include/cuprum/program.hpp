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

/// What compiles or links.
enum class CompilerBackendType {
  nvrtc,      ///< NVRTC, for CUDA C++
  nvvm,       ///< libNVVM, for NVVM IR
  nvjitlink,  ///< nvJitLink, for PTX and for linking
  driver,     ///< the driver's own linker, for the same
};

/// What became of a precompiled header.
enum class PCHStatusType {
  created,        ///< it was made and written to its file
  not_attempted,  ///< the compiler saw no use in it, or used one that it had
  failed,         ///< the compiler tried and could not; the program itself is compiled
};

/// `{"NDEBUG"}` or `{"VERSION", "2"}`.
struct Macro {
  std::string name;                       ///< what `#define` would name
  std::optional<std::string> value = {};  ///< what it stands for; 1 when not given
};

/// Another module of NVVM IR that is compiled together with the program.
struct ExtraSource {
  std::string name;    ///< what diagnostics call it
  std::string source;  ///< text or bitcode
};

/// What the compiler is told. What is not given is left to the compiler, whose default each option names. Names are
/// cuda.core's; NVRTC's documentation says more. An option that the compiler of a program can't honour is refused when
/// it is compiled: libNVVM has debug, device_code_optimize, ftz, prec_sqrt, prec_div, fma, link_time_optimization and
/// numba_debug. Only those of PTX programs, which the linker compiles, are left out where the linker doesn't have them,
/// as cuda.core does: they are about the source that the PTX was made of.
struct ProgramOptions {
  std::string name = "default_program";  ///< what diagnostics call the source file
  /// "sm_90", "compute_90"…; when not given that of the current device, or without any device the newest that the
  /// compiler knows.
  std::optional<std::string> arch = {};
  std::optional<std::string> std = {};  ///< the language: "c++03", "c++11", "c++14", "c++17" (default), "c++20"
  /// Makes code that a Linker joins with other code: it may use functions and variables that are defined elsewhere, and
  /// keeps those that others may use. Default: false.
  std::optional<bool> relocatable_device_code = {};
  /// Takes the program as a whole, but leaves calls of the device runtime (cudadevrt) to the linker. Default: false.
  std::optional<bool> extensible_whole_program = {};
  /// Makes information for debuggers. NVRTC then optimises only if device_code_optimize is true; libNVVM needs it to be
  /// false. Default: false.
  std::optional<bool> debug = {};
  /// Makes line numbers for profilers and debuggers. Default: false.
  std::optional<bool> lineinfo = {};
  /// Optimises although `debug` is on, with line numbers as the only information for debuggers. Without `debug` NVRTC
  /// always optimises and `false` is refused; libNVVM takes both. Default: true without `debug`.
  std::optional<bool> device_code_optimize = {};
  /// Given to ptxas, which makes machine code of PTX, as they are: "-v", "-O2"…
  std::vector<std::string> ptxas_options = {};
  /// The most registers that a thread of a kernel may use: less makes room for more threads. Default: no limit.
  std::optional<int> max_register_count = {};
  /// Arithmetic of single precision takes denormal numbers for zero. Default: false, or as use_fast_math says.
  std::optional<bool> ftz = {};
  /// Square roots of single precision are rounded as IEEE 754 has it, else approximated faster. Default: true, or as
  /// use_fast_math says.
  std::optional<bool> prec_sqrt = {};
  /// Divisions and reciprocals of single precision are rounded as IEEE 754 has it, else approximated faster. Default:
  /// true, or as use_fast_math says.
  std::optional<bool> prec_div = {};
  /// Makes one operation, rounded once, of a multiplication and an addition. Default: true.
  std::optional<bool> fma = {};
  /// Uses faster and less exact mathematical functions, and means ftz, fma, and neither prec_sqrt nor prec_div.
  /// Default: false.
  std::optional<bool> use_fast_math = {};
  /// Vectorises more of the device code. Default: false.
  std::optional<bool> extra_device_vectorization = {};
  /// Makes LTO-IR, which a Linker optimises as a whole, instead of code. For Target::ltoir, where it need not be said;
  /// with other targets it is refused. Of PTX programs it is the linker's option. Default: as the target says.
  std::optional<bool> link_time_optimization = {};
  /// Optimises LTO-IR before the link, too. Default: false.
  std::optional<bool> gen_opt_lto = {};
  /// Macros that are defined before the first line of the source.
  std::vector<Macro> define_macro = {};
  /// Names of macros whose definition is taken back.
  std::vector<std::string> undefine_macro = {};
  std::vector<std::string> include_path = {};  ///< searched before CUDA's own headers, which are always found
  /// Headers that are included before the first line of the source.
  std::vector<std::string> pre_include = {};
  /// Does not look for headers in the folder of the source file, which is that of `name`. Default: false.
  std::optional<bool> no_source_include = {};
  /// Has std::move and std::forward without a header. Default: true.
  std::optional<bool> builtin_move_forward = {};
  /// Has std::initializer_list without a header. Default: true.
  std::optional<bool> builtin_initializer_list = {};
  /// Prints errors only. Default: false.
  std::optional<bool> disable_warnings = {};
  /// Promises that all pointer parameters of kernels are `__restrict__`. Default: false.
  std::optional<bool> restrict = {};
  /// Takes what is marked neither `__device__` nor `__host__` for `__device__`. Default: false.
  std::optional<bool> device_as_default_execution_space = {};
  /// Allows the type `__int128`, and defines `__CUDACC_RTC_INT128__`. Default: false.
  std::optional<bool> device_int128 = {};
  /// Allows the types `__float128` and `_Float128`. Default: false.
  std::optional<bool> device_float128 = {};
  /// Prints what was optimised: "inline", the one kind there is, names each function that was inlined. Default:
  /// nothing.
  std::optional<std::string> optimization_info = {};
  /// Leaves the numbers of diagnostics out, which diag_suppress and its like need. Default: false.
  std::optional<bool> no_display_error_number = {};
  /// Numbers of diagnostics that count as errors.
  std::vector<int> diag_error = {};
  /// Numbers of diagnostics that are not printed.
  std::vector<int> diag_suppress = {};
  /// Numbers of diagnostics that count as warnings.
  std::vector<int> diag_warn = {};
  /// Prints diagnostics without the line of the source and the column. Default: false.
  std::optional<bool> brief_diagnostics = {};
  /// A file that a row with the time of each phase is appended to, with commas between; "-" for the log. Of PTX
  /// programs the linker writes its times to its log, whatever the name. Default: none.
  std::optional<std::string> time = {};
  /// Threads that optimise; 0 is as many as there are processors. Default: 1.
  std::optional<int> split_compile = {};
  /// Checks the source and makes no code: the result is empty. Default: false.
  std::optional<bool> fdevice_syntax_only = {};
  /// Leaves out textures, surfaces, launches from the device and the types of CUDA's runtime, which makes compiling
  /// small programs faster. Default: false.
  std::optional<bool> minimal = {};
  /// Does not use NVRTC's own cache (CUDA 12.9). The cache of CompileOptions is another one. Default: false.
  std::optional<bool> no_cache = {};
  /// A file for a profile of the compilation as JSON, which chrome://tracing shows. Default: none.
  std::optional<std::string> fdevice_time_trace = {};
  /// A number, or a text to make one of, in place of the random ones in the names that the compiler makes up: the same
  /// source gives the same code, then. Default: random.
  std::optional<std::string> frandom_seed = {};
  /// How much to optimise less so as to compile faster: "0" (nothing), "min", "mid" or "max". Default: "0".
  std::optional<std::string> ofast_compile = {};
  /// Uses a precompiled header that fits, or makes one for the next compilation (CUDA 12.8). Default: false.
  std::optional<bool> pch = {};
  /// The file to write a precompiled header to (CUDA 12.8). Default: none.
  std::optional<std::string> create_pch = {};
  /// The file to read a precompiled header from, made in this process with the same options (CUDA 12.8). Default: none.
  std::optional<std::string> use_pch = {};
  /// The folder for precompiled headers; create_pch and use_pch are relative to it.
  std::optional<std::string> pch_dir = {};
  /// Says in the log why a precompiled header could not be used, with `pch`. Default: true.
  std::optional<bool> pch_verbose = {};
  /// Says in the log that a precompiled header was made or used. Default: true.
  std::optional<bool> pch_messages = {};
  /// Instantiates templates before the precompiled header is made: larger, and faster to use. Default: true.
  std::optional<bool> instantiate_templates_in_pch = {};
  std::vector<ExtraSource> extra_sources = {};  ///< NVVM IR only: modules to compile together with the program
  std::optional<bool> use_libdevice = {};  ///< NVVM IR only: NVIDIA's library of mathematical functions; default: false
  /// Lays the information for debuggers out as Numba wants it; a compiler that is too old refuses it. With PTX it is
  /// ignored, and the log hook is told. Default: false.
  std::optional<bool> numba_debug = {};
  /// PTX only: what compiles it, CompilerBackendType::nvjitlink or CompilerBackendType::driver. Default: what
  /// Linker::which_backend() says.
  std::optional<CompilerBackendType> linker = {};

  /// The options as `backend` reads them, for a compilation to `target`. Throws InvalidArgument that lists the options
  /// which it doesn't have; a linker's are left out.
  CUPRUM_API std::vector<std::string> as_arguments(CompilerBackendType backend, Target target) const;
};

class ProgramCacheResource;

/// The cache that Program::compile uses unless told otherwise: up to 1 GiB of files in the folder that CUPRUM_CACHE_DIR
/// names, or $XDG_CACHE_HOME/cuprum, or ~/.cache/cuprum. Null when CUPRUM_CACHE_DIR is "off", or when there is no
/// folder. The environment is looked at once.
CUPRUM_API ProgramCacheResource* default_program_cache();

/// How one compilation is to be done, besides the program's own options.
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
  /// doesn't touch it. Null when this is closed or empty. Throws what compile() throws for a compiler that isn't there
  /// and for bad options.
  void* handle() const;

  /// What the last compilation did about a precompiled header; none when `pch` or `create_pch` wasn't asked for, or
  /// nothing was compiled yet.
  std::optional<PCHStatusType> pch_status() const;

  /// Releases the source for all copies; later use throws InvalidArgument.
  void close();

 private:
  friend struct detail::Access;
  explicit Program(detail::Shared<detail::ProgramResource> shared) : shared_(std::move(shared)) {}
  detail::Shared<detail::ProgramResource> shared_;
};

/// Prints cuda.core's words: "c++", "ptx", "nvvm".
CUPRUM_API std::ostream& operator<<(std::ostream& out, SourceCodeType type);
/// Prints cuda.core's words: "NVRTC", "NVVM", "nvJitLink", "driver".
CUPRUM_API std::ostream& operator<<(std::ostream& out, CompilerBackendType backend);
/// Prints cuda.core's words: "created", "not_attempted", "failed".
CUPRUM_API std::ostream& operator<<(std::ostream& out, PCHStatusType status);

}  // namespace cuprum::inline CUPRUM_ABI
