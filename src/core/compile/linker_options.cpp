#include "core/compile/linker_options.hpp"

#include <cuprum/error.hpp>

#include "core/compile/compiler_arguments.hpp"
#include "core/compile/nvrtc_compilation.hpp"
#include "core/compile/program_options.hpp"
#include "device_image/architecture.hpp"

namespace cuprum::core {
namespace {

using support::text;

/// How the driver's linker calls an option; no name where it doesn't have it.
struct JitName {
  CUjit_option option = CU_JIT_NUM_OPTIONS;
  const char* name = nullptr;
};

#define CUPRUM_JIT(option) \
  JitName { option, #option }

/// `row` is called with each option's name, its value, and how nvJitLink and the driver's linker call it. The driver
/// documents its options of link-time optimisation as good for LTO-IR of CUDA 11 only, so it counts as having none; its
/// cache mode is about loads of the compiled code, not what no_cache is about.
template <typename Row>
void for_each_option(const LinkerOptions& o, Row&& row) {
  using enum Style;
  row("max_register_count", o.max_register_count, {value, "-maxrregcount"}, CUPRUM_JIT(CU_JIT_MAX_REGISTERS));
  row("time", o.time, {flag, "-time"}, {});
  row("verbose", o.verbose, {flag, "-verbose"}, CUPRUM_JIT(CU_JIT_LOG_VERBOSE));
  row("link_time_optimization", o.link_time_optimization, {flag, "-lto"}, {});
  row("ptx", o.ptx, {flag, "-ptx"}, {});
  row("optimization_level", o.optimization_level, {appended, "-O"}, CUPRUM_JIT(CU_JIT_OPTIMIZATION_LEVEL));
  row("debug", o.debug, {flag, "-g"}, CUPRUM_JIT(CU_JIT_GENERATE_DEBUG_INFO));
  row("lineinfo", o.lineinfo, {flag, "-lineinfo"}, CUPRUM_JIT(CU_JIT_GENERATE_LINE_INFO));
  row("ftz", o.ftz, {boolean, "-ftz"}, {});
  row("prec_div", o.prec_div, {boolean, "-prec-div"}, {});
  row("prec_sqrt", o.prec_sqrt, {boolean, "-prec-sqrt"}, {});
  row("fma", o.fma, {boolean, "-fma"}, {});
  row("kernels_used", o.kernels_used, {value, "-kernels-used"}, {});
  row("variables_used", o.variables_used, {value, "-variables-used"}, {});
  row("optimize_unused_variables", o.optimize_unused_variables, {flag, "-optimize-unused-variables"}, {});
  row("ptxas_options", o.ptxas_options, {value, "-Xptxas"}, {});
  row("split_compile", o.split_compile, {value, "-split-compile"}, CUPRUM_JIT(CU_JIT_SPLIT_COMPILE));
  row("split_compile_extended", o.split_compile_extended, {value, "-split-compile-extended"}, {});
  row("no_cache", o.no_cache, {flag, "-no-cache"}, {});
}

#undef CUPRUM_JIT

int number(const std::optional<bool>& value) { return *value ? 1 : 0; }
int number(const std::optional<int>& value) { return *value; }
template <typename T>
int number(const std::vector<T>&) {
  return 0;  // the driver's linker has no option of several values
}

void check_values(const LinkerOptions& options, CompilerBackendType backend) {
  const auto refuse = [&](const auto&... parts) {
    throw InvalidArgument(text("the options of linker '", options.name, "': ", parts...));
  };
  const int level = options.optimization_level.value_or(0);
  if (backend == CompilerBackendType::nvjitlink && level != 0 && level != 3) {
    refuse("optimization_level is ", level, "; nvJitLink knows 0 and 3");
  }
  if (level < 0 || level > 4) refuse("optimization_level is ", level, "; the driver knows 0 to 4");
  if (options.max_register_count.value_or(1) < 1) {
    refuse("max_register_count is ", *options.max_register_count, "; it is at least 1");
  }
  for (const auto& threads : {options.split_compile, options.split_compile_extended}) {
    if (threads.value_or(0) < 0) refuse("split_compile is a number of threads, or 0 for all; it is ", *threads);
  }
  if (options.ptx.value_or(false) && !options.link_time_optimization.value_or(false)) {
    refuse("ptx needs link_time_optimization: only LTO-IR is linked into PTX");
  }
}

std::string architecture(const LinkerOptions& options) {
  const std::string arch = options.arch ? *options.arch : default_architecture();
  jit_target(arch);
  if (arch.starts_with("compute_") && !options.ptx.value_or(false)) {
    throw InvalidArgument(
        text("linking '", options.name, "' needs a real architecture such as sm_90; arch is '", arch, "'"));
  }
  return arch;
}

Arguments nvjitlink_arguments(const LinkerOptions& options) {
  Arguments arguments;
  for_each_option(
      options, [&](const char*, const auto& value, Spelling spelling, JitName) { write(arguments, spelling, value); });
  arguments.push_back("-arch=" + architecture(options));
  return arguments;
}

}  // namespace

int jit_target(const std::string& arch) {
  const std::optional<device_image::Architecture> parsed = device_image::parse_architecture(arch);
  if (!parsed || arch.starts_with("lto_")) {
    throw InvalidArgument(
        text("arch is '", arch, "'; it is a real architecture such as sm_90, or a virtual one such as compute_90"));
  }
  const int number = static_cast<int>(parsed->number);
  switch (parsed->variant) {
    case 'a': return CU_COMPUTE_ACCELERATED_TARGET_BASE + number;
    case 'f': return CU_COMPUTE_FAMILY_TARGET_BASE + number;
    default: return number;
  }
}

std::vector<JitSetting> jit_settings(const LinkerOptions& options) {
  check_values(options, CompilerBackendType::driver);
  std::vector<JitSetting> settings;
  std::vector<std::string> refused;
  for_each_option(options, [&](const char* option, const auto& value, Spelling spelling, JitName jit) {
    if (!is_given(spelling, value)) return;
    if (jit.name) {
      settings.push_back({jit.option, jit.name, number(value)});
    } else {
      refused.emplace_back(option);
    }
  });
  if (!refused.empty()) {
    throw InvalidArgument(text("'", options.name, "' is linked by the driver's linker, which has no option for ",
                               support::join(refused), ": leave ", refused.size() == 1 ? "it" : "them",
                               " out, or install nvJitLink"));
  }
  // Not given, it is that of the context.
  if (options.arch) settings.push_back({CU_JIT_TARGET, "CU_JIT_TARGET", jit_target(architecture(options))});
  return settings;
}

}  // namespace cuprum::core

namespace cuprum::inline CUPRUM_ABI {

std::vector<std::string> LinkerOptions::as_arguments(CompilerBackendType linker) const {
  switch (linker) {
    case CompilerBackendType::nvjitlink: core::check_values(*this, linker); return core::nvjitlink_arguments(*this);
    case CompilerBackendType::driver: {
      std::vector<std::string> arguments;
      for (const core::JitSetting& setting : core::jit_settings(*this)) {
        arguments.push_back(support::text(setting.name, '=', setting.value));
      }
      return arguments;
    }
    default:
      throw InvalidArgument(
          support::text("the linkers are nvJitLink and the driver's; ", core::title(linker), " is none"));
  }
}

}  // namespace cuprum::inline CUPRUM_ABI
