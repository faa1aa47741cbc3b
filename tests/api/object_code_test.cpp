#include "api/fixture.hpp"

namespace cuprum::tests {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;

class ObjectCodeTest : public ApiTest {
 protected:
  std::string ptx() { return std::string(Program(scale_source).compile(Target::ptx).code()); }
};

TEST_F(ObjectCodeTest, GivesAKernelThatRuns) {
  ObjectCode code = ObjectCode::from_ptx(ptx(), {.name = "scale.ptx"});
  EXPECT_EQ(code.name(), "scale.ptx");
  Stream stream = device.create_stream();
  Buffer data = upload(numbers(10), stream);
  launch(stream, {.block = 32}, code.get_kernel("scale"), data, 2.0f, std::size_t{10});
  EXPECT_EQ(download<float>(data, stream)[9], 18.0f);
}

TEST_F(ObjectCodeTest, LoadsOnce) {
  ObjectCode code = ObjectCode::from_ptx(ptx());
  Kernel first = code.get_kernel("scale");
  EXPECT_EQ(code.get_kernel("scale"), first);
  EXPECT_EQ(code.handle(), ObjectCode(code).handle());
}

TEST_F(ObjectCodeTest, UsesTheSymbolMapping) {
  ObjectCode code = ObjectCode::from_ptx(ptx(), {.symbol_mapping = {{"multiply", "scale"}}});
  EXPECT_EQ(code.get_kernel("multiply").name(), "scale");
}

TEST_F(ObjectCodeTest, AnUnknownKernelIsRefusedWithTheNamesThereAre) {
  ObjectCode code = Program(
                        "extern \"C\" __global__ void first() {}\n"
                        "extern \"C\" __global__ void second() {}\n"
                        "template <int> __global__ void third() {}",
                        {.name = "three.cu"})
                        .compile(Target::cubin, {.name_expressions = {"third<7>"}});
  EXPECT_THAT(error_of<InvalidArgument>([&] { code.get_kernel("fourth"); }),
              AllOf(HasSubstr("there is no kernel 'fourth' in object code 'three.cu': it has "), HasSubstr("first"),
                    HasSubstr("second"), HasSubstr("third<7>")));
}

TEST_F(ObjectCodeTest, AMangledNameComesWithAdvice) {
  ObjectCode code = Program("__global__ void plain(int) {}").compile(Target::cubin);
  EXPECT_THAT(error_of<InvalidArgument>([&] { code.get_kernel("plain"); }),
              AllOf(HasSubstr("_Z5plaini"), HasSubstr("extern \"C\"")));
}

TEST_F(ObjectCodeTest, GarbagePtxIsRefused) {
  ObjectCode code = ObjectCode::from_ptx("this is not PTX", {.name = "garbage"});
  EXPECT_THAT(error_of<CompileError>([&] { code.get_kernel("scale"); }),
              AllOf(HasSubstr("loading object code 'garbage' (ptx) on device 0: the driver could not compile the PTX"),
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

TEST_F(ObjectCodeTest, GarbageMachineCodeIsRefused) {
  // Not even the first bytes are right. A driver believes the offsets in what starts like machine code: it isn't told
  // the size.
  ObjectCode code = ObjectCode::from_cubin("this is no machine code", {.name = "junk"});
  EXPECT_THAT(error_of<DriverError>([&] { code.get_kernel("scale"); }),
              HasSubstr("loading object code 'junk' (cubin) on device 0"));
}

TEST_F(ObjectCodeTest, EmptyCodeIsRefused) {
  EXPECT_THAT(error_of<InvalidArgument>([] { ObjectCode::from_ptx(""); }), HasSubstr("is empty"));
}

}  // namespace
}  // namespace cuprum::tests
