// The linker: makes one piece of object code from several.
//
//   ProgramOptions relocatable = {.relocatable_device_code = true};
//   ObjectCode kernel = Program("extern __device__ int f(int); extern \"C\" __global__ void k(int* p) { *p = f(*p); }",
//                               relocatable).compile(Target::ptx);
//   ObjectCode function = Program("__device__ int f(int x) { return x + 1; }", relocatable).compile(Target::ptx);
//   ObjectCode linked = Linker({kernel, function}).link(Target::cubin);
//
// With LTO-IR (Target::ltoir) and {.link_time_optimization = true} it optimises across them. docs/guide/compiling.md
// says more.
#pragma once

#include <cuprum/detail/export.hpp>
#include <cuprum/detail/shared.hpp>
#include <cuprum/object_code.hpp>
#include <cuprum/program.hpp>
#include <optional>
#include <string>
#include <vector>

namespace cuprum::inline CUPRUM_ABI {

/// What the linker is told. What is not given is left to the linker, whose default each option names. Names are
/// cuda.core's. An option that the linker can't honour is refused, never dropped: the driver's has arch,
/// max_register_count, verbose, optimization_level, debug, lineinfo and split_compile.
struct LinkerOptions {
  std::string name = "<default linker>";  ///< of the result
  /// "sm_90"; when not given that of the current device, or without any device the newest that the compiler knows.
  std::optional<std::string> arch = {};
  /// The most registers that a thread of a kernel may use; at least 1. Default: no limit.
  std::optional<int> max_register_count = {};
  std::optional<bool> time = {};     ///< writes times to the info log; default: false
  std::optional<bool> verbose = {};  ///< writes more to the info log; default: false
  /// Optimises the LTO-IR among the codes as a whole. Default: false.
  std::optional<bool> link_time_optimization = {};
  std::optional<bool> ptx = {};  ///< makes PTX instead of machine code; needs link_time_optimization; default: false
  /// nvJitLink knows 0 (nothing is optimised) and 3, the driver 0 to 4. Default: the highest.
  std::optional<int> optimization_level = {};
  /// Makes information for debuggers. Default: false.
  std::optional<bool> debug = {};
  /// Makes line numbers for profilers and debuggers. Default: false.
  std::optional<bool> lineinfo = {};
  /// Arithmetic of single precision takes denormal numbers for zero. Default: false.
  std::optional<bool> ftz = {};
  /// Divisions of single precision are rounded as IEEE 754 has it, else approximated faster. Default: true.
  std::optional<bool> prec_div = {};
  /// The same for square roots. Default: true.
  std::optional<bool> prec_sqrt = {};
  /// Makes one operation, rounded once, of a multiplication and an addition. Default: true.
  std::optional<bool> fma = {};
  std::vector<std::string> kernels_used = {};    ///< other kernels can be removed; empty: none can
  std::vector<std::string> variables_used = {};  ///< other variables can be removed; empty: none can
  /// Removes variables that no device code uses, although the host may ask for them. Default: false.
  std::optional<bool> optimize_unused_variables = {};
  /// Given to ptxas, which makes machine code of PTX, as they are: "-v", "-O2"…
  std::vector<std::string> ptxas_options = {};
  /// Threads that compile; 0 is as many as there are processors. Default: 1.
  std::optional<int> split_compile = {};
  /// The same, more aggressively, for link-time optimisation; the code may run slower. Default: 1.
  std::optional<int> split_compile_extended = {};
  /// Does not use nvJitLink's own cache of intermediate steps. Default: false.
  std::optional<bool> no_cache = {};
  /// CompilerBackendType::nvjitlink or CompilerBackendType::driver; when not given what Linker::which_backend() says.
  std::optional<CompilerBackendType> backend = {};

  /// The options as a linker reads them; for the driver's they are written "CU_JIT_MAX_REGISTERS=32". Throws
  /// InvalidArgument for what that linker doesn't have and for values that are none.
  CUPRUM_API std::vector<std::string> as_arguments(CompilerBackendType linker) const;
};

/// Object code on its way into one piece; a cheap handle whose copies share it. One thread at a time may use it.
class CUPRUM_API Linker {
 public:
  /// An empty handle, for a variable that gets its value later; to use it before throws InvalidArgument.
  Linker() = default;

  /// Hands the codes to the linker. They may be of any type, and may be closed or go away afterwards. Throws
  /// InvalidArgument when there are none and for options or inputs that the linker can't take; LinkError with its log
  /// when it doesn't accept one of them, for the driver's linker DriverError when it gives no reason.
  explicit Linker(const std::vector<ObjectCode>& codes, LinkerOptions options = {});

  /// Links. Target::cubin is what a device runs (softgpu's own linker makes PTX, or a fatbin of it); Target::ptx is for
  /// options that say ptx. The result knows the name expressions of all codes, and runs on devices that take no machine
  /// code if the PTX or LTO-IR of all codes is known. May be called again, and links again. Throws LinkError with the
  /// linker's log, InvalidArgument for another target.
  ObjectCode link(Target target);

  /// What the linker printed so far: with `time` and `verbose` in the options more than without.
  std::string get_info_log() const;
  /// What the linker complained of so far; LinkError has it, too.
  std::string get_error_log() const;

  /// The linker that does the work.
  CompilerBackendType backend() const;
  /// nvJitLink's handle (nvjitlink::Handle) or the driver's (CUlinkState), depending on backend(); null when this
  /// is closed or empty.
  void* handle() const;

  /// Gives the linker's state back, for all copies; later use, also of the logs, throws InvalidArgument.
  void close();

  /// The linker that is used when the options name none: nvJitLink when there is one of CUDA 12.3 or newer, else the
  /// driver's, which links neither LTO-IR nor code that is newer than the driver. That is told to the log hook once.
  static CompilerBackendType which_backend();

 private:
  friend struct detail::Access;
  explicit Linker(detail::Shared<detail::LinkerResource> shared) : shared_(std::move(shared)) {}
  detail::Shared<detail::LinkerResource> shared_;
};

}  // namespace cuprum::inline CUPRUM_ABI
