// Programs that aren't CUDA C++ in a string: PTX, NVVM IR, files; and compiling at the same time.
#include <cuprum/nvrtc.hpp>
#include <cuprum/nvvm.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "api/fixture.hpp"

namespace cuprum::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
namespace fs = std::filesystem;

class ProgramSourcesTest : public ApiTest {
 protected:
  /// What the kernel k leaves in an int.
  int run(const ObjectCode& code) {
    Stream stream = device.create_stream();
    Buffer out = upload(std::vector<int>{5}, stream);
    launch(stream, {.grid = 1, .block = 1}, code.get_kernel("k"), out);
    return download<int>(out, stream).front();
  }
};

constexpr const char* cxx = "extern \"C\" __global__ void k(int* p) { *p += 37; }";

/// *p = 37 + *p, and what else is said about the module.
std::string nvvm_ir(const std::string& body,
                    const std::string& rest = "!nvvmir.version = !{!1}\n!1 = !{i32 2, i32 0}\n") {
  return R"(
target triple = "nvptx64-nvidia-cuda"
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
)" + body +
         R"(
!nvvm.annotations = !{!0}
!0 = !{void (i32*)* @k, !"kernel", i32 1}
)" + rest;
}

// Before compute_100 libNVVM takes the IR of LLVM 7, whose pointers have types.
const std::string add_ir = nvvm_ir(R"(
define void @k(i32* %p) {
  %v = load i32, i32* %p
  %s = add i32 %v, 37
  store i32 %s, i32* %p
  ret void
})");

TEST_F(ProgramSourcesTest, ANulInTheTextIsRefused) {
  using namespace std::string_literals;
  const std::string first = "extern \"C\" __global__ void a() {}";
  EXPECT_THAT(error_of<InvalidArgument>([&] { Program(first + "\0extern \"C\" __global__ void b() {}"s); }),
              HasSubstr("NUL character at byte 33"));
  EXPECT_NO_THROW(Program(first + "\0\0"s)) << "at the end it does no harm";
}

TEST_F(ProgramSourcesTest, AnEmptySourceIsRefused) {
  EXPECT_THAT(error_of<InvalidArgument>([] { Program("", {.name = "a.cu"}); }),
              HasSubstr("the source of program 'a.cu' is empty"));
}

TEST_F(ProgramSourcesTest, TheBackendIsTheCompilerOfTheSource) {
  EXPECT_EQ(Program(cxx).backend(), CompilerBackendType::nvrtc);
  EXPECT_EQ(Program(".version 8.0", SourceCodeType::ptx).backend(), CompilerBackendType::nvjitlink);
  EXPECT_EQ(Program(add_ir, SourceCodeType::nvvm, {.arch = "compute_75"}).backend(), CompilerBackendType::nvvm);
}

TEST_F(ProgramSourcesTest, TheHandleIsAProgramOfTheCompiler) {
  const Program program(cxx, {.name = "mine.cu"});
  const auto handle = static_cast<nvrtc::Program>(program.handle());
  EXPECT_EQ(program.handle(), handle) << "one and the same";
  nvrtc::call<&nvrtc::Api::nvrtcCompileProgram>(handle, 0, nullptr);
  std::size_t size = 0;
  nvrtc::call<&nvrtc::Api::nvrtcGetPTXSize>(handle, &size);
  EXPECT_GT(size, 0u);
  EXPECT_EQ(run(program.compile(Target::cubin)), 42) << "which has its own";

  const Program ir(add_ir, SourceCodeType::nvvm, {.arch = "compute_75"});
  const char* options[] = {"-arch=compute_75"};
  nvvm::call<&nvvm::Api::nvvmCompileProgram>(static_cast<nvvm::Program>(ir.handle()), 1, options);

  const std::string ptx(program.compile(Target::ptx).code());
  EXPECT_NE(Program(ptx, SourceCodeType::ptx).handle(), nullptr);
  Program closed(cxx);
  closed.close();
  EXPECT_EQ(closed.handle(), nullptr);
  EXPECT_THAT(error_of<InvalidArgument>([&] { closed.compile(Target::ptx); }), HasSubstr("this program is closed"));
}

TEST_F(ProgramSourcesTest, PtxBecomesMachineCode) {
  const std::string ptx(Program(cxx).compile(Target::ptx).code());
  const ObjectCode code = Program(ptx, SourceCodeType::ptx).compile(Target::cubin);
  EXPECT_EQ(code.code_type(), Target::cubin);
  EXPECT_THAT(std::string(code.code()), StartsWith("\x7f"
                                                   "ELF"));
  EXPECT_EQ(run(code), 42);
}

TEST_F(ProgramSourcesTest, PtxStaysPtx) {
  const std::string ptx(Program(cxx).compile(Target::ptx).code());
  const ObjectCode code = Program(ptx, SourceCodeType::ptx).compile(Target::ptx);
  EXPECT_EQ(code.code(), ptx);
  EXPECT_EQ(run(code), 42);
}

TEST_F(ProgramSourcesTest, BadPtxIsReportedWithTheLog) {
  const std::string bad = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { nonsense; }\n";
  try {
    Program(bad, SourceCodeType::ptx, {.name = "bad.ptx", .arch = "sm_90"}).compile(Target::cubin);
    FAIL() << "no exception";
  } catch (const CompileError& error) {
    EXPECT_THAT(error.what(), HasSubstr("nvJitLink could not compile the PTX of 'bad.ptx'"));
    EXPECT_THAT(error.log(), HasSubstr("line 4"));
    EXPECT_THAT(error.options(), ::testing::Contains("-arch=sm_90"));
  }
}

TEST_F(ProgramSourcesTest, PtxHasNoLtoirAndNoNames) {
  const Program program(".version 8.0\n", SourceCodeType::ptx);
  EXPECT_THAT(error_of<InvalidArgument>([&] { program.compile(Target::ltoir); }),
              HasSubstr("is PTX, which can't be compiled to ltoir, only to cubin and ptx"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { program.compile(Target::cubin, {.name_expressions = {"k<int>"}}); }),
              HasSubstr("name expressions are for CUDA C++"));
}

TEST_F(ProgramSourcesTest, PtxLeavesOutWhatTheLinkerDoesNotHave) {
  const std::string ptx(Program(cxx).compile(Target::ptx).code());
  const ProgramOptions options{.std = "c++20", .device_code_optimize = false, .define_macro = {{"A"}}};
  EXPECT_EQ(run(Program(ptx, SourceCodeType::ptx, options).compile(Target::cubin)), 42);
  const Program extra(ptx, SourceCodeType::ptx, {.extra_sources = {{"more.ll", "; nothing"}}});
  EXPECT_THAT(error_of<InvalidArgument>([&] { extra.compile(Target::cubin); }), HasSubstr("has no extra_sources"));
}

TEST_F(ProgramSourcesTest, OptionsThatAreNotForThisSourceAreReported) {
  EXPECT_THAT(
      error_of<InvalidArgument>([] { Program(add_ir, SourceCodeType::nvvm, {.std = "c++17"}).compile(Target::ptx); }),
      HasSubstr("compiled by libNVVM, which has no option for std"));
  EXPECT_THAT(error_of<InvalidArgument>([] { Program(cxx, {.use_libdevice = true}).compile(Target::ptx); }),
              HasSubstr("compiled by NVRTC, which has no option for use_libdevice"));
}

TEST_F(ProgramSourcesTest, NvvmIrBecomesPtx) {
  const ObjectCode code = Program(add_ir, SourceCodeType::nvvm, {.arch = "compute_75"}).compile(Target::ptx);
  EXPECT_THAT(std::string(code.code()), HasSubstr(".entry k("));
  EXPECT_EQ(run(code), 42);
}

TEST_F(ProgramSourcesTest, NvvmIrBecomesLtoir) {
  EXPECT_THAT(Program(add_ir, SourceCodeType::nvvm, {.arch = "compute_75"}).compile(Target::ltoir).code(),
              Not(IsEmpty()));
  EXPECT_THAT(error_of<InvalidArgument>(
                  [] { Program(add_ir, SourceCodeType::nvvm, {.arch = "compute_75"}).compile(Target::cubin); }),
              HasSubstr("is NVVM IR, which can't be compiled to cubin, only to ptx and ltoir"));
}

TEST_F(ProgramSourcesTest, NvvmIrIsCompiledWithExtraModules) {
  const std::string main = nvvm_ir(R"(
declare i32 @f(i32)
define void @k(i32* %p) {
  %v = load i32, i32* %p
  %s = call i32 @f(i32 %v)
  store i32 %s, i32* %p
  ret void
})");
  std::string extra = nvvm_ir("define i32 @f(i32 %x) {\n  %y = add i32 %x, 37\n  ret i32 %y\n}\n");
  extra.erase(extra.find("!nvvm.annotations"), extra.find("!nvvmir.version") - extra.find("!nvvm.annotations"));
  EXPECT_EQ(run(Program(main, SourceCodeType::nvvm, {.arch = "compute_75", .extra_sources = {{"extra.ll", extra}}})
                    .compile(Target::ptx)),
            42);
  EXPECT_THAT(error_of<InvalidArgument>([&] { Program(main, SourceCodeType::nvvm, {.extra_sources = {{"e", ""}}}); }),
              HasSubstr("extra source 'e'"));
}

TEST_F(ProgramSourcesTest, NvvmIrUsesLibdevice) {
  const std::string source = nvvm_ir(R"(
declare i32 @__nv_abs(i32)
define void @k(i32* %p) {
  %v = load i32, i32* %p
  %n = sub i32 -37, %v
  %s = call i32 @__nv_abs(i32 %n)
  store i32 %s, i32* %p
  ret void
})");
  const ObjectCode code =
      Program(source, SourceCodeType::nvvm, {.arch = "compute_75", .use_libdevice = true}).compile(Target::ptx);
  EXPECT_THAT(std::string(code.code()), Not(HasSubstr("__nv_abs")));
  EXPECT_EQ(run(code), 42);
}

TEST_F(ProgramSourcesTest, BadNvvmIrIsReportedWithTheLog) {
  try {
    Program(nvvm_ir("define void @k( {"), SourceCodeType::nvvm, {.name = "bad.ll", .arch = "compute_75"})
        .compile(Target::ptx);
    FAIL() << "no exception";
  } catch (const CompileError& error) {
    EXPECT_THAT(error.what(), HasSubstr("libNVVM could not compile 'bad.ll'"));
    EXPECT_THAT(error.log(), HasSubstr("expected"));
    EXPECT_THAT(error.source(), HasSubstr("| define void @k( {"));
  }
}

TEST_F(ProgramSourcesTest, NvvmIrOfAWrongVersionIsReportedWithTheRightOne) {
  const std::string source =
      nvvm_ir("define void @k(i32* %p) {\n  ret void\n}\n", "!nvvmir.version = !{!1}\n!1 = !{i32 99, i32 0}\n");
  EXPECT_THAT(error_of<CompileError>(
                  [&] { Program(source, SourceCodeType::nvvm, {.arch = "compute_75"}).compile(Target::ptx); }),
              AllOf(HasSubstr("VERSION_MISMATCH"), HasSubstr("takes NVVM IR of version 2.")));
}

TEST_F(ProgramSourcesTest, FilesAreWhatTheirNamesSay) {
  const fs::path folder = fs::temp_directory_path() / ("cuprum-sources-" + std::to_string(getpid()));
  fs::create_directories(folder);
  std::ofstream(folder / "k.h") << "#define ADDEND 37\n";
  std::ofstream(folder / "k.cu") << "#include \"k.h\"\nextern \"C\" __global__ void k(int* p) { *p += ADDEND; }\n";
  std::ofstream(folder / "k.ll") << add_ir;
  EXPECT_EQ(run(Program::from_file(folder / "k.cu").compile(Target::cubin)), 42);
  EXPECT_EQ(Program::from_file(folder / "k.ll").backend(), CompilerBackendType::nvvm);
  EXPECT_EQ(Program::from_file(folder / "k.cu").compile(Target::ptx).name(), (folder / "k.cu").string());
  EXPECT_THAT(error_of<InvalidArgument>([&] { Program::from_file(folder / "none.cu"); }),
              AllOf(HasSubstr("none.cu' can't be read"), HasSubstr("No such file")));
  EXPECT_THAT(error_of<InvalidArgument>([&] { Program::from_file(folder); }), HasSubstr("can't be read"));
  fs::remove_all(folder);
}

TEST_F(ProgramSourcesTest, AnErrorHasTheLogTheSourceAndTheOptions) {
  try {
    Program("// one\n// two\n__global__ void k() {\n  wrong;\n}\n", {.name = "a.cu", .std = "c++17"})
        .compile(Target::cubin);
    FAIL() << "no exception";
  } catch (const CompileError& error) {
    EXPECT_THAT(error.log(), StartsWith("a.cu(4): error"));
    EXPECT_EQ(error.source(), "  1 | // one\n  2 | // two\n  3 | __global__ void k() {\n> 4 |   wrong;\n  5 | }\n");
    EXPECT_THAT(error.options(), ::testing::Contains("--std=c++17"));
    EXPECT_THAT(error.what(), AllOf(HasSubstr(error.log()), HasSubstr(error.source()), HasSubstr("--std=c++17")));
  }
}

TEST_F(ProgramSourcesTest, ThreadsCompileAtTheSameTime) {
  const Program shared("template <int N> __global__ void k(int* p) { *p = N; }");
  std::vector<std::thread> threads;
  std::vector<std::string> results(8);
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      const std::string name = "k<" + std::to_string(i) + ">";
      const ObjectCode code = shared.compile(Target::ptx, {.name_expressions = {name}});
      results[i] = code.symbol_mapping().at(name);
      const std::string own = "extern \"C\" __global__ void own" + std::to_string(i) + "() {}";
      EXPECT_THAT(std::string(Program(own).compile(Target::ptx).code()), HasSubstr(".entry own" + std::to_string(i)));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < 8; ++i) EXPECT_THAT(results[i], HasSubstr("Li" + std::to_string(i) + "E"));
}

}  // namespace
}  // namespace cuprum::tests
