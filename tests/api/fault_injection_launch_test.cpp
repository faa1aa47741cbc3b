// Launches, when calls of the driver fail.
#include "api/failing_api.hpp"
#include "api/fixture.hpp"

namespace cuprum::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class LaunchFaults : public ApiTest {
 protected:
  Stream stream = device.create_stream();
  ObjectCode code = Program(scale_source).compile(Target::cubin);
  Buffer data = upload(std::vector<float>{1, 2, 3, 4}, stream);
  const LaunchConfig config{.grid = 1, .block = 4};
  const std::size_t n = 4;
  const std::size_t most_shared = static_cast<std::size_t>(device.properties().max_shared_memory_per_block_optin());
  FailingApi failing;

  int fail_each(const std::function<void()>& scenario) {
    return failing.fail_each_call([&] {
      scenario();
      stream.sync();
    });
  }
};

// What is looked up for a kernel is remembered, so each run has a kernel of its own.
TEST_F(LaunchFaults, AFirstLaunchReportsEveryFailure) {
  EXPECT_GT(fail_each([&] { launch(stream, config, code.get_kernel("scale"), data, 2.0f, n); }), 5);
}

TEST_F(LaunchFaults, ALaterLaunchMakesOneCallThatCanFail) {
  Kernel scale = code.get_kernel("scale");
  launch(stream, config, scale, data, 2.0f, n);
  EXPECT_EQ(fail_each([&] { launch(stream, config, scale, data, 2.0f, n); }), 2);  // and the wait for it
}

TEST_F(LaunchFaults, ALaunchWithEverythingReportsEveryFailure) {
  const LaunchConfig everything{.grid = 1,
                                .block = 4,
                                .shmem_size = most_shared,
                                .is_cooperative = device.properties().cooperative_launch(),
                                .programmatic_stream_serialization = false,
                                .priority = 0};
  EXPECT_GT(fail_each([&] { launch(stream, everything, code.get_kernel("scale"), data, 2.0f, n); }), 6);
}

TEST_F(LaunchFaults, AFailedAttemptToRaiseTheSharedMemoryLimitIsRepeated) {
  Kernel scale = code.get_kernel("scale");
  failing.fail_next("cuFuncSetAttribute", CUDA_ERROR_INVALID_VALUE);
  EXPECT_THAT(error_of<DriverError>(
                  [&] { launch(stream, {.grid = 1, .block = 4, .shmem_size = most_shared}, scale, data, 2.0f, n); }),
              AllOf(HasSubstr("giving kernel scale up to "), HasSubstr("cuFuncSetAttribute")));
  launch(stream, {.grid = 1, .block = 4, .shmem_size = most_shared}, scale, data, 2.0f, n);
  EXPECT_EQ(download<float>(data, stream).front(), 2.0f);
}

TEST_F(LaunchFaults, TypedLaunchesReportEveryFailure) {
  EXPECT_GT(fail_each([&] {
              TypedKernel<void(float*, float, std::size_t)> scale(code.get_kernel("scale"));
              launch(stream, config, scale, data, 2, 4);
            }),
            5);
}

TEST_F(LaunchFaults, PreparedLaunchesReportEveryFailure) {
  EXPECT_GT(fail_each([&] {
              PreparedLaunch step = prepare(stream, config, code.get_kernel("scale"), data, 2.0f, n);
              step();
              step.set<1>(3.0f);
              step.set_config({.grid = 1, .block = 4, .shmem_size = most_shared});
              step();
            }),
            7);
}

TEST_F(LaunchFaults, AFailedPreparedLaunchNamesKernelShapeAndStream) {
  PreparedLaunch step = prepare(stream, config, code.get_kernel("scale"), data, 2.0f, n);
  failing.fail_next("cuLaunchKernelEx", CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  EXPECT_THAT(error_of<DriverError>([&] { step(); }),
              AllOf(HasSubstr("launching kernel scale with grid (1, 1, 1), block (4, 1, 1) on stream "),
                    HasSubstr("cuLaunchKernelEx failed with CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (701)")));
  step();
  EXPECT_EQ(download<float>(data, stream).front(), 2.0f);
}

TEST_F(LaunchFaults, KernelsAndVariablesReportEveryFailure) {
  const ObjectCode counting = Program(
                                  "extern \"C\" __device__ int counter = 5;\n"
                                  "extern \"C\" __global__ void count() { ++counter; }")
                                  .compile(Target::cubin);
  EXPECT_GT(fail_each([&] {
              EXPECT_EQ(counting.kernel_names(), std::vector<std::string>{"count"});
              EXPECT_EQ(counting.get_global("counter").size(), sizeof(int));
              counting.get_module();
              Kernel::from_handle(counting.get_kernel("count").handle(), counting);
              Kernel::from_handle(counting.get_kernel("count").handle());
            }),
            8);
}

TEST_F(LaunchFaults, LoadingReportsEveryFailure) {
  const std::string ptx(Program(scale_source).compile(Target::ptx).code());
  EXPECT_GT(fail_each([&] { ObjectCode::from_ptx(ptx).handle(); }), 2);
}

TEST_F(LaunchFaults, AttributesAndOccupancyReportEveryFailure) {
  EXPECT_GT(fail_each([&] {
              const Kernel scale = code.get_kernel("scale");
              EXPECT_GT(scale.occupancy().max_potential_block_size([](int) { return 16; }, 0).max_block_size, 0);
              scale.attributes().set_max_dynamic_shared_size_bytes(1000);
              EXPECT_GT(scale.occupancy().max_potential_cluster_size({.grid = 1, .block = 32}, stream), 0);
              EXPECT_GE(scale.occupancy().max_active_clusters({.grid = 1, .block = 32}, stream), 0);
            }),
            10);
}

TEST_F(LaunchFaults, AFailedPreparationLeavesNothing) {
  failing.fail_next("cuKernelGetFunction", CUDA_ERROR_NOT_FOUND);
  Kernel scale = code.get_kernel("scale");
  EXPECT_THAT(error_of<DriverError>([&] { prepare(stream, config, scale, data, 2.0f, n); }),
              HasSubstr("preparing kernel scale for device 0"));
}

}  // namespace
}  // namespace cuprum::tests
