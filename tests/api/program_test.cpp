#include <sstream>

#include "api/fixture.hpp"

namespace cuprum::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class ProgramTest : public ApiTest {};

constexpr const char* template_source = R"(
template <typename T, int N>
__global__ void add(T* data) { data[threadIdx.x] += T(N); }
)";

TEST_F(ProgramTest, CompilesToTheArchitectureOfTheCurrentDevice) {
  ObjectCode code = Program(scale_source).compile(Target::ptx);
  EXPECT_EQ(code.code_type(), Target::ptx);
  EXPECT_THAT(std::string(code.code()), AllOf(HasSubstr(".target sm_" + device.arch()), HasSubstr(".entry scale(")));
}

TEST_F(ProgramTest, CompilesToMachineCode) {
  ObjectCode code = Program(scale_source).compile(Target::cubin);
  EXPECT_EQ(code.code_type(), Target::cubin);
  EXPECT_THAT(std::string(code.code()), StartsWith("\x7f"
                                                   "ELF"));
}

TEST_F(ProgramTest, CompilesToLinkerInput) {
  ObjectCode code = Program(scale_source).compile(Target::ltoir);
  EXPECT_THAT(std::string(code.code()), Not(IsEmpty()));
  EXPECT_THAT(error_of<InvalidArgument>([&] { code.get_kernel("scale"); }), HasSubstr("input of the linker"));
}

TEST_F(ProgramTest, FindsTemplatesByNameExpression) {
  ObjectCode code =
      Program(template_source).compile(Target::cubin, {.name_expressions = {"add<int, 3>", "add<float, 5>"}});
  EXPECT_EQ(code.symbol_mapping().size(), 2u);
  Stream stream = device.create_stream();
  Buffer data = upload(std::vector<int>{1, 2, 3, 4}, stream);
  launch(stream, {.grid = 1, .block = 4}, code.get_kernel("add<int, 3>"), data);
  EXPECT_EQ(download<int>(data, stream), (std::vector<int>{4, 5, 6, 7}));
}

TEST_F(ProgramTest, RefusesANameExpressionThatMeansNothing) {
  const std::string message = error_of<CompileError>(
      [] { Program(template_source).compile(Target::ptx, {.name_expressions = {"subtract<int>"}}); });
  EXPECT_THAT(message, HasSubstr("subtract"));
}

TEST_F(ProgramTest, RefusesANameExpressionThatCanNotBeInstantiated) {
  EXPECT_THAT(
      error_of<CompileError>([] {
        Program(template_source, {.name = "add.cu"}).compile(Target::ptx, {.name_expressions = {"add<void, 3>"}});
      }),
      AllOf(HasSubstr("could not compile 'add.cu'"), HasSubstr("void")));
}

TEST_F(ProgramTest, ReportsErrorsWithTheCompilersLog) {
  try {
    Program("extern \"C\" __global__ void k() {\n  not_a_real_symbol;\n}", {.name = "bad.cu"}).compile(Target::cubin);
    FAIL() << "no exception";
  } catch (const CompileError& error) {
    EXPECT_THAT(error.log(), HasSubstr("bad.cu(2): error: identifier \"not_a_real_symbol\" is undefined"));
    EXPECT_THAT(error.what(), AllOf(HasSubstr("could not compile 'bad.cu'"), HasSubstr(error.log())));
  }
}

TEST_F(ProgramTest, ReportsAnOptionThatTheCompilerDoesNotKnow) {
  EXPECT_THAT(error_of<CompileError>([] { Program(scale_source, {.std = "c++99"}).compile(Target::ptx); }),
              HasSubstr("--std=c++99"));
}

TEST_F(ProgramTest, RefusesMachineCodeForAVirtualArchitecture) {
  EXPECT_THAT(error_of<InvalidArgument>([] { Program(scale_source, {.arch = "compute_90"}).compile(Target::cubin); }),
              HasSubstr("needs a real architecture such as sm_90; arch is 'compute_90'"));
}

TEST_F(ProgramTest, GivesWarningsToTheLog) {
  std::ostringstream log;
  Program("extern \"C\" __global__ void k(int* p) { int unused = 1; *p = 1; }").compile(Target::ptx, {.log = &log});
  EXPECT_THAT(log.str(), HasSubstr("unused"));
}

TEST_F(ProgramTest, CanBeCompiledAgainWithOtherNames) {
  Program program(template_source);
  EXPECT_EQ(program.compile(Target::ptx, {.name_expressions = {"add<int, 1>"}}).symbol_mapping().count("add<int, 1>"),
            1u);
  EXPECT_EQ(program.compile(Target::ptx, {.name_expressions = {"add<int, 2>"}}).symbol_mapping().count("add<int, 2>"),
            1u);
}

TEST_F(ProgramTest, AClosedProgramIsRefused) {
  Program program(scale_source);
  Program copy = program;
  program.close();
  EXPECT_THAT(error_of<InvalidArgument>([&] { copy.compile(Target::ptx); }), HasSubstr("this program is closed"));
}

}  // namespace
}  // namespace cuprum::tests
