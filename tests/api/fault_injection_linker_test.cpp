// Linking, when calls of the driver fail.
#include "api/failing_api.hpp"
#include "api/fixture.hpp"

namespace cuprum::tests {
namespace {

class LinkerFaults : public ApiTest {
 protected:
  const ProgramOptions relocatable = {.arch = "sm_" + device.arch(), .relocatable_device_code = true};
  const std::vector<ObjectCode> parts = {
      Program("extern __device__ int f(); extern \"C\" __global__ void k(int* p) { *p = f(); }", relocatable)
          .compile(Target::ptx),
      Program("__device__ int f() { return 42; }", relocatable).compile(Target::ptx)};
  FailingApi failing;
};

TEST_F(LinkerFaults, LinkingByTheDriverReportsEveryFailure) {
  EXPECT_GT(failing.fail_each_call([&] {
    Linker linker(parts, {.backend = CompilerBackendType::driver});
    EXPECT_EQ(linker.link(Target::cubin).get_kernel("k").num_arguments(), 1u);
  }),
            5);
}

// On a device that takes no machine code this links once more, by the driver.
TEST_F(LinkerFaults, LoadingLinkedCodeReportsEveryFailure) {
  EXPECT_GT(failing.fail_each_call([&] {
    Linker linker(parts, {.arch = "sm_" + device.arch()});
    EXPECT_EQ(linker.link(Target::cubin).get_kernel("k").num_arguments(), 1u);
  }),
            2);
}

}  // namespace
}  // namespace cuprum::tests
