// Several pieces of object code into one, and running it: with nvJitLink, and with the driver's linker.
#include <dlfcn.h>

#include <cstdlib>
#include <thread>

#include "api/child_process.hpp"
#include "api/fixture.hpp"

namespace cuprum::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kernel_source = R"(
extern __device__ int f(int);
extern __device__ int addend;
extern "C" __global__ void k(int* p) { *p = f(*p) + addend; }
)";
constexpr const char* function_source = "__device__ int f(int x) { return x + 30; }";
constexpr const char* variable_source = "__device__ int addend = 7;";
constexpr const char* undefined_source = R"(
extern __device__ int nowhere(int);
extern "C" __global__ void k(int* p) { *p = nowhere(*p); }
)";

class LinkerTest : public ApiTest {
 protected:
  static ObjectCode compiled(const char* source, Target target = Target::ptx) {
    ProgramOptions options = {.name = "part.cu"};
    if (target != Target::ltoir) options.relocatable_device_code = true;
    return Program(source, std::move(options)).compile(target);
  }
  static std::vector<ObjectCode> parts(Target target = Target::ptx) {
    return {compiled(kernel_source, target), compiled(function_source, target), compiled(variable_source, target)};
  }

  /// What the kernel leaves of a 5.
  int run(const ObjectCode& code, const char* kernel = "k") {
    Stream stream = device.create_stream();
    Buffer value = upload(std::vector<int>{5}, stream);
    launch(stream, {.grid = 1, .block = 1}, code.get_kernel(kernel), value);
    return download<int>(value, stream).front();
  }
};

LinkerOptions optimizing(LinkerOptions options = {}) {
  options.link_time_optimization = true;
  return options;
}

TEST_F(LinkerTest, LinksPtxOfSeveralPrograms) {
  Linker linker(parts(), {.name = "three"});
  EXPECT_EQ(linker.backend(), Linker::which_backend());
  EXPECT_NE(linker.handle(), nullptr);
  const ObjectCode code = linker.link(Target::cubin);
  EXPECT_EQ(code.name(), "three");
  EXPECT_EQ(code.code_type(), Target::cubin);
  EXPECT_EQ(run(code), 42);
  EXPECT_THAT(linker.get_error_log(), IsEmpty());
}

TEST_F(LinkerTest, LinksMachineCodeOfSeveralPrograms) {
  EXPECT_EQ(run(Linker(parts(Target::cubin)).link(Target::cubin)), 42);
}

TEST_F(LinkerTest, OptimizesAcrossPrograms) {
  EXPECT_EQ(run(Linker(parts(Target::ltoir), optimizing()).link(Target::cubin)), 42);
}

TEST_F(LinkerTest, MakesPtxOfLtoir) {
  Linker linker(parts(Target::ltoir), optimizing({.ptx = true}));
  const ObjectCode code = linker.link(Target::ptx);
  EXPECT_EQ(code.code_type(), Target::ptx);
  EXPECT_THAT(std::string(code.code()), AllOf(HasSubstr(".entry k("), Not(HasSubstr("call"))));
  EXPECT_EQ(run(code), 42);
}

// A library's kernel in PTX calls a function that its user hands in as LTO-IR, or the other way round.
TEST_F(LinkerTest, LinksLtoirWithPtxThatCallsIt) {
  EXPECT_EQ(run(Linker({compiled(kernel_source), compiled(function_source, Target::ltoir),
                        compiled(variable_source, Target::ltoir)},
                       optimizing())
                    .link(Target::cubin)),
            42);
}

// What the driver itself provides is not looked for in the LTO-IR.
TEST_F(LinkerTest, LinksLtoirWithPtxThatPrints) {
  constexpr const char* source = R"(
extern __device__ int f(int);
extern "C" __global__ void k(int* p) {
  if (*p < 0) printf("negative: %d\n", *p);
  *p = f(*p) + 7;
})";
  EXPECT_EQ(run(Linker({compiled(source), compiled(function_source, Target::ltoir)}, optimizing()).link(Target::cubin)),
            42);
}

TEST_F(LinkerTest, LinksLtoirWithMachineCodeThatItCalls) {
  EXPECT_EQ(run(Linker({compiled(kernel_source, Target::ltoir), compiled(function_source, Target::cubin),
                        compiled(variable_source)},
                       optimizing())
                    .link(Target::cubin)),
            42);
}

TEST_F(LinkerTest, LinksWhatWasCompiledFromNvvmIr) {
  constexpr const char* ir = R"(
target triple = "nvptx64-nvidia-cuda"
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
define i32 @_Z1fi(i32 %x) {
  %y = add i32 %x, 30
  ret i32 %y
}
!nvvmir.version = !{!1}
!1 = !{i32 2, i32 0}
)";
  const ObjectCode function = Program(ir, SourceCodeType::nvvm, {.arch = "compute_75"}).compile(Target::ltoir);
  EXPECT_EQ(run(Linker({compiled(kernel_source, Target::ltoir), function, compiled(variable_source, Target::ltoir)},
                       optimizing())
                    .link(Target::cubin)),
            42);
}

TEST_F(LinkerTest, FindsKernelsByTheNameExpressionsOfItsInputs) {
  const ObjectCode kernel =
      Program("extern __device__ int f(int); template <int N> __global__ void k(int* p) { *p = f(*p) + N; }")
          .compile(Target::ltoir, {.name_expressions = {"k<7>"}});
  EXPECT_EQ(run(Linker({kernel, compiled(function_source, Target::ltoir)}, optimizing()).link(Target::cubin), "k<7>"),
            42);
}

TEST_F(LinkerTest, KeepsWhatItLinks) {
  std::vector<ObjectCode> codes = parts(Target::ltoir);
  Linker linker(codes, optimizing());
  codes.clear();
  Linker copy = linker;
  const ObjectCode code = copy.link(Target::cubin);
  linker.close();
  EXPECT_EQ(run(code), 42);
}

TEST_F(LinkerTest, LinksAgain) {
  Linker linker(parts(Target::ltoir), optimizing());
  const std::string first(linker.link(Target::cubin).code());
  EXPECT_EQ(linker.link(Target::cubin).code(), first);
}

TEST_F(LinkerTest, WritesLogs) {
  const ObjectCode plain = compiled("extern \"C\" __global__ void k(int* p) { *p += 37; }");
  Linker verbose({plain}, {.verbose = true, .backend = CompilerBackendType::nvjitlink});
  verbose.link(Target::cubin);
  EXPECT_THAT(verbose.get_info_log(), HasSubstr("registers"));
  Linker timed({plain}, {.time = true, .backend = CompilerBackendType::nvjitlink});
  timed.link(Target::cubin);
  EXPECT_THAT(timed.get_info_log(), HasSubstr("time"));
  Linker quiet({plain});
  quiet.link(Target::cubin);
  EXPECT_THAT(quiet.get_info_log(), IsEmpty());
}

TEST_F(LinkerTest, OptionsHaveTheirEffects) {
  const ObjectCode two = compiled(
      "extern \"C\" __global__ void a(int* p) { *p = 1; }\n"
      "extern \"C\" __global__ void b(int* p) { *p = 2; }");
  const auto linked = [&](LinkerOptions options) {
    options.backend = CompilerBackendType::nvjitlink;
    return std::string(Linker({two}, std::move(options)).link(Target::cubin).code());
  };
  EXPECT_THAT(linked({}), AllOf(HasSubstr(".text.a"), HasSubstr(".text.b"), Not(HasSubstr(".debug_line"))));
  EXPECT_THAT(linked({.kernels_used = {"a"}}), AllOf(HasSubstr(".text.a"), Not(HasSubstr(".text.b"))));
  EXPECT_THAT(linked({.lineinfo = true}), HasSubstr(".debug_line"));
  EXPECT_NE(linked({.optimization_level = 0}), linked({.optimization_level = 3}));
}

TEST_F(LinkerTest, ReportsAnUndefinedSymbolWithTheLog) {
  Linker linker({compiled(undefined_source)}, {.name = "incomplete"});
  try {
    linker.link(Target::cubin);
    FAIL() << "no exception";
  } catch (const LinkError& error) {
    EXPECT_THAT(error.log(), HasSubstr("_Z7nowherei"));
    EXPECT_THAT(error.what(), AllOf(HasSubstr("'incomplete'"), HasSubstr(error.log())));
    EXPECT_EQ(linker.get_error_log(), error.log());
  }
}

TEST_F(LinkerTest, ReportsWhatNvjitlinkDoesNotTake) {
  const auto nvjitlink = CompilerBackendType::nvjitlink;
  EXPECT_THAT(error_of<LinkError>(
                  [&] { Linker({compiled(function_source, Target::ltoir)}, {.name = "x", .backend = nvjitlink}); }),
              AllOf(HasSubstr("nvJitLink could not link 'x': 'part.cu' (ltoir"),
                    HasSubstr("nvJitLinkAddData failed with code 18 (needs -lto) with the options -arch=sm_"),
                    HasSubstr("LTO-IR input cannot be used without LTO enabled")));
  EXPECT_THAT(error_of<LinkError>([&] { Linker(parts(), {.arch = "sm_91", .backend = nvjitlink}); }),
              AllOf(HasSubstr("nvJitLinkCreate failed"), HasSubstr("compute_91")));
  EXPECT_THAT(error_of<LinkError>([&] {
                Linker(parts(), {.ptxas_options = {"--nonsense"}, .backend = nvjitlink}).link(Target::cubin);
              }),
              HasSubstr("nonsense"));
  Linker nothing_to_optimize(parts(), optimizing({.backend = nvjitlink}));
  EXPECT_THAT(error_of<LinkError>([&] { nothing_to_optimize.link(Target::cubin); }),
              AllOf(HasSubstr("nvJitLinkComplete failed with code 5"), HasSubstr("in nvvm")));
}

TEST_F(LinkerTest, RefusesWhatCanNotBeLinked) {
  EXPECT_THAT(error_of<InvalidArgument>([] { Linker({}, {.name = "empty"}); }),
              HasSubstr("there is nothing to link in linker 'empty'"));
  EXPECT_THAT(error_of<InvalidArgument>([] { Linker(parts(), {.arch = "90"}); }), HasSubstr("arch is '90'"));
  EXPECT_THAT(error_of<InvalidArgument>([] { Linker(parts(), {.backend = CompilerBackendType::nvvm}); }),
              HasSubstr("libNVVM is none"));
}

TEST_F(LinkerTest, RefusesMachineCodeThatIsNotRelocatable) {
  const ObjectCode final_code = Program(variable_source, {.name = "final.cu"}).compile(Target::cubin);
  EXPECT_THAT(error_of<InvalidArgument>([&] { Linker({final_code}); }),
              AllOf(HasSubstr("'final.cu' (cubin for sm_"), HasSubstr("can't be linked any more"),
                    HasSubstr("relocatable_device_code = true")));
  const ObjectCode linked = Linker(parts(Target::ltoir), optimizing({.name = "first"})).link(Target::cubin);
  EXPECT_THAT(error_of<InvalidArgument>([&] { Linker({linked}); }), HasSubstr("'first' (cubin for sm_"));
}

TEST_F(LinkerTest, ReportsCodeOfAnotherArchitecture) {
  const ProgramOptions newer = {.name = "new.cu", .arch = "sm_100", .relocatable_device_code = true};
  const LinkerOptions for_older = {.arch = "sm_90", .backend = CompilerBackendType::nvjitlink};
  const ObjectCode machine_code = Program(function_source, newer).compile(Target::cubin);
  EXPECT_THAT(error_of<LinkError>([&] { Linker({machine_code}, for_older); }),
              AllOf(HasSubstr("'new.cu' (cubin for sm_100)"), HasSubstr("-arch=sm_90")));
  const ObjectCode ptx = Program(function_source, newer).compile(Target::ptx);
  EXPECT_THAT(error_of<LinkError>([&] { Linker({ptx}, for_older); }),
              AllOf(HasSubstr("'new.cu' (ptx for compute_100)"), HasSubstr("SM version")));
  const ObjectCode ltoir = Program(function_source, {.arch = "sm_100"}).compile(Target::ltoir);
  EXPECT_THAT(error_of<LinkError>([&] { Linker({ltoir}, optimizing(for_older)); }),
              HasSubstr("architectures don't match"));
  std::thread([&] {
    EXPECT_NE(Linker(parts()).link(Target::cubin).code(), "");
  }).join();  // which nvJitLink has hung in
}

TEST_F(LinkerTest, RefusesTargetsThatContradictItsOptions) {
  Linker to_cubin(parts(Target::ltoir), optimizing({.name = "x"}));
  EXPECT_THAT(error_of<InvalidArgument>([&] { to_cubin.link(Target::ptx); }),
              HasSubstr("linking 'x' to ptx needs the options ptx and link_time_optimization"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { to_cubin.link(Target::ltoir); }),
              HasSubstr("'x' can't be linked to ltoir, only to cubin and ptx"));
  Linker to_ptx(parts(Target::ltoir), optimizing({.name = "x", .ptx = true}));
  EXPECT_THAT(error_of<InvalidArgument>([&] { to_ptx.link(Target::cubin); }), HasSubstr("contradicts the option ptx"));
}

TEST_F(LinkerTest, AClosedLinkerIsRefused) {
  Linker linker(parts(Target::ltoir), optimizing());
  Linker copy = linker;
  linker.close();
  EXPECT_THAT(error_of<InvalidArgument>([&] { copy.link(Target::cubin); }), HasSubstr("this linker is closed"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { copy.get_info_log(); }), HasSubstr("this linker is closed"));
  EXPECT_EQ(copy.handle(), nullptr);
  EXPECT_THAT(error_of<InvalidArgument>([&] { copy.get_info_log(); }), HasSubstr("this linker is closed"));
}

TEST_F(LinkerTest, ThreadsLinkAtTheSameTime) {
  const std::vector<ObjectCode> codes = parts(Target::ltoir);
  std::vector<std::string> results(8);
  std::vector<std::thread> threads;
  for (std::string& result : results) {
    threads.emplace_back([&] { result = Linker(codes, optimizing()).link(Target::cubin).code(); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(results, ::testing::Each(results.front()));
}

// nvJitLink crashes in a later link when another thread completes or gives back what one has begun.
TEST_F(LinkerTest, AnotherThreadMayLinkOrDropWhatOneHasBegun) {
  const std::vector<ObjectCode> codes = parts();
  const std::string expected(Linker(codes).link(Target::cubin).code());
  for (int round = 0; round < 10; ++round) {
    Linker linked(codes);
    auto dropped = std::make_unique<Linker>(codes);
    std::string result;
    std::thread([&] {
      dropped.reset();
      result = linked.link(Target::cubin).code();
    }).join();
    EXPECT_EQ(result, expected);
    EXPECT_EQ(linked.link(Target::cubin).code(), expected);
  }
}

class DriverLinkerTest : public LinkerTest {
 protected:
  static LinkerOptions by_driver(LinkerOptions options = {}) {
    options.backend = CompilerBackendType::driver;
    return options;
  }
};

TEST_F(DriverLinkerTest, LinksPtxOfSeveralPrograms) {
  Linker linker(parts(), by_driver({.name = "three", .max_register_count = 32, .optimization_level = 4}));
  EXPECT_EQ(linker.backend(), CompilerBackendType::driver);
  EXPECT_NE(linker.handle(), nullptr);
  const ObjectCode code = linker.link(Target::cubin);
  EXPECT_EQ(code.name(), "three");
  EXPECT_EQ(run(code), 42);
  EXPECT_EQ(run(linker.link(Target::cubin)), 42) << "again";
}

TEST_F(DriverLinkerTest, LinksMachineCodeOfSeveralPrograms) {
  EXPECT_EQ(run(Linker(parts(Target::cubin), by_driver()).link(Target::cubin)), 42);
}

TEST_F(DriverLinkerTest, ReportsAnUndefinedSymbolWithTheLog) {
  Linker linker({compiled(undefined_source)}, by_driver({.name = "incomplete"}));
  EXPECT_THAT(error_of<LinkError>([&] { linker.link(Target::cubin); }),
              AllOf(HasSubstr("linking 'incomplete' on device 0: cuLinkComplete failed"), HasSubstr("_Z7nowherei")));
  EXPECT_THAT(linker.get_error_log(), HasSubstr("_Z7nowherei"));
}

TEST_F(DriverLinkerTest, ReportsBadPtxWithTheLog) {
  const ObjectCode bad = ObjectCode::from_ptx(
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { nonsense; }\n", {.name = "bad.ptx"});
  EXPECT_THAT(error_of<LinkError>([&] { Linker({bad}, by_driver()).link(Target::cubin); }), HasSubstr("line 4"));
}

TEST_F(DriverLinkerTest, RefusesWhatNeedsNvjitlink) {
  EXPECT_THAT(error_of<InvalidArgument>([] { Linker({compiled(function_source, Target::ltoir)}, by_driver()); }),
              AllOf(HasSubstr("'part.cu' is LTO-IR, which only nvJitLink links"), HasSubstr("Install nvJitLink")));
  EXPECT_THAT(error_of<InvalidArgument>([] { Linker(parts(), by_driver(optimizing())); }),
              HasSubstr("no option for link_time_optimization"));
}

// nvJitLink that is absent or too old: in a process of its own, because a process finds it once.
class LinkerFallbackTest : public LinkerTest {
 protected:
  /// What the log hook is told while `f` runs.
  template <typename F>
  static std::vector<std::string> told(F&& f) {
    std::vector<std::string> lines;
    const LogHook before = set_log_hook([&](std::string_view line) { lines.emplace_back(line); });
    f();
    set_log_hook(before);
    return lines;
  }
};

TEST_F(LinkerFallbackTest, DISABLED_TheDriverLinks) {
  const std::vector<std::string> lines = told([] {
    EXPECT_EQ(Linker::which_backend(), CompilerBackendType::driver);
    EXPECT_EQ(Linker::which_backend(), CompilerBackendType::driver);
  });
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines.front(), AllOf(HasSubstr("the driver's linker is used"), HasSubstr(getenv("CUPRUM_NVJITLINK"))));
  EXPECT_EQ(run(Linker(parts()).link(Target::cubin)), 42);
  const std::string ptx(Program("extern \"C\" __global__ void k(int* p) { *p += 37; }").compile(Target::ptx).code());
  const Program program(ptx, SourceCodeType::ptx);
  EXPECT_EQ(program.backend(), CompilerBackendType::driver);
  EXPECT_EQ(run(program.compile(Target::cubin)), 42);
  EXPECT_THAT(error_of<InvalidArgument>([&] { Linker({compiled(function_source, Target::ltoir)}); }),
              HasSubstr("Install nvJitLink"));
}

TEST_F(LinkerFallbackTest, AnAbsentNvjitlinkIsReplacedByTheDriversLinker) {
  ChildProcess child("LinkerFallbackTest.DISABLED_TheDriverLinks", {"CUPRUM_NVJITLINK=/nowhere/libnvJitLink.so.13"});
  EXPECT_TRUE(child.passed());
}

// A library that has none of its functions, nvJitLinkVersion in particular, which came with CUDA 12.3.
TEST_F(LinkerFallbackTest, AnOldNvjitlinkIsReplacedByTheDriversLinker) {
  Dl_info library;
  ASSERT_NE(dladdr(reinterpret_cast<void*>(&live_objects), &library), 0);
  ChildProcess child("LinkerFallbackTest.DISABLED_TheDriverLinks",
                     {std::string("CUPRUM_NVJITLINK=") + library.dli_fname});
  EXPECT_TRUE(child.passed());
}

}  // namespace
}  // namespace cuprum::tests
