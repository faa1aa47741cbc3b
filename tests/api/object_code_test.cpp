#include <cuprum/driver.hpp>
#include <thread>

#include "api/fixture.hpp"

namespace cuprum::tests {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

/// Two variables, and a kernel that adds the second to the first.
constexpr const char* counter_source = R"(
extern "C" __device__ int counter = 5;
extern "C" __constant__ int step = 3;
namespace inner { __device__ float weights[4]; }
extern "C" __global__ void count() { counter += step; inner::weights[0] = 1.0f; }
)";

class ObjectCodeTest : public ApiTest {
 protected:
  static std::string ptx() { return std::string(Program(scale_source).compile(Target::ptx).code()); }

  std::vector<float> scaled(const ObjectCode& code, const char* kernel = "scale") {
    Stream stream = device.create_stream();
    Buffer data = upload(numbers(4), stream);
    launch(stream, {.grid = 1, .block = 4}, code.get_kernel(kernel), data, 2.0f, std::size_t{4});
    return download<float>(data, stream);
  }
};

TEST_F(ObjectCodeTest, GivesAKernelThatRuns) {
  ObjectCode code = ObjectCode::from_ptx(ptx(), {.name = "scale.ptx"});
  EXPECT_EQ(code.name(), "scale.ptx");
  EXPECT_EQ(code.code_type(), Target::ptx);
  EXPECT_THAT(scaled(code), ElementsAre(0, 2, 4, 6));
}

TEST_F(ObjectCodeTest, LoadsOnce) {
  ObjectCode code = ObjectCode::from_ptx(ptx());
  Kernel first = code.get_kernel("scale");
  EXPECT_EQ(code.get_kernel("scale"), first);
  EXPECT_EQ(code.handle(), ObjectCode(code).handle());
  EXPECT_EQ(live_objects().kernels, 1u) << "both handles are of one kernel";
}

TEST_F(ObjectCodeTest, IsComparedAndHashedByIdentity) {
  ObjectCode code = ObjectCode::from_ptx(ptx());
  ObjectCode other = ObjectCode::from_ptx(ptx());
  EXPECT_EQ(code, ObjectCode(code));
  EXPECT_NE(code, other);
  EXPECT_EQ(std::hash<ObjectCode>{}(code), std::hash<ObjectCode>{}(ObjectCode(code)));
  EXPECT_NE(std::hash<ObjectCode>{}(code), std::hash<ObjectCode>{}(other));
}

TEST_F(ObjectCodeTest, UsesTheSymbolMapping) {
  ObjectCode code = ObjectCode::from_ptx(ptx(), {.symbol_mapping = {{"multiply", "scale"}}});
  EXPECT_EQ(code.get_kernel("multiply").name(), "scale");
  EXPECT_THAT(code.kernel_names(), ElementsAre("multiply"));
}

TEST_F(ObjectCodeTest, ListsItsKernels) {
  ObjectCode code = Program(
                        "extern \"C\" __global__ void first() {}\n"
                        "extern \"C\" __global__ void second() {}\n"
                        "template <int> __global__ void third() {}",
                        {.name = "three.cu"})
                        .compile(Target::cubin, {.name_expressions = {"third<7>"}});
  EXPECT_THAT(code.kernel_names(), UnorderedElementsAre("first", "second", "third<7>"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { code.get_kernel("nothing_alike"); }),
              AllOf(HasSubstr("there is no kernel 'nothing_alike' in object code 'three.cu': it has "),
                    HasSubstr("first"), HasSubstr("second"), HasSubstr("third<7>"), Not(HasSubstr("did you mean"))));
  EXPECT_THAT(error_of<InvalidArgument>([&] { code.get_kernel("frist"); }), HasSubstr("did you mean 'first'?"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { code.get_kernel("third<8>"); }),
              AllOf(HasSubstr("did you mean 'third<7>'?"), HasSubstr(".name_expressions = {\"third<8>\"}")));
}

TEST_F(ObjectCodeTest, AMangledNameComesWithAdvice) {
  ObjectCode code = Program("__global__ void plain(int) {}\n__global__ void other() {}").compile(Target::cubin);
  EXPECT_THAT(
      error_of<InvalidArgument>([&] { code.get_kernel("plain"); }),
      AllOf(HasSubstr("_Z5plaini (plain(int))"), HasSubstr("'_Z5plaini' is its symbol"), HasSubstr("extern \"C\"")));
  EXPECT_EQ(code.get_kernel("_Z5plaini").name(), "_Z5plaini");
}

TEST_F(ObjectCodeTest, VariablesAreBuffers) {
  Stream stream = device.create_stream();
  ObjectCode code = Program(counter_source).compile(Target::cubin, {.name_expressions = {"&inner::weights"}});
  Buffer counter = code.get_global("counter", sizeof(int));
  EXPECT_THAT(download<int>(counter, stream), ElementsAre(5));
  EXPECT_EQ(counter.device_id(), 0);
  Buffer step = code.get_global("step");
  const std::vector<int> ten = {10};
  step.copy_from(std::span(ten), stream);
  launch(stream, {.grid = 1, .block = 1}, code.get_kernel("count"));
  EXPECT_THAT(download<int>(counter, stream), ElementsAre(15));
  EXPECT_EQ(code.get_global("inner::weights").size(), 16u) << "without the & of the expression";
  EXPECT_EQ(code.get_global("&inner::weights"), code.get_global("inner::weights"));
}

TEST_F(ObjectCodeTest, VariablesKeepTheCodeLoaded) {
  Stream stream = device.create_stream();
  Buffer counter = Program(counter_source).compile(Target::cubin).get_global("counter");
  EXPECT_EQ(live_objects().object_codes, 1u);
  EXPECT_THAT(download<int>(counter, stream), ElementsAre(5));
  counter.close();
  EXPECT_EQ(live_objects().object_codes, 0u);
}

TEST_F(ObjectCodeTest, WrongVariablesAreRefused) {
  ObjectCode code = Program(counter_source, {.name = "counter.cu"}).compile(Target::cubin);
  EXPECT_THAT(error_of<InvalidArgument>([&] { code.get_global("counter", 8); }),
              HasSubstr("variable 'counter' in object code 'counter.cu' has 4 bytes, not 8"));
  EXPECT_THAT(
      error_of<InvalidArgument>([&] { code.get_global("countre"); }),
      AllOf(HasSubstr("there is no variable 'countre' in object code 'counter.cu'"), HasSubstr("\"&countre\"")));
}

TEST_F(ObjectCodeTest, ManagedVariablesAreManagedMemory) {
  if (!device.properties().managed_memory()) GTEST_SKIP() << "the device has no managed memory";
  Stream stream = device.create_stream();
  ObjectCode code = Program(
                        "extern \"C\" __managed__ int shared_count = 7;\n"
                        "extern \"C\" __global__ void count() { ++shared_count; }")
                        .compile(Target::cubin);
  Buffer shared = code.get_global("shared_count", sizeof(int));
  EXPECT_TRUE(shared.is_managed());
  launch(stream, {.grid = 1, .block = 1}, code.get_kernel("count"));
  stream.sync();
  EXPECT_EQ(shared.as_span<int>()[0], 8);
}

TEST_F(ObjectCodeTest, ThreadsShareItAndItsKernels) {
  const ObjectCode code = Program(counter_source).compile(Target::cubin);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 20; ++round) {
        const Kernel count = code.get_kernel("count");
        EXPECT_EQ(count, code.get_kernel("count"));
        EXPECT_GE(count.occupancy().max_potential_block_size([](int) { return 16; }, 0).max_block_size, 1);
        EXPECT_EQ(code.get_global("counter").size(), sizeof(int));
        EXPECT_THAT(code.kernel_names(), ElementsAre("count"));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(ObjectCodeTest, GivesTheModuleOfTheContext) {
  ObjectCode code = ObjectCode::from_ptx(ptx());
  CUfunction function = nullptr;
  driver::call<&driver::Api::cuModuleGetFunction>(&function, code.get_module(), "scale");
  EXPECT_NE(function, nullptr);
  EXPECT_EQ(code.get_module(), code.get_module());
}

TEST_F(ObjectCodeTest, GarbageAfterThePtxHeaderIsRefusedByTheDriver) {
  ObjectCode code = ObjectCode::from_ptx(".version 8.0\n.target sm_80\nthis is not PTX", {.name = "garbage"});
  EXPECT_THAT(error_of<CompileError>([&] { code.get_kernel("scale"); }),
              AllOf(HasSubstr("loading object code 'garbage' (ptx for compute_80) on device 0: the driver could not "
                              "compile the PTX"),
                    AnyOf(HasSubstr("CUDA_ERROR_INVALID_PTX"), HasSubstr("CUDA_ERROR_INVALID_IMAGE"))));
}

TEST_F(ObjectCodeTest, TruncatedPtxIsRefusedWithTheLog) {
  const std::string whole = ptx();
  ObjectCode code = ObjectCode::from_ptx(whole.substr(0, whole.find("ret;")), {.name = "truncated"});
  try {
    code.get_kernel("scale");
    FAIL() << "no exception";
  } catch (const CompileError& error) {
    EXPECT_THAT(error.what(), HasSubstr("'truncated'"));
    EXPECT_NE(error.log(), "");
  }
}

TEST_F(ObjectCodeTest, PtxOfANewerArchitectureIsRefused) {
  ObjectCode code = ObjectCode::from_ptx(".version 9.0\n.target sm_999\n.address_size 64\n", {.name = "future"});
  EXPECT_THAT(error_of<NotSupported>([&] { code.get_kernel("scale"); }),
              AllOf(HasSubstr("loading object code 'future' (ptx for compute_999): nothing in it runs on device 0"),
                    HasSubstr("compile for sm_")));
}

/// PTX with an instruction that softgpu does not run, in its seventh line.
constexpr const char* unsupported_ptx = R"(.version 7.8
.target sm_75
.address_size 64
.visible .entry mover() {
  .reg .b32 %r<2>;
  mov.u32 %r1, 0;
  movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r1;
  ret;
}
)";

TEST_F(ObjectCodeTest, SaysWhatTheDriverCantRunAndWhere) {
  if (driver::info().kind != driver::Choice::softgpu) GTEST_SKIP() << "a GPU runs it";
  const ObjectCode code = ObjectCode::from_ptx(unsupported_ptx, {.name = "mover.ptx"});
  EXPECT_THAT(error_of<NotSupported>([&] { code.get_kernel("mover"); }),
              AllOf(HasSubstr("'mover.ptx'"), HasSubstr("CUDA_ERROR_NOT_SUPPORTED"), HasSubstr("line 7"),
                    HasSubstr("movmatrix.sync.aligned.m8n8.trans.b16")));
}

}  // namespace
}  // namespace cuprum::tests
