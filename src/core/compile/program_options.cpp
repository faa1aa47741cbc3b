#include "core/compile/program_options.hpp"

#include <cuprum/device.hpp>

#include "core/compile/compiler_arguments.hpp"
#include "core/compile/nvrtc_compilation.hpp"
#include "support/log.hpp"
#include "support/text.hpp"

namespace cuprum::core {
namespace {

using support::text;

Arguments macros(const std::vector<Macro>& definitions) {
  Arguments out;
  for (const Macro& macro : definitions) out.push_back(macro.value ? text(macro.name, '=', *macro.value) : macro.name);
  return out;
}

/// The options that come before the table and after it aren't options of a compiler: name, arch, extra_sources and
/// use_libdevice. `row` is called with the name of each other one, its value, how NVRTC and libNVVM spell it, and
/// whether the linkers, which compile PTX, have it, too: see linker_options().
template <typename Row>
void for_each_option(const ProgramOptions& o, Row&& row) {
  using enum Style;
  row("std", o.std, {value, "--std"}, {});
  row("relocatable_device_code", o.relocatable_device_code, {boolean, "--relocatable-device-code"}, {});
  row("extensible_whole_program", o.extensible_whole_program, {flag, "--extensible-whole-program"}, {});
  row("debug", o.debug, {flag, "--device-debug"}, {flag, "-g"});
  row("lineinfo", o.lineinfo, {flag, "--generate-line-info"}, {});
  row("device_code_optimize", o.device_code_optimize, {flag, "--dopt=on"}, {level, "-opt"});
  row("ptxas_options", o.ptxas_options, {value, "--ptxas-options"}, {});
  row("max_register_count", o.max_register_count, {value, "--maxrregcount"}, {});
  row("ftz", o.ftz, {boolean, "--ftz"}, {digit, "-ftz"});
  row("prec_sqrt", o.prec_sqrt, {boolean, "--prec-sqrt"}, {digit, "-prec-sqrt"});
  row("prec_div", o.prec_div, {boolean, "--prec-div"}, {digit, "-prec-div"});
  row("fma", o.fma, {boolean, "--fmad"}, {digit, "-fma"});
  row("use_fast_math", o.use_fast_math, {flag, "--use_fast_math"}, {});
  row("extra_device_vectorization", o.extra_device_vectorization, {flag, "--extra-device-vectorization"}, {});
  row("link_time_optimization", o.link_time_optimization, {flag, "--dlink-time-opt"}, {flag, "-gen-lto"});
  row("gen_opt_lto", o.gen_opt_lto, {flag, "--gen-opt-lto"}, {});
  row("define_macro", macros(o.define_macro), {value, "--define-macro"}, {});
  row("undefine_macro", o.undefine_macro, {value, "--undefine-macro"}, {});
  row("include_path", o.include_path, {value, "--include-path"}, {});
  row("pre_include", o.pre_include, {value, "--pre-include"}, {});
  row("no_source_include", o.no_source_include, {flag, "--no-source-include"}, {});
  row("builtin_move_forward", o.builtin_move_forward, {boolean, "--builtin-move-forward"}, {});
  row("builtin_initializer_list", o.builtin_initializer_list, {boolean, "--builtin-initializer-list"}, {});
  row("disable_warnings", o.disable_warnings, {flag, "--disable-warnings"}, {});
  row("restrict", o.restrict, {flag, "--restrict"}, {});
  row("device_as_default_execution_space", o.device_as_default_execution_space,
      {flag, "--device-as-default-execution-space"}, {});
  row("device_int128", o.device_int128, {flag, "--device-int128"}, {});
  row("device_float128", o.device_float128, {flag, "--device-float128"}, {});
  row("optimization_info", o.optimization_info, {value, "--optimization-info"}, {});
  row("no_display_error_number", o.no_display_error_number, {flag, "--no-display-error-number"}, {});
  row("diag_error", o.diag_error, {value, "--diag-error"}, {});
  row("diag_suppress", o.diag_suppress, {value, "--diag-suppress"}, {});
  row("diag_warn", o.diag_warn, {value, "--diag-warn"}, {});
  row("brief_diagnostics", o.brief_diagnostics, {boolean, "--brief-diagnostics"}, {});
  row("time", o.time, {value, "--time"}, {});
  row("split_compile", o.split_compile, {value, "--split-compile"}, {});
  row("fdevice_syntax_only", o.fdevice_syntax_only, {flag, "--fdevice-syntax-only"}, {});
  row("minimal", o.minimal, {flag, "--minimal"}, {});
  row("no_cache", o.no_cache, {flag, "--no-cache"}, {});
  row("fdevice_time_trace", o.fdevice_time_trace, {value, "--fdevice-time-trace"}, {});
  row("frandom_seed", o.frandom_seed, {value, "--frandom-seed"}, {});
  row("ofast_compile", o.ofast_compile, {value, "--Ofast-compile"}, {});
  row("pch", o.pch, {flag, "--pch"}, {});
  row("create_pch", o.create_pch, {value, "--create-pch"}, {});
  row("use_pch", o.use_pch, {value, "--use-pch"}, {});
  row("pch_dir", o.pch_dir, {value, "--pch-dir"}, {});
  row("pch_verbose", o.pch_verbose, {boolean, "--pch-verbose"}, {});
  row("pch_messages", o.pch_messages, {boolean, "--pch-messages"}, {});
  row("instantiate_templates_in_pch", o.instantiate_templates_in_pch, {boolean, "--instantiate-templates-in-pch"}, {});
  row("numba_debug", o.numba_debug, {flag, "--numba-debug"}, {flag, "-numba-debug"});
}

void check_targets(const ProgramOptions& options, Target target) {
  if (options.link_time_optimization.value_or(false) && target != Target::ltoir) {
    throw InvalidArgument(text("link_time_optimization makes LTO-IR and nothing else: compile '", options.name,
                               "' to Target::ltoir, or leave the option out (the target is ", target, ")"));
  }
  if (options.link_time_optimization == false && target == Target::ltoir) {
    throw InvalidArgument(text("compiling '", options.name,
                               "' to Target::ltoir contradicts link_time_optimization = false: leave the option out"));
  }
}

}  // namespace

std::string architecture(const ProgramOptions& options, CompilerBackendType backend, Target target) {
  const std::string arch = options.arch ? *options.arch : default_architecture();
  const bool is_real = arch.starts_with("sm_");
  if (!is_real && !arch.starts_with("compute_")) {
    throw InvalidArgument(text("arch is '", arch, "' for '", options.name,
                               "'; it is a real architecture such as sm_90, or a virtual one such as compute_90"));
  }
  const bool wants_virtual = backend == CompilerBackendType::nvvm || target == Target::ptx;
  if (wants_virtual && is_real) return "compute_" + arch.substr(3);
  if (target == Target::cubin && !is_real) {
    throw InvalidArgument(text("compiling '", options.name,
                               "' to machine code needs a real architecture such as sm_90; arch is '", arch, "'"));
  }
  return arch;
}

LinkerOptions linker_options(const ProgramOptions& options) {
  return {.name = options.name,
          .arch = options.arch,
          .max_register_count = options.max_register_count,
          .time = options.time.has_value(),
          .link_time_optimization = options.link_time_optimization,
          .debug = options.debug,
          .lineinfo = options.lineinfo,
          .ftz = options.ftz,
          .prec_div = options.prec_div,
          .prec_sqrt = options.prec_sqrt,
          .fma = options.fma,
          .ptxas_options = options.ptxas_options,
          .split_compile = options.split_compile,
          .no_cache = options.no_cache};
}

CompilerBackendType linker_of(const ProgramOptions& options) {
  if (!options.linker) return Linker::which_backend();
  if (*options.linker == CompilerBackendType::nvjitlink || *options.linker == CompilerBackendType::driver)
    return *options.linker;
  throw InvalidArgument(support::text("'", options.name, "' can't be compiled by ", title(*options.linker),
                                      ": PTX is compiled by nvJitLink or the driver"));
}

// What the linker doesn't have is about the C++ that the PTX was made of.
std::vector<std::string> linker_arguments(const ProgramOptions& options, CompilerBackendType linker) {
  if (!options.extra_sources.empty()) {
    throw InvalidArgument(support::text("'", options.name,
                                        "' is PTX, which has no extra_sources: leave them out, or "
                                        "link what they are compiled to"));
  }
  if (options.numba_debug.value_or(false)) {
    support::log(support::text("numba_debug of '", options.name,
                               "' is ignored: it is PTX, and the linker that compiles that has no such option"));
  }
  return linker_options(options).as_arguments(linker);
}

}  // namespace cuprum::core

namespace cuprum::inline CUPRUM_ABI {

std::vector<std::string> ProgramOptions::as_arguments(CompilerBackendType backend, Target target) const {
  using core::Spelling;
  if (backend == CompilerBackendType::nvjitlink || backend == CompilerBackendType::driver)
    return core::linker_arguments(*this, backend);
  core::check_targets(*this, target);
  std::vector<std::string> arguments;
  std::vector<std::string> refused;
  const auto row = [&](const char* option, const auto& value, Spelling nvrtc, Spelling nvvm) {
    const Spelling spelling = backend == CompilerBackendType::nvvm ? nvvm : nvrtc;
    const bool exists = spelling.style != core::Style::none;
    if (!exists && core::is_given(nvrtc, value)) refused.emplace_back(option);  // NVRTC has every option
    core::write(arguments, spelling, value);
  };
  core::for_each_option(*this, row);
  if (backend != CompilerBackendType::nvvm) {
    if (!extra_sources.empty()) refused.emplace_back("extra_sources");
    if (use_libdevice.value_or(false)) refused.emplace_back("use_libdevice");
    // They always optimise, but for debugging.
    if (device_code_optimize == false && !debug.value_or(false)) refused.emplace_back("device_code_optimize = false");
  }
  if (!refused.empty()) {
    throw InvalidArgument(support::text("'", name, "' is compiled by ", core::title(backend),
                                        ", which has no option for ", support::join(refused), ": leave ",
                                        refused.size() == 1 ? "it" : "them", " out"));
  }
  const bool makes_ltoir = target == Target::ltoir && !link_time_optimization.value_or(false);
  if (makes_ltoir) arguments.emplace_back(backend == CompilerBackendType::nvvm ? "-gen-lto" : "--dlink-time-opt");
  arguments.push_back((backend == CompilerBackendType::nvrtc ? "--gpu-architecture=" : "-arch=") +
                      core::architecture(*this, backend, target));
  return arguments;
}

}  // namespace cuprum::inline CUPRUM_ABI
