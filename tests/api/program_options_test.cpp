// What each option of a program does, where it can be seen from outside. What it is called is tests/unit/core's.
#include <filesystem>
#include <sstream>

#include "api/fixture.hpp"
#include "support/temporary_folder.hpp"

namespace cuprum::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
namespace fs = std::filesystem;

class ProgramOptionsTest : public ApiTest {
 protected:
  /// The PTX; `log` has what the compiler printed.
  std::string ptx(const char* source, ProgramOptions options) {
    std::ostringstream out;
    std::string code(Program(source, std::move(options)).compile(Target::ptx, {.log = &out}).code());
    log = out.str();
    return code;
  }
  std::string cubin_log(const char* source, ProgramOptions options) {
    std::ostringstream out;
    Program(source, std::move(options)).compile(Target::cubin, {.log = &out});
    return out.str();
  }
  std::string refused(const char* source, ProgramOptions options) {
    return error_of<CompileError>([&] { Program(source, std::move(options)).compile(Target::ptx); });
  }
  std::string file(const char* name, const char* contents) { return temporary.write(name, contents); }

  TemporaryFolder temporary;
  const fs::path& folder = temporary.path();
  std::string log;
};

constexpr const char* arithmetic = R"(
extern "C" __global__ void k(float* a) { a[0] = a[1] * a[2] + a[3]; a[4] = a[5] / a[6]; a[7] = sqrtf(a[8]); }
)";
constexpr const char* unused_variable = "extern \"C\" __global__ void k(int* p) {\n  int unused = 1;\n  *p = 1;\n}\n";
constexpr const char* plain = "extern \"C\" __global__ void k(int* p) { *p = 1; }";

TEST_F(ProgramOptionsTest, ReachTheKernelThatRuns) {
  file("answer.h", R"(
#include <cuda_fp16.h>
#ifdef WITH_TWO
  #define ANSWER (FORTY + 2)
#endif
using Half = __half;
)");
  Program program(R"(
#include "answer.h"
extern "C" __global__ void k(int* out) { *out = ANSWER + sizeof(Half); }
)",
                  {.define_macro = {{"FORTY", "40"}, {"WITH_TWO"}}, .include_path = {folder}});
  Stream stream = device.create_stream();
  Buffer out = device.allocate(sizeof(int), stream);
  launch(stream, {.grid = 1, .block = 1}, program.compile(Target::cubin).get_kernel("k"), out);
  EXPECT_EQ(download<int>(out, stream).front(), 44);
}

TEST_F(ProgramOptionsTest, StdChoosesTheLanguage) {
  constexpr const char* source = "template <typename T> concept C = true; extern \"C\" __global__ void k() {}";
  EXPECT_THAT(ptx(source, {.std = "c++20"}), HasSubstr(".entry k"));
  EXPECT_THAT(refused(source, {.std = "c++17"}), HasSubstr("concept"));
}

TEST_F(ProgramOptionsTest, RelocatableDeviceCodeLeavesFunctionsToTheLinker) {
  constexpr const char* source = "extern __device__ int f(); extern \"C\" __global__ void k(int* p) { *p = f(); }";
  EXPECT_THAT(ptx(source, {.relocatable_device_code = true}), HasSubstr(".extern .func"));
  EXPECT_THAT(error_of<CompileError>([&] { Program(source).compile(Target::cubin); }), HasSubstr("f"));
}

TEST_F(ProgramOptionsTest, ExtensibleWholeProgramLeavesFunctionsToTheLinker) {
  constexpr const char* source = "extern __device__ int f(); extern \"C\" __global__ void k(int* p) { *p = f(); }";
  EXPECT_THAT(ptx(source, {.extensible_whole_program = true}), HasSubstr(".extern .func"));
}

TEST_F(ProgramOptionsTest, DebugAndLineinfoDescribeTheSource) {
  EXPECT_THAT(ptx(plain, {.name = "kernel.cu", .debug = true}),
              AllOf(HasSubstr(".debug_info"), HasSubstr("kernel.cu")));
  EXPECT_THAT(ptx(plain, {.name = "kernel.cu", .lineinfo = true}),
              AllOf(HasSubstr(".loc"), HasSubstr("kernel.cu"), Not(HasSubstr(".debug_info"))));
  EXPECT_THAT(ptx(plain, {}), Not(HasSubstr(".loc")));
}

TEST_F(ProgramOptionsTest, DeviceCodeOptimizeWorksWithDebug) {
  EXPECT_THAT(ptx(plain, {.debug = true, .device_code_optimize = true}), HasSubstr(".entry k"));
}

TEST_F(ProgramOptionsTest, PtxasOptionsReachTheAssembler) {
  EXPECT_THAT(cubin_log(arithmetic, {.ptxas_options = {"-v"}}), HasSubstr("registers"));
}

TEST_F(ProgramOptionsTest, MaxRegisterCountLimitsRegisters) {
  constexpr const char* source = R"(extern "C" __global__ void k(float* a) {
    float v[64];
    for (int i = 0; i < 64; ++i) v[i] = a[i * 64];
    __syncthreads();
    for (int i = 0; i < 64; ++i) a[i] = v[i] * v[63 - i];
  })";
  EXPECT_THAT(cubin_log(source, {.ptxas_options = {"-v"}, .max_register_count = 24}), HasSubstr("Used 24 registers"));
}

TEST_F(ProgramOptionsTest, ArithmeticIsAsExactAsAskedFor) {
  EXPECT_THAT(ptx(arithmetic, {}), AllOf(HasSubstr("fma.rn.f32"), HasSubstr("div.rn.f32"), HasSubstr("sqrt.rn.f32")));
  EXPECT_THAT(ptx(arithmetic, {.ftz = true}), HasSubstr("fma.rn.ftz.f32"));
  EXPECT_THAT(ptx(arithmetic, {.prec_sqrt = false}), HasSubstr("sqrt.approx.f32"));
  EXPECT_THAT(ptx(arithmetic, {.prec_div = false}), HasSubstr("div.full.f32"));
  EXPECT_THAT(ptx(arithmetic, {.fma = false}), Not(HasSubstr("fma.rn")));
  EXPECT_THAT(ptx(arithmetic, {.use_fast_math = true}), AllOf(HasSubstr("approx.ftz"), Not(HasSubstr("div.rn"))));
}

TEST_F(ProgramOptionsTest, LinkTimeOptimizationYieldsInputOfTheLinker) {
  EXPECT_THAT(Program(plain, {.link_time_optimization = true}).compile(Target::ltoir).code(), Not(IsEmpty()));
  EXPECT_THAT(Program(plain, {.gen_opt_lto = true}).compile(Target::ltoir).code(), Not(IsEmpty()));
  EXPECT_THAT(
      error_of<InvalidArgument>([] { Program(plain, {.link_time_optimization = true}).compile(Target::cubin); }),
      HasSubstr("nothing else"));
}

TEST_F(ProgramOptionsTest, MacrosAreDefinedAndUndefined) {
  constexpr const char* source = "#if A != 2 || !defined B || defined C\n#error wrong\n#endif\n__global__ void k() {}";
  ptx(source, {.define_macro = {{"A", "2"}, {"B"}, {"C"}}, .undefine_macro = {"C"}});
  EXPECT_THAT(refused(source, {.define_macro = {{"A", "3"}, {"B"}}}), HasSubstr("wrong"));
}

TEST_F(ProgramOptionsTest, HeadersAreIncludedFromGivenFolders) {
  file("mine.h", "#define MINE 1\n");
  constexpr const char* source = "#include <mine.h>\n__global__ void k() {}";
  ptx(source, {.include_path = {folder}});
  constexpr const char* without = "#ifndef MINE\n#error wrong\n#endif\n__global__ void k() {}";
  ptx(without, {.include_path = {folder}, .pre_include = {"mine.h"}});
}

TEST_F(ProgramOptionsTest, AMissingHeaderIsReportedWithWhereItWasSearched) {
  EXPECT_THAT(refused("#include <mine.h>\n__global__ void k() {}", {.include_path = {folder}}),
              AllOf(HasSubstr("cannot open source file \"mine.h\""), HasSubstr("headers were searched in:"),
                    HasSubstr("\n  " + folder.string()), HasSubstr("> 1 | #include <mine.h>")));
}

TEST_F(ProgramOptionsTest, NoSourceIncludeHidesHeadersBesideTheSource) {
  file("beside.h", "#define BESIDE 1\n");
  constexpr const char* source = "#include \"beside.h\"\n__global__ void k() {}";
  const std::string name = (folder / "kernel.cu").string();
  ptx(source, {.name = name});
  EXPECT_THAT(refused(source, {.name = name, .no_source_include = true}), HasSubstr("beside.h"));
}

TEST_F(ProgramOptionsTest, BuiltinsOfTheLanguageCanBeSwitchedOff) {
  constexpr const char* move = "__global__ void k(int* p) { *p = std::move(*p); }";
  ptx(move, {});
  EXPECT_THAT(refused(move, {.builtin_move_forward = false}), HasSubstr("std"));
  constexpr const char* list = "__device__ int f(std::initializer_list<int> l); __global__ void k(int* p) {}";
  ptx(list, {});
  EXPECT_THAT(refused(list, {.builtin_initializer_list = false}), HasSubstr("initializer_list"));
}

TEST_F(ProgramOptionsTest, DiagnosticsAreAsAskedFor) {
  ptx(unused_variable, {});
  EXPECT_THAT(log, AllOf(HasSubstr("#177-D"), HasSubstr("int unused = 1;")));
  ptx(unused_variable, {.disable_warnings = true});
  EXPECT_THAT(log, IsEmpty());
  ptx(unused_variable, {.diag_suppress = {177}});
  EXPECT_THAT(log, IsEmpty());
  ptx(unused_variable, {.diag_warn = {177}});
  EXPECT_THAT(log, HasSubstr("unused"));
  ptx(unused_variable, {.no_display_error_number = true});
  EXPECT_THAT(log, AllOf(HasSubstr("unused"), Not(HasSubstr("#177-D"))));
  ptx(unused_variable, {.brief_diagnostics = true});
  EXPECT_THAT(log, AllOf(HasSubstr("unused"), Not(HasSubstr("int unused = 1;"))));
  EXPECT_THAT(refused(unused_variable, {.diag_error = {177}}), HasSubstr("error"));
}

TEST_F(ProgramOptionsTest, RestrictPromisesThatPointersDontOverlap) {
  constexpr const char* source = "extern \"C\" __global__ void k(const int* a, int* b) { b[0] = a[0]; b[1] = a[0]; }";
  EXPECT_THAT(ptx(source, {}), Not(HasSubstr("ld.global.nc")));
  EXPECT_THAT(ptx(source, {.restrict = true}), HasSubstr("ld.global.nc"));
}

TEST_F(ProgramOptionsTest, FunctionsCanBeOfTheDeviceByDefault) {
  constexpr const char* source = "int f() { return 1; } __global__ void k(int* p) { *p = f(); }";
  ptx(source, {.device_as_default_execution_space = true});
  EXPECT_THAT(refused(source, {}), HasSubstr("f"));
}

TEST_F(ProgramOptionsTest, WideTypesAreAllowed) {
  constexpr const char* source = "__global__ void k(__int128* p) { *p *= 3; }";
  ptx(source, {.device_int128 = true});
  EXPECT_THAT(refused(source, {}), HasSubstr("__int128"));
  ptx("__global__ void k(__float128* p) { *p = *p + *p; }", {.arch = "sm_100", .device_float128 = true});
}

TEST_F(ProgramOptionsTest, OptimizationsAreReported) {
  ptx("__device__ int f(int x) { return x + 1; } __global__ void k(int* p) { *p = f(*p); }",
      {.optimization_info = "inline"});
  EXPECT_THAT(log, HasSubstr("inline"));
}

TEST_F(ProgramOptionsTest, TimesAreWrittenToFiles) {
  ptx(plain, {.time = (folder / "time.csv").string()});
  EXPECT_TRUE(fs::exists(folder / "time.csv"));
  ptx(plain, {.fdevice_time_trace = (folder / "trace").string()});  // NVRTC adds the ending
  EXPECT_TRUE(fs::exists(folder / "trace.json"));
}

TEST_F(ProgramOptionsTest, SyntaxOnlyMakesNoCode) {
  const ObjectCode code = Program(plain, {.fdevice_syntax_only = true}).compile(Target::ptx);
  EXPECT_THAT(code.code(), IsEmpty());
  EXPECT_THAT(refused("__global__ void k() { wrong; }", {.fdevice_syntax_only = true}), HasSubstr("wrong"));
}

TEST_F(ProgramOptionsTest, OptionsThatOnlyChangeTheWorkOfTheCompilerAreTaken) {
  for (const ProgramOptions& options :
       {ProgramOptions{.extra_device_vectorization = true}, ProgramOptions{.split_compile = 2},
        ProgramOptions{.minimal = true}, ProgramOptions{.no_cache = true}, ProgramOptions{.frandom_seed = "7"},
        ProgramOptions{.ofast_compile = "min"}}) {
    EXPECT_THAT(ptx(plain, options), HasSubstr(".entry k"));
  }
}

TEST_F(ProgramOptionsTest, ValuesThatTheCompilerDoesNotKnowAreReported) {
  EXPECT_THAT(refused(plain, {.ofast_compile = "warp"}), HasSubstr("--Ofast-compile=warp"));
  EXPECT_THAT(refused(plain, {.arch = "sm_12345"}), AllOf(HasSubstr("compute_12345"), HasSubstr("knows sm_")));
}

constexpr const char* with_header = "#include \"heavy.h\"\n#pragma nv_hdrstop\nextern \"C\" __global__ void k() {}\n";

TEST_F(ProgramOptionsTest, APrecompiledHeaderIsMadeAndUsed) {
  file("heavy.h", "template <typename T> struct Heavy { T value; };\n");
  ProgramOptions options = {.name = (folder / "a.cu").string(), .create_pch = (folder / "a.pch").string()};
  Program maker(with_header, options);
  EXPECT_EQ(maker.pch_status(), std::nullopt);
  maker.compile(Target::ptx);
  EXPECT_EQ(maker.pch_status(), PCHStatusType::created);
  EXPECT_TRUE(fs::exists(folder / "a.pch"));
  Program user(with_header, {.name = (folder / "a.cu").string(), .use_pch = (folder / "a.pch").string()});
  EXPECT_THAT(std::string(user.compile(Target::ptx).code()), HasSubstr(".entry k"));
  EXPECT_EQ(user.pch_status(), std::nullopt);
}

TEST_F(ProgramOptionsTest, APrecompiledHeaderIsATargetOfItsOwn) {
  file("heavy.h", "template <typename T> struct Heavy { T value; };\n");
  const ProgramOptions options = {.include_path = {folder}};
  Program maker(with_header, options);
  const ObjectCode header = maker.compile(Target::pch);
  EXPECT_EQ(header.code_type(), Target::pch);
  EXPECT_EQ(maker.pch_status(), PCHStatusType::created);
  header.save(folder / "saved.pch");
  ProgramOptions using_it = options;
  using_it.use_pch = (folder / "saved.pch").string();
  std::ostringstream messages;
  Program(with_header, using_it).compile(Target::cubin, {.log = &messages});
  EXPECT_THAT(messages.str(), HasSubstr("using precompiled header file"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { maker.compile(Target::pch, {.name_expressions = {"k"}}); }),
              HasSubstr("has no kernels to name"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { Linker({header}); }), HasSubstr("is a precompiled header"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { header.get_kernel("k"); }), HasSubstr("is a precompiled header"));
}

TEST_F(ProgramOptionsTest, PrecompiledHeadersAreSwitchedOnByOneOption) {
  file("heavy.h", "template <typename T> struct Heavy { T value; };\n");
  Program program(with_header, {.name = (folder / "a.cu").string(), .pch = true, .pch_dir = folder.string()});
  program.compile(Target::ptx);
  EXPECT_EQ(program.pch_status(), PCHStatusType::created);
  program.compile(Target::ptx);
  EXPECT_EQ(program.pch_status(), PCHStatusType::not_attempted) << "the first one is used";
}

TEST_F(ProgramOptionsTest, PrecompiledHeadersCanBeWatched) {
  file("heavy.h", "template <typename T> struct Heavy { T value; };\n");
  ProgramOptions options = {.name = (folder / "a.cu").string(),
                            .create_pch = (folder / "a.pch").string(),
                            .pch_verbose = true,
                            .pch_messages = true,
                            .instantiate_templates_in_pch = true};
  ptx(with_header, options);
  EXPECT_THAT(log, HasSubstr("a.pch"));
  EXPECT_THAT(
      error_of<CompileError>([&] {
        Program(with_header, {.name = options.name, .use_pch = (folder / "none.pch").string()}).compile(Target::ptx);
      }),
      HasSubstr("none.pch"));
}

}  // namespace
}  // namespace cuprum::tests
