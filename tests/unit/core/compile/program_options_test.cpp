#include "core/compile/program_options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cuprum/error.hpp>
#include <locale>

#include "core/compile/nvrtc_compilation.hpp"

namespace cuprum {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr auto nvrtc = CompilerBackendType::nvrtc;
constexpr auto nvvm = CompilerBackendType::nvvm;
constexpr auto nvjitlink = CompilerBackendType::nvjitlink;

std::string refusal(ProgramOptions options, CompilerBackendType backend, Target target) {
  options.arch = options.arch.value_or("sm_90");
  try {
    options.as_arguments(backend, target);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "no exception";
}

/// What the options become, the architecture aside.
std::vector<std::string> written(ProgramOptions options, CompilerBackendType backend, Target target = Target::ptx) {
  options.arch = "sm_90";
  std::vector<std::string> arguments = options.as_arguments(backend, target);
  EXPECT_THAT(arguments.back(), ::testing::MatchesRegex("(--gpu-architecture|-arch)=(compute|sm)_90"));
  arguments.pop_back();
  return arguments;
}

/// One option and the flags that it becomes; empty where the compiler has none.
struct Case {
  const char* name;
  ProgramOptions options;
  std::string nvrtc;
  std::string nvvm = {};
  std::string nvjitlink = {};
};

class ProgramOptionTest : public ::testing::TestWithParam<Case> {};

TEST_P(ProgramOptionTest, BecomesTheFlagOfNvrtc) {
  EXPECT_THAT(written(GetParam().options, nvrtc), ElementsAre(GetParam().nvrtc));
}

TEST_P(ProgramOptionTest, BecomesTheFlagOfLibnvvmOrIsRefused) {
  if (!GetParam().nvvm.empty()) {
    EXPECT_THAT(written(GetParam().options, nvvm), ElementsAre(GetParam().nvvm));
  } else {
    EXPECT_THAT(refusal(GetParam().options, nvvm, Target::ptx),
                HasSubstr(std::string("libNVVM, which has no option for ") + GetParam().name));
  }
}

TEST_P(ProgramOptionTest, BecomesTheFlagOfNvjitlinkOrIsLeftOut) {
  if (!GetParam().nvjitlink.empty()) {
    EXPECT_THAT(written(GetParam().options, nvjitlink, Target::cubin), ElementsAre(GetParam().nvjitlink));
  } else {
    EXPECT_THAT(written(GetParam().options, nvjitlink, Target::cubin), ElementsAre());
  }
}

const Case cases[] = {
    {"std", {.std = "c++20"}, "--std=c++20"},
    {"relocatable_device_code", {.relocatable_device_code = true}, "--relocatable-device-code=true"},
    {"extensible_whole_program", {.extensible_whole_program = true}, "--extensible-whole-program"},
    {"debug", {.debug = true}, "--device-debug", "-g", "-g"},
    {"lineinfo", {.lineinfo = true}, "--generate-line-info", "", "-lineinfo"},
    {"device_code_optimize", {.device_code_optimize = true}, "--dopt=on", "-opt=3"},
    {"ptxas_options", {.ptxas_options = {"-v"}}, "--ptxas-options=-v", "", "-Xptxas=-v"},
    {"max_register_count", {.max_register_count = 32}, "--maxrregcount=32", "", "-maxrregcount=32"},
    {"ftz", {.ftz = true}, "--ftz=true", "-ftz=1", "-ftz=true"},
    {"prec_sqrt", {.prec_sqrt = false}, "--prec-sqrt=false", "-prec-sqrt=0", "-prec-sqrt=false"},
    {"prec_div", {.prec_div = false}, "--prec-div=false", "-prec-div=0", "-prec-div=false"},
    {"fma", {.fma = false}, "--fmad=false", "-fma=0", "-fma=false"},
    {"use_fast_math", {.use_fast_math = true}, "--use_fast_math"},
    {"extra_device_vectorization", {.extra_device_vectorization = true}, "--extra-device-vectorization"},
    {"gen_opt_lto", {.gen_opt_lto = true}, "--gen-opt-lto"},
    {"define_macro", {.define_macro = {{"A", "2"}}}, "--define-macro=A=2"},
    {"define_macro", {.define_macro = {{"A"}}}, "--define-macro=A"},
    {"undefine_macro", {.undefine_macro = {"A"}}, "--undefine-macro=A"},
    {"include_path", {.include_path = {"/a"}}, "--include-path=/a"},
    {"pre_include", {.pre_include = {"a.h"}}, "--pre-include=a.h"},
    {"no_source_include", {.no_source_include = true}, "--no-source-include"},
    {"builtin_move_forward", {.builtin_move_forward = false}, "--builtin-move-forward=false"},
    {"builtin_initializer_list", {.builtin_initializer_list = false}, "--builtin-initializer-list=false"},
    {"disable_warnings", {.disable_warnings = true}, "--disable-warnings"},
    {"restrict", {.restrict = true}, "--restrict"},
    {"device_as_default_execution_space",
     {.device_as_default_execution_space = true},
     "--device-as-default-execution-space"},
    {"device_int128", {.device_int128 = true}, "--device-int128"},
    {"device_float128", {.device_float128 = true}, "--device-float128"},
    {"optimization_info", {.optimization_info = "inline"}, "--optimization-info=inline"},
    {"no_display_error_number", {.no_display_error_number = true}, "--no-display-error-number"},
    {"diag_error", {.diag_error = {177}}, "--diag-error=177"},
    {"diag_suppress", {.diag_suppress = {177}}, "--diag-suppress=177"},
    {"diag_warn", {.diag_warn = {177}}, "--diag-warn=177"},
    {"brief_diagnostics", {.brief_diagnostics = true}, "--brief-diagnostics=true"},
    {"time", {.time = "out.csv"}, "--time=out.csv", "", "-time"},
    {"split_compile", {.split_compile = 2}, "--split-compile=2", "", "-split-compile=2"},
    {"fdevice_syntax_only", {.fdevice_syntax_only = true}, "--fdevice-syntax-only"},
    {"minimal", {.minimal = true}, "--minimal"},
    {"no_cache", {.no_cache = true}, "--no-cache", "", "-no-cache"},
    {"fdevice_time_trace", {.fdevice_time_trace = "trace.json"}, "--fdevice-time-trace=trace.json"},
    {"frandom_seed", {.frandom_seed = "7"}, "--frandom-seed=7"},
    {"ofast_compile", {.ofast_compile = "max"}, "--Ofast-compile=max"},
    {"pch", {.pch = true}, "--pch"},
    {"create_pch", {.create_pch = "a.pch"}, "--create-pch=a.pch"},
    {"use_pch", {.use_pch = "a.pch"}, "--use-pch=a.pch"},
    {"pch_dir", {.pch_dir = "/tmp"}, "--pch-dir=/tmp"},
    {"pch_verbose", {.pch_verbose = true}, "--pch-verbose=true"},
    {"pch_messages", {.pch_messages = false}, "--pch-messages=false"},
    {"instantiate_templates_in_pch", {.instantiate_templates_in_pch = true}, "--instantiate-templates-in-pch=true"},
    {"numba_debug", {.numba_debug = true}, "--numba-debug", "-numba-debug"},
};
INSTANTIATE_TEST_SUITE_P(Each, ProgramOptionTest, ::testing::ValuesIn(cases), [](const auto& parameter) {
  return std::string(parameter.param.name) + '_' + std::to_string(parameter.index);
});

TEST(ProgramOptionsTest, SayNothingByDefault) { EXPECT_THAT(written({}, nvrtc), ElementsAre()); }

TEST(ProgramOptionsTest, SwitchesThatAreOffSayNothing) {
  EXPECT_THAT(written({.debug = false, .use_fast_math = false, .pch = false}, nvrtc), ElementsAre());
  EXPECT_THAT(written({.lineinfo = false, .use_fast_math = false}, nvvm), ElementsAre());
}

TEST(ProgramOptionsTest, RepeatWhatIsGivenSeveralTimes) {
  EXPECT_THAT(written({.define_macro = {{"A"}, {"B", "2"}}, .include_path = {"/a", "/b"}}, nvrtc),
              ElementsAre("--define-macro=A", "--define-macro=B=2", "--include-path=/a", "--include-path=/b"));
  EXPECT_THAT(written({.diag_suppress = {177, 550}}, nvrtc), ElementsAre("--diag-suppress=177", "--diag-suppress=550"));
}

TEST(ProgramOptionsTest, RefusedOnesAreListedTogether) {
  EXPECT_THAT(refusal({.std = "c++17", .lineinfo = true, .fma = true}, nvvm, Target::ptx),
              HasSubstr("has no option for std, lineinfo: leave them out"));
}

TEST(ProgramOptionsTest, OnlyLibnvvmCanDoWithoutOptimisations) {
  EXPECT_THAT(written({.device_code_optimize = false}, nvvm), ElementsAre("-opt=0"));
  EXPECT_THAT(refusal({.device_code_optimize = false}, nvrtc, Target::ptx), HasSubstr("device_code_optimize = false"));
  EXPECT_THAT(written({.debug = true, .device_code_optimize = false}, nvrtc), ElementsAre("--device-debug"));
}

TEST(ProgramOptionsTest, NvvmHasItsOwnOptions) {
  const ProgramOptions options = {.arch = "sm_90", .extra_sources = {{"b", "…"}}, .use_libdevice = true};
  EXPECT_THAT(options.as_arguments(nvvm, Target::ptx), ElementsAre("-arch=compute_90"));
  EXPECT_THAT(refusal(options, nvrtc, Target::ptx), HasSubstr("no option for extra_sources, use_libdevice"));
  EXPECT_THAT(refusal(options, nvjitlink, Target::cubin), HasSubstr("is PTX, which has no extra_sources"));
}

TEST(ProgramOptionsTest, TheArchitectureIsRealForMachineCodeAndVirtualForPtx) {
  const ProgramOptions real = {.arch = "sm_90a"};
  EXPECT_THAT(real.as_arguments(nvrtc, Target::cubin), Contains("--gpu-architecture=sm_90a"));
  EXPECT_THAT(real.as_arguments(nvrtc, Target::ptx), Contains("--gpu-architecture=compute_90a"));
  EXPECT_THAT(real.as_arguments(nvvm, Target::ltoir), Contains("-arch=compute_90a"));
  EXPECT_THAT(real.as_arguments(nvjitlink, Target::cubin), Contains("-arch=sm_90a"));
  EXPECT_THAT(refusal({.arch = "compute_90"}, nvrtc, Target::cubin), HasSubstr("needs a real architecture"));
  EXPECT_THAT(refusal({.arch = "90"}, nvrtc, Target::ptx), HasSubstr("arch is '90' for 'default_program'"));
}

TEST(ProgramOptionsDeathTest, TheArchitectureIsTheNewestOfTheCompilerWhenThereIsNoDevice) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto compiles_for_the_newest = [] {
    setenv("CUPRUM_DRIVER", "softgpu", 1);
    setenv("CUPRUM_SOFTGPU_PATH", "/nowhere/libcuda.so.1", 1);
    const std::string newest = std::to_string(core::supported_architectures().back());
    return ProgramOptions().as_arguments(nvrtc, Target::cubin).back() == "--gpu-architecture=sm_" + newest;
  };
  EXPECT_EXIT(_Exit(compiles_for_the_newest() ? 0 : 1), ::testing::ExitedWithCode(0), "");
}

TEST(ProgramOptionsTest, LtoirIsAskedForOnce) {
  EXPECT_THAT(written({}, nvrtc, Target::ltoir), ElementsAre("--dlink-time-opt"));
  EXPECT_THAT(written({.link_time_optimization = true}, nvrtc, Target::ltoir), ElementsAre("--dlink-time-opt"));
  EXPECT_THAT(written({}, nvvm, Target::ltoir), ElementsAre("-gen-lto"));
}

TEST(ProgramOptionsTest, ContradictionsAreRefused) {
  EXPECT_THAT(refusal({.link_time_optimization = true}, nvrtc, Target::cubin),
              HasSubstr("link_time_optimization makes LTO-IR and nothing else"));
  EXPECT_THAT(refusal({.link_time_optimization = false}, nvrtc, Target::ltoir),
              HasSubstr("contradicts link_time_optimization = false"));
}

/// A locale that writes 1024 as 1'024.
class WithApostrophes {
 public:
  WithApostrophes() : before_(std::locale::global(std::locale(std::locale::classic(), new Apostrophes))) {}
  ~WithApostrophes() { std::locale::global(before_); }
  WithApostrophes(const WithApostrophes&) = delete;
  WithApostrophes& operator=(const WithApostrophes&) = delete;

 private:
  struct Apostrophes : std::numpunct<char> {
    char do_thousands_sep() const override { return '\''; }
    std::string do_grouping() const override { return "\3"; }
  };
  std::locale before_;
};

TEST(ProgramOptions, WriteNumbersInAnyLocaleAsTheCompilerReadsThem) {
  const WithApostrophes locale;
  EXPECT_THAT(written({.max_register_count = 1024}, nvrtc), ElementsAre("--maxrregcount=1024"));
  EXPECT_THAT(LinkerOptions({.arch = "sm_90", .split_compile = 1000}).as_arguments(nvjitlink),
              Contains("-split-compile=1000"));
}

}  // namespace
}  // namespace cuprum
