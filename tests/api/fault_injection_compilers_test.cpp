// Whatever function of NVRTC, nvJitLink or libNVVM fails, it is reported, and nothing is left behind.
#include <sstream>

#include "api/faults.hpp"
#include "api/fixture.hpp"

namespace cuprum::tests {
namespace {

class CompilerFaults : public ApiTest {
 protected:
  const std::string arch = "sm_" + device.arch();
  const ProgramOptions relocatable = {.arch = arch, .relocatable_device_code = true};
  static constexpr const char* caller =
      "extern __device__ int f(); extern \"C\" __global__ void k(int* p) { *p = f(); }";
  static constexpr const char* callee = "__device__ int f() { return 42; }";
  const CompileOptions no_cache = {.cache = nullptr};
};

TEST_F(CompilerFaults, OfCompilingToMachineCode) {
  EXPECT_GE(fail_each_compiler_call([&] {
              std::ostringstream log;
              const ObjectCode code =
                  Program("template <typename T> __global__ void twice(T* p) { *p *= 2; }", {.arch = arch})
                      .compile(Target::cubin, {.name_expressions = {"twice<float>"}, .log = &log, .cache = nullptr});
              EXPECT_EQ(code.get_kernel("twice<float>").num_arguments(), 1u);
            }),
            9);
}

TEST_F(CompilerFaults, OfCompilingToPtx) {
  EXPECT_GE(fail_each_compiler_call([&] {
              EXPECT_FALSE(Program(scale_source, {.arch = arch}).compile(Target::ptx, no_cache).code().empty());
            }),
            6);
}

TEST_F(CompilerFaults, OfCompilingToLtoir) {
  EXPECT_GE(fail_each_compiler_call([&] {
              EXPECT_FALSE(Program(scale_source, {.arch = arch}).compile(Target::ltoir, no_cache).code().empty());
            }),
            6);
}

TEST_F(CompilerFaults, OfProgramsThatDoNotCompile) {
  EXPECT_GE(fail_each_compiler_call([&] {
              try {
                Program("no such thing", {.arch = arch}).compile(Target::ptx, no_cache);
                ADD_FAILURE() << "it was compiled";
              } catch (const CompileError& error) {
                if (!Faults::failed().empty()) throw;
                EXPECT_THAT(error.log(), ::testing::HasSubstr("no such thing"));
              }
            }),
            4);
}

TEST_F(CompilerFaults, OfPrecompiledHeaders) {
  const Program header("#define SEVEN 7\n", {.arch = arch});
  try {
    header.compile(Target::pch, no_cache);
  } catch (const NotSupported& error) {
    GTEST_SKIP() << error.what();
  }
  EXPECT_GE(fail_each_compiler_call([&] { EXPECT_FALSE(header.compile(Target::pch, no_cache).code().empty()); }), 5);
}

TEST_F(CompilerFaults, OfLinking) {
  const std::vector<ObjectCode> parts = {Program(caller, relocatable).compile(Target::ptx),
                                         Program(callee, relocatable).compile(Target::ptx)};
  EXPECT_GE(fail_each_compiler_call([&] {
              Linker linker(parts, {.arch = arch});
              EXPECT_FALSE(linker.link(Target::cubin).code().empty());
              EXPECT_EQ(linker.get_error_log(), "");
              linker.get_info_log();
              EXPECT_FALSE(linker.link(Target::cubin).code().empty());
            }),
            8);
}

TEST_F(CompilerFaults, OfLinkingThatCanNotBeDone) {
  const std::vector<ObjectCode> parts = {Program(caller, relocatable).compile(Target::ptx)};
  EXPECT_GE(fail_each_compiler_call([&] {
              try {
                Linker(parts, {.arch = arch}).link(Target::cubin);
                ADD_FAILURE() << "it was linked";
              } catch (const LinkError&) {
                if (!Faults::failed().empty()) throw;
              }
            }),
            3);
}

TEST_F(CompilerFaults, OfOptimizingWhileLinking) {
  const ProgramOptions optimized = {.arch = arch, .link_time_optimization = true};
  const std::vector<ObjectCode> parts = {Program(caller, optimized).compile(Target::ltoir),
                                         Program(callee, optimized).compile(Target::ltoir)};
  EXPECT_GE(fail_each_compiler_call([&] {
              Linker linker(parts, {.arch = arch, .link_time_optimization = true, .ptx = true});
              EXPECT_FALSE(linker.link(Target::ptx).code().empty());
            }),
            6);
}

TEST_F(CompilerFaults, OfCompilingPtx) {
  const std::string ptx(Program(scale_source, {.arch = arch}).compile(Target::ptx).code());
  EXPECT_GE(fail_each_compiler_call([&] {
              const Program program(ptx, SourceCodeType::ptx, {.arch = arch});
              EXPECT_FALSE(program.compile(Target::cubin, no_cache).code().empty());
            }),
            5);
}

TEST_F(CompilerFaults, OfCompilingNvvmIr) {
  constexpr const char* ir = R"(
target triple = "nvptx64-nvidia-cuda"
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
define i32 @f(i32 %x) {
  %y = add i32 %x, 30
  ret i32 %y
}
!nvvmir.version = !{!1}
!1 = !{i32 2, i32 0}
)";
  EXPECT_GE(fail_each_compiler_call([&] {
              const Program program(ir, SourceCodeType::nvvm, {.arch = "compute_90", .use_libdevice = true});
              EXPECT_FALSE(program.compile(Target::ptx, no_cache).code().empty());
            }),
            8);
}

TEST_F(CompilerFaults, OfHandles) {
  const std::string ptx(Program(scale_source, {.arch = arch}).compile(Target::ptx).code());
  EXPECT_GE(fail_each_compiler_call([&] {
              EXPECT_NE(Program(scale_source, {.arch = arch}).handle(), nullptr);
              EXPECT_NE(Program(ptx, SourceCodeType::ptx, {.arch = arch}).handle(), nullptr);
            }),
            3);
}

}  // namespace
}  // namespace cuprum::tests
