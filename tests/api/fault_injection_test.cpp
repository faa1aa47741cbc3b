// Whatever call of the driver fails, the library reports it and leaks nothing.
#include "api/failing_api.hpp"
#include "api/fixture.hpp"

namespace cuprum::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class FaultInjectionTest : public ApiTest {
 protected:
  const ObjectCode code = Program(scale_source, {.arch = "sm_" + device.arch()}).compile(Target::cubin);
  FailingApi failing;

  /// From nothing to a result, through every kind of object.
  std::vector<float> main_path() {
    device.set_current();
    Stream stream = device.create_stream({.priority = 0});
    Stream other = device.create_stream();
    Kernel scale = code.get_kernel("scale");
    Event start = stream.record({.timing_enabled = true});
    Buffer host = PinnedMemoryResource().allocate(400, stream);
    Buffer data = device.allocate(400, stream);
    Buffer pooled = DeviceMemoryResource(device, {.max_size = 1 << 25}).allocate(400, stream);
    data.fill<float>(2.0f, stream);
    other.wait(stream);
    launch(other, {.grid = 1, .block = 128}, scale, data, 3.0f, std::size_t{100});
    stream.wait(other);
    pooled.copy_from(data, stream);
    pooled.copy_to(host, stream);
    Event end = stream.record({.timing_enabled = true});
    end.sync();
    EXPECT_GE(end - start, 0.0f);
    stream.sync();
    const std::span<float> values = host.as_span<float>();
    return {values.begin(), values.end()};
  }
};

TEST_F(FaultInjectionTest, EveryFailingCallIsReportedAndNothingLeaks) {
  const std::vector<float> expected(100, 6.0f);
  EXPECT_GT(failing.fail_each_call([&] { EXPECT_EQ(main_path(), expected) << "after " << failing.failed(); }), 30);
}

TEST_F(FaultInjectionTest, OutOfMemoryHasATypeOfItsOwn) {
  Stream stream = device.create_stream();
  failing.fail_next("cuMemAllocFromPoolAsync", CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_THAT(error_of<OutOfMemory>([&] { device.allocate(4096, stream); }),
              AllOf(HasSubstr("allocating 4096 bytes of memory of device 0 on stream "),
                    HasSubstr("cuMemAllocFromPoolAsync failed with CUDA_ERROR_OUT_OF_MEMORY (2): ")));
}

TEST_F(FaultInjectionTest, WhatTheDriverDoesNotSupportHasATypeOfItsOwn) {
  failing.fail_next("cuStreamCreateWithPriority", CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_THAT(error_of<NotSupported>([&] { device.create_stream(); }),
              AllOf(HasSubstr("creating a stream on device 0"), HasSubstr("CUDA_ERROR_NOT_SUPPORTED")));
}

TEST_F(FaultInjectionTest, AFailedLaunchNamesTheKernelTheShapeAndTheStream) {
  Stream stream = device.create_stream();
  Kernel scale = code.get_kernel("scale");
  failing.fail_next("cuLaunchKernelEx", CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  EXPECT_THAT(error_of<DriverError>(
                  [&] { launch(stream, {.grid = 2, .block = {8, 4}}, scale, nullptr, 1.0f, std::size_t{0}); }),
              AllOf(HasSubstr("launching kernel scale with grid (2, 1, 1), block (8, 4, 1) on stream "),
                    HasSubstr("cuLaunchKernelEx failed with CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (701)")));
}

TEST_F(FaultInjectionTest, MachineCodeThatTheDeviceCanNotRunIsReplacedByItsPtx) {
  failing.fail_next("cuLibraryLoadData", CUDA_ERROR_NO_BINARY_FOR_GPU);
  ObjectCode fresh = Program(scale_source).compile(Target::cubin);
  EXPECT_EQ(fresh.get_kernel("scale").num_arguments(), 3u);
  EXPECT_EQ(failing.failed(), "cuLibraryLoadData");
}

TEST_F(FaultInjectionTest, MachineCodeWithoutPtxIsRefused) {
  failing.fail_next("cuLibraryLoadData", CUDA_ERROR_NO_BINARY_FOR_GPU);
  ObjectCode bare = ObjectCode::from_cubin(code.code(), {.name = "bare"});
  EXPECT_THAT(error_of<DriverError>([&] { bare.get_kernel("scale"); }),
              AllOf(HasSubstr("'bare'"), HasSubstr("CUDA_ERROR_NO_BINARY_FOR_GPU")));
}

}  // namespace
}  // namespace cuprum::tests
