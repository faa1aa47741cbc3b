#include "core/program_options.hpp"

#include "support/text.hpp"

namespace cuprum::core {
namespace {

using support::text;
using Arguments = std::vector<std::string>;

// How an option is written, by the kind of its value.

void add_switch(Arguments& out, const char* option, const std::optional<bool>& value) {
  if (value.value_or(false)) out.emplace_back(option);
}

void add_boolean(Arguments& out, const char* option, const std::optional<bool>& value) {
  if (value) out.push_back(text(option, '=', *value ? "true" : "false"));
}

template <typename T>
void add_value(Arguments& out, const char* option, const std::optional<T>& value) {
  if (value) out.push_back(text(option, '=', *value));
}

template <typename T>
void add_each(Arguments& out, const char* option, const std::vector<T>& values) {
  for (const T& value : values) out.push_back(text(option, '=', value));
}

template <typename T>
void add_list(Arguments& out, const char* option, const std::vector<T>& values) {
  if (!values.empty()) out.push_back(text(option, '=', support::join(values, ",")));
}

void add_macros(Arguments& out, const std::vector<Macro>& macros) {
  for (const Macro& macro : macros) {
    out.push_back(macro.value ? text("--define-macro=", macro.name, '=', *macro.value)
                              : text("--define-macro=", macro.name));
  }
}

}  // namespace

std::vector<std::string> nvrtc_options(const ProgramOptions& options) {
  Arguments out;
  add_value(out, "--std", options.std);
  add_boolean(out, "--relocatable-device-code", options.relocatable_device_code);
  add_switch(out, "--extensible-whole-program", options.extensible_whole_program);
  add_switch(out, "--device-debug", options.debug);
  add_switch(out, "--generate-line-info", options.lineinfo);
  if (options.device_code_optimize) out.emplace_back(*options.device_code_optimize ? "--dopt=on" : "--dopt=off");
  add_each(out, "--ptxas-options", options.ptxas_options);
  add_value(out, "--maxrregcount", options.max_register_count);
  add_boolean(out, "--ftz", options.ftz);
  add_boolean(out, "--prec-sqrt", options.prec_sqrt);
  add_boolean(out, "--prec-div", options.prec_div);
  add_boolean(out, "--fmad", options.fma);
  add_switch(out, "--use_fast_math", options.use_fast_math);
  add_switch(out, "--extra-device-vectorization", options.extra_device_vectorization);
  add_switch(out, "--dlink-time-opt", options.link_time_optimization);
  add_switch(out, "--gen-opt-lto", options.gen_opt_lto);
  add_macros(out, options.define_macro);
  add_each(out, "--undefine-macro", options.undefine_macro);
  add_each(out, "--include-path", options.include_path);
  add_each(out, "--pre-include", options.pre_include);
  add_switch(out, "--no-source-include", options.no_source_include);
  add_boolean(out, "--builtin-move-forward", options.builtin_move_forward);
  add_boolean(out, "--builtin-initializer-list", options.builtin_initializer_list);
  add_switch(out, "--disable-warnings", options.disable_warnings);
  add_switch(out, "--restrict", options.restrict);
  add_switch(out, "--device-as-default-execution-space", options.device_as_default_execution_space);
  add_switch(out, "--device-int128", options.device_int128);
  add_switch(out, "--device-float128", options.device_float128);
  add_value(out, "--optimization-info", options.optimization_info);
  add_switch(out, "--no-display-error-number", options.no_display_error_number);
  add_list(out, "--diag-error", options.diag_error);
  add_list(out, "--diag-suppress", options.diag_suppress);
  add_list(out, "--diag-warn", options.diag_warn);
  add_boolean(out, "--brief-diagnostics", options.brief_diagnostics);
  add_value(out, "--time", options.time);
  add_value(out, "--split-compile", options.split_compile);
  add_switch(out, "--fdevice-syntax-only", options.fdevice_syntax_only);
  add_switch(out, "--minimal", options.minimal);
  add_switch(out, "--no-cache", options.no_cache);
  add_value(out, "--fdevice-time-trace", options.fdevice_time_trace);
  add_value(out, "--frandom-seed", options.frandom_seed);
  add_value(out, "--Ofast-compile", options.ofast_compile);
  add_switch(out, "--pch", options.pch);
  add_value(out, "--create-pch", options.create_pch);
  add_value(out, "--use-pch", options.use_pch);
  add_value(out, "--pch-dir", options.pch_dir);
  add_boolean(out, "--pch-verbose", options.pch_verbose);
  add_boolean(out, "--pch-messages", options.pch_messages);
  add_boolean(out, "--instantiate-templates-in-pch", options.instantiate_templates_in_pch);
  return out;
}

}  // namespace cuprum::core
