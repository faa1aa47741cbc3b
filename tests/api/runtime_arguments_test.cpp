// Launches whose arguments are known only at run time.
#include <cuprum/driver.hpp>
#include <cuprum/untyped_prepared_launch.hpp>
#include <thread>

#include "api/fixture.hpp"
#include "api/gate.hpp"

namespace cuprum::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class RuntimeArgumentsTest : public ApiTest {
 protected:
  Stream stream = device.create_stream();
  Kernel scale = compile(scale_source, "scale");
  Buffer data = upload(std::vector<float>{1, 2, 3, 4}, stream);
  const LaunchConfig config{.grid = 1, .block = 4};

  DevicePointer pointer = data.handle();
  float factor = 2;
  std::size_t n = 4;
  std::vector<const void*> addresses = {&pointer, &factor, &n};
  std::vector<std::size_t> sizes = {sizeof pointer, sizeof factor, sizeof n};
  KernelArguments arguments{addresses, sizes};

  std::string refusal() {
    return error_of<InvalidArgument>([&] { launch(stream, config, scale, KernelArguments{addresses, sizes}); });
  }
  std::vector<float> result() { return download<float>(data, stream); }
};

TEST_F(RuntimeArgumentsTest, ArriveAsTheyAre) {
  launch(stream, config, scale, arguments);
  EXPECT_EQ(result(), (std::vector<float>{2, 4, 6, 8}));
}

TEST_F(RuntimeArgumentsTest, MayBeArraysOfTheCallers) {
  void* own[] = {&pointer, &factor, &n};
  const std::size_t bytes[] = {8, 4, 8};
  launch(stream, config, scale, {own, bytes});
  EXPECT_EQ(result().front(), 2.0f);
}

TEST_F(RuntimeArgumentsTest, MayBeNone) {
  Kernel none = compile("extern \"C\" __global__ void none() {}", "none");
  launch(stream, config, none, KernelArguments{});
  EXPECT_THAT(error_of<InvalidArgument>([&] { launch(stream, config, none, arguments); }),
              HasSubstr("launching kernel none: it takes 0 arguments; 3 were given of 8, 4, 8 bytes"));
  stream.sync();
}

TEST_F(RuntimeArgumentsTest, AreReadBeforeTheCallReturns) {
  Gate gate(stream);
  launch(stream, config, scale, arguments);
  factor = 100;
  gate.open();
  EXPECT_EQ(result().front(), 2.0f);
}

TEST_F(RuntimeArgumentsTest, AreCounted) {
  addresses.pop_back();
  sizes.pop_back();
  EXPECT_THAT(refusal(), HasSubstr("launching kernel scale: it takes 3 arguments of 8, 4, 8 bytes; 2 were given"));
}

TEST_F(RuntimeArgumentsTest, AreComparedWithTheKernelsSizes) {
  sizes[1] = 8;
  EXPECT_THAT(refusal(), HasSubstr("argument 2 of 3 has 8 bytes, but the kernel's parameter has 4"));
  sizes[1] = (std::size_t{1} << 32) + 4;
  EXPECT_THAT(refusal(), HasSubstr("argument 2 of 3 has 4294967300 bytes, but the kernel's parameter has 4"));
}

TEST_F(RuntimeArgumentsTest, HaveOneSizeEach) {
  sizes.pop_back();
  EXPECT_THAT(refusal(), HasSubstr("launching kernel scale: 3 addresses and 2 sizes of arguments were given"));
}

TEST_F(RuntimeArgumentsTest, HaveAddresses) {
  addresses[2] = nullptr;
  EXPECT_THAT(refusal(), HasSubstr("the address of argument 3 of 3 is null"));
}

TEST_F(RuntimeArgumentsTest, GoToForeignStreams) {
  launch(stream.handle(), config, scale, arguments);
  EXPECT_EQ(result().front(), 2.0f);
}

TEST_F(RuntimeArgumentsTest, ArePrepared) {
  UntypedPreparedLaunch step = prepare(stream, config, scale, arguments);
  EXPECT_EQ(step.num_arguments(), 3u);
  EXPECT_EQ(step.kernel(), scale);
  EXPECT_EQ(step.config(), config);
  EXPECT_EQ(step.stream(), stream);
  factor = 100;  // which was copied
  step();
  step();
  EXPECT_EQ(result(), (std::vector<float>{4, 8, 12, 16}));
}

TEST_F(RuntimeArgumentsTest, ArePreparedForOtherStreams) {
  UntypedPreparedLaunch step = prepare(stream, config, scale, arguments);
  Stream other = device.create_stream();
  stream.sync();
  step(other);
  other.sync();
  step(other.handle());
  other.sync();
  step(Stream::legacy_default());
  Stream::legacy_default().sync();
  EXPECT_EQ(result().front(), 8.0f);
}

TEST_F(RuntimeArgumentsTest, AreSetOneByOne) {
  UntypedPreparedLaunch step = prepare(stream, config, scale, arguments);
  const float five = 5;
  step.set(1, &five, sizeof five);
  step();
  EXPECT_EQ(result().front(), 5.0f);
  EXPECT_THAT(error_of<InvalidArgument>([&] { step.set(3, &five, sizeof five); }),
              HasSubstr("setting argument 3 of kernel scale, counted from 0: there are 3"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { step.set(0, &five, sizeof five); }),
              HasSubstr("a value of 4 bytes, but the argument has 8"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { step.set(1, nullptr, sizeof five); }), HasSubstr("is null"));
}

TEST_F(RuntimeArgumentsTest, OfACopyAreItsOwn) {
  UntypedPreparedLaunch twice = prepare(stream, config, scale, arguments);
  UntypedPreparedLaunch thrice = twice;
  const float three = 3;
  thrice.set(1, &three, sizeof three);
  twice();
  EXPECT_EQ(result().front(), 2.0f);
  twice = thrice;
  thrice.set(1, &factor, sizeof factor);
  twice();
  EXPECT_EQ(result().front(), 6.0f);
  UntypedPreparedLaunch moved = std::move(twice);
  moved();
  EXPECT_EQ(result().front(), 18.0f);
}

TEST_F(RuntimeArgumentsTest, StayWhenTheConfigurationChanges) {
  UntypedPreparedLaunch step = prepare(stream, config, scale, arguments);
  step.set_config({.grid = 1, .block = 1});
  step();
  EXPECT_EQ(result(), (std::vector<float>{2, 2, 3, 4}));
  EXPECT_THROW(step.set_config({}), InvalidArgument);
}

TEST_F(RuntimeArgumentsTest, AreCheckedWhenTheyArePrepared) {
  sizes[2] = 4;
  EXPECT_THAT(error_of<InvalidArgument>([&] { prepare(stream, config, scale, arguments); }),
              HasSubstr("argument 3 of 3 has 4 bytes, but the kernel's parameter has 8"));
}

TEST_F(RuntimeArgumentsTest, CanBeAskedForWithoutAnException) {
  const std::optional<std::span<const ParameterInfo>> known = scale.known_arguments_info();
  ASSERT_TRUE(known.has_value());
  EXPECT_EQ(std::vector<ParameterInfo>(known->begin(), known->end()), scale.arguments_info());
}

/// Streams that are somebody else's.
class ForeignLaunchTest : public RuntimeArgumentsTest {
 protected:
  void run_on(CUstream foreign) {
    launch(foreign, config, scale, data, 2.0f, n);
    launch(foreign, config, TypedKernel<void(float*, float, std::size_t)>(scale), data, 2, 4);
    prepare(stream, config, scale, data, 2.0f, n)(foreign);
  }
};

TEST_F(ForeignLaunchTest, TakesThemAsTheyAre) {
  const std::size_t before = live_objects().streams;
  run_on(stream.handle());
  EXPECT_EQ(live_objects().streams, before);
  EXPECT_EQ(result().front(), 8.0f);
}

TEST_F(ForeignLaunchTest, TakesTheDefaultStreams) {
  stream.sync();
  for (CUstream name : {CUstream(nullptr), CU_STREAM_LEGACY, CU_STREAM_PER_THREAD}) {
    launch(name, config, scale, data, 2.0f, n);
    Stream::from_handle(name).sync();
  }
  EXPECT_EQ(result().front(), 8.0f);
}

TEST_F(ForeignLaunchTest, TakesThoseOfAnotherContext) {
  const Context own = device.create_context();
  const Stream there = own.create_stream();
  stream.sync();
  run_on(there.handle());
  there.sync();
  run_on(stream.handle());
  EXPECT_EQ(result().front(), 64.0f);
}

TEST_F(ForeignLaunchTest, NeedsNoCurrentContext) {
  stream.sync();
  std::thread([&] { run_on(stream.handle()); }).join();
  EXPECT_EQ(result().front(), 8.0f);
}

TEST_F(ForeignLaunchTest, FollowsAContextThatIsReplacedByAnother) {
  for (int round = 0; round < 3; ++round) {
    Context own = device.create_context();
    Stream there = own.create_stream();
    stream.sync();
    launch(there.handle(), config, scale, data, 2.0f, n);
    there.sync();
    there.close();
    own.close();
  }
  EXPECT_EQ(result().front(), 8.0f);
}

class LoadTest : public ApiTest {};

TEST_F(LoadTest, LoadsTheKernelBeforeItsFirstLaunch) {
  Kernel scale = compile(scale_source, "scale");
  scale.load();
  scale.load(device);
  CUfunction function = nullptr;
  driver::call<&driver::Api::cuKernelGetFunction>(&function, scale.handle());
  CUfunctionLoadingState state{};
  driver::call<&driver::Api::cuFuncIsLoaded>(&state, function);
  EXPECT_EQ(state, CU_FUNCTION_LOADING_STATE_LOADED);
}

}  // namespace
}  // namespace cuprum::tests
