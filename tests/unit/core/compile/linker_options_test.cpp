#include "core/compile/linker_options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cuprum/error.hpp>

#include "core/compile/program_options.hpp"

namespace cuprum {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr auto nvjitlink = CompilerBackendType::nvjitlink;
constexpr auto driver_linker = CompilerBackendType::driver;

std::string refusal(const LinkerOptions& options, CompilerBackendType linker) {
  try {
    options.as_arguments(linker);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "no exception";
}

/// One option, the flag of nvJitLink that it becomes, and the option of the driver's linker if it has one.
struct Case {
  const char* name;
  LinkerOptions options;
  std::string nvjitlink;
  std::string driver = {};
};

class LinkerOptionTest : public ::testing::TestWithParam<Case> {};

TEST_P(LinkerOptionTest, BecomesTheFlagOfNvjitlink) {
  LinkerOptions options = GetParam().options;
  options.arch = "sm_90";
  EXPECT_THAT(options.as_arguments(nvjitlink), ElementsAre(GetParam().nvjitlink, "-arch=sm_90"));
}

TEST_P(LinkerOptionTest, BecomesTheOptionOfTheDriverOrIsRefused) {
  if (!GetParam().driver.empty()) {
    EXPECT_THAT(GetParam().options.as_arguments(driver_linker), ElementsAre(GetParam().driver));
  } else {
    EXPECT_THAT(refusal(GetParam().options, driver_linker),
                AllOf(HasSubstr("'<default linker>' is linked by the driver's linker, which has no option for "),
                      HasSubstr(GetParam().name), HasSubstr("install nvJitLink")));
  }
}

const Case cases[] = {
    {"max_register_count", {.max_register_count = 32}, "-maxrregcount=32", "CU_JIT_MAX_REGISTERS=32"},
    {"time", {.time = true}, "-time"},
    {"verbose", {.verbose = true}, "-verbose", "CU_JIT_LOG_VERBOSE=1"},
    {"link_time_optimization", {.link_time_optimization = true}, "-lto"},
    {"optimization_level", {.optimization_level = 3}, "-O3", "CU_JIT_OPTIMIZATION_LEVEL=3"},
    {"optimization_level", {.optimization_level = 0}, "-O0", "CU_JIT_OPTIMIZATION_LEVEL=0"},
    {"debug", {.debug = true}, "-g", "CU_JIT_GENERATE_DEBUG_INFO=1"},
    {"lineinfo", {.lineinfo = true}, "-lineinfo", "CU_JIT_GENERATE_LINE_INFO=1"},
    {"ftz", {.ftz = true}, "-ftz=true"},
    {"prec_div", {.prec_div = false}, "-prec-div=false"},
    {"prec_sqrt", {.prec_sqrt = false}, "-prec-sqrt=false"},
    {"fma", {.fma = false}, "-fma=false"},
    {"kernels_used", {.kernels_used = {"k"}}, "-kernels-used=k"},
    {"variables_used", {.variables_used = {"v"}}, "-variables-used=v"},
    {"optimize_unused_variables", {.optimize_unused_variables = true}, "-optimize-unused-variables"},
    {"ptxas_options", {.ptxas_options = {"-v"}}, "-Xptxas=-v"},
    {"split_compile", {.split_compile = 0}, "-split-compile=0", "CU_JIT_SPLIT_COMPILE=0"},
    {"split_compile_extended", {.split_compile_extended = 2}, "-split-compile-extended=2"},
    {"no_cache", {.no_cache = true}, "-no-cache"},
};
INSTANTIATE_TEST_SUITE_P(Each, LinkerOptionTest, ::testing::ValuesIn(cases), [](const auto& parameter) {
  return std::to_string(parameter.index) + "_" + parameter.param.name;
});

TEST(LinkerOptions, OfSeveralValuesAreGivenOneByOne) {
  const LinkerOptions options = {.arch = "sm_90", .kernels_used = {"a", "b"}, .ptxas_options = {"-v", "-w"}};
  EXPECT_THAT(options.as_arguments(nvjitlink),
              ElementsAre("-kernels-used=a", "-kernels-used=b", "-Xptxas=-v", "-Xptxas=-w", "-arch=sm_90"));
}

TEST(LinkerOptions, ThatAreFalseAskForNothing) {
  const LinkerOptions options = {.arch = "sm_90",
                                 .time = false,
                                 .verbose = false,
                                 .link_time_optimization = false,
                                 .ptx = false,
                                 .debug = false,
                                 .optimize_unused_variables = false,
                                 .no_cache = false};
  EXPECT_THAT(options.as_arguments(nvjitlink), ElementsAre("-arch=sm_90"));
  EXPECT_THAT(options.as_arguments(driver_linker), ElementsAre("CU_JIT_TARGET=90"));
}

TEST(LinkerOptions, WithoutArchitectureLeaveItToTheContextOfTheDriver) {
  EXPECT_THAT(LinkerOptions().as_arguments(driver_linker), IsEmpty());
}

TEST(LinkerOptions, RefuseWhatIsNoArchitecture) {
  for (const char* wrong : {"", "90", "sm_", "sm_x", "sm_90x", "gfx_90", "compute90"}) {
    EXPECT_THAT(refusal({.arch = wrong}, nvjitlink), HasSubstr(std::string("arch is '") + wrong + "'; it is a real"));
    EXPECT_THAT(refusal({.arch = wrong}, driver_linker), HasSubstr("such as sm_90"));
  }
  EXPECT_THAT(refusal({.arch = "compute_90"}, nvjitlink), HasSubstr("needs a real architecture such as sm_90"));
  const LinkerOptions ptx = {.arch = "compute_90", .link_time_optimization = true, .ptx = true};
  EXPECT_THAT(ptx.as_arguments(nvjitlink), ElementsAre("-lto", "-ptx", "-arch=compute_90"));
}

TEST(LinkerOptions, NameTheTargetsOfTheDriver) {
  EXPECT_EQ(core::jit_target("sm_90"), CU_TARGET_COMPUTE_90);
  EXPECT_EQ(core::jit_target("compute_120"), CU_TARGET_COMPUTE_120);
  EXPECT_EQ(core::jit_target("sm_90a"), CU_TARGET_COMPUTE_90A);
  EXPECT_EQ(core::jit_target("sm_100f"), CU_COMPUTE_FAMILY_TARGET_BASE + 100);
}

TEST(LinkerOptions, RefuseValuesThatAreNone) {
  EXPECT_THAT(refusal({.name = "a", .optimization_level = 2}, nvjitlink),
              HasSubstr("linker 'a': optimization_level is 2; nvJitLink knows 0 and 3"));
  EXPECT_THAT(refusal({.optimization_level = 5}, driver_linker), HasSubstr("the driver knows 0 to 4"));
  EXPECT_THAT(refusal({.max_register_count = 0}, nvjitlink), HasSubstr("max_register_count is 0; it is at least 1"));
  EXPECT_THAT(refusal({.split_compile = -1}, nvjitlink), HasSubstr("it is -1"));
  EXPECT_THAT(refusal({.ptx = true}, nvjitlink), HasSubstr("ptx needs link_time_optimization"));
}

TEST(LinkerOptions, AreForLinkersOnly) {
  EXPECT_THAT(refusal({}, CompilerBackendType::nvrtc),
              HasSubstr("the linkers are nvJitLink and the driver's; NVRTC is none"));
}

TEST(LinkerOptions, OfAProgramOfPtxAreTheProgramsOwn) {
  const ProgramOptions options = {.arch = "sm_80", .debug = true, .max_register_count = 40};
  EXPECT_THAT(options.as_arguments(driver_linker, Target::cubin),
              ElementsAre("CU_JIT_MAX_REGISTERS=40", "CU_JIT_GENERATE_DEBUG_INFO=1", "CU_JIT_TARGET=80"));
}

}  // namespace
}  // namespace cuprum
