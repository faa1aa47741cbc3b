// Parts of devices and contexts that were given one.
#include <cuprum/driver.hpp>
#include <random>

#include "api/changed_api.hpp"
#include "api/fixture.hpp"
#include "api/latch.hpp"

namespace cuprum::tests {
namespace {

using driver::Api;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::PrintToString;

class GreenContextTest : public ApiTest {
 protected:
  void SetUp() override {
    if (!driver::api().cuGreenCtxStreamCreate.function) GTEST_SKIP() << "green contexts need CUDA 12.5 or newer";
    sm = device.resources().sm();
  }
  ~GreenContextTest() override { device.set_current(); }

  Context whole() const { return device.create_context({.resources = {sm}}); }

  SMResource sm;
};

TEST_F(GreenContextTest, DevicesHaveAllTheirMultiprocessors) {
  EXPECT_EQ(sm.sm_count(), device.properties().multiprocessor_count());
  EXPECT_GE(sm.min_partition_size(), 1);
  EXPECT_GE(sm.coscheduled_alignment(), 1);
  EXPECT_EQ(sm.device(), device);
  EXPECT_TRUE(sm.is_usable());
  EXPECT_NE(sm.handle(), nullptr);
  EXPECT_THAT(PrintToString(sm), HasSubstr(" of device 0"));
  EXPECT_EQ(device.context().resources().sm().sm_count(), sm.sm_count());
  EXPECT_EQ(device.create_stream().resources().sm().sm_count(), sm.sm_count());
}

TEST_F(GreenContextTest, SplitsIntoGroupsAndARemainder) {
  const auto [groups, remainder] = sm.split({});
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_GE(groups[0].sm_count(), sm.min_partition_size());
  EXPECT_EQ(groups[0].sm_count() + remainder.sm_count(), sm.sm_count());
  EXPECT_EQ(groups[0].device(), device);
  // Which drivers leave out.
  EXPECT_GE(groups[0].min_partition_size(), 1);
  EXPECT_GE(remainder.coscheduled_alignment(), 1);
}

TEST_F(GreenContextTest, ADryRunTellsTheSameAndMakesNothing) {
  const SMSplit real = sm.split({.count = sm.min_partition_size()});
  const SMSplit trial = sm.split({.count = sm.min_partition_size()}, true);
  ASSERT_EQ(trial.groups.size(), real.groups.size());
  EXPECT_EQ(trial.groups[0].sm_count(), real.groups[0].sm_count());
  EXPECT_EQ(trial.remainder.sm_count(), real.remainder.sm_count());
  EXPECT_FALSE(trial.groups[0].is_usable());
  EXPECT_THAT(PrintToString(trial.groups[0]), HasSubstr("of a dry run"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)device.create_context({.resources = {trial.groups[0]}}); }),
              HasSubstr("a dry-run SMResource"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)trial.groups[0].split({}); }), HasSubstr("can't be split"));
}

// Of older drivers, whose rules are documented; newer ones take sizes as they are.
TEST_F(GreenContextTest, SplitsAsDocumentedWhateverIsAskedFor) {
  if (driver::api().cuDevSmResourceSplit.function) GTEST_SKIP() << "the driver takes the options as they are";
  for (unsigned seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const int groups = static_cast<int>(1 + random() % 6);
    const int count = static_cast<int>(random() % static_cast<unsigned>(sm.sm_count() + 5));
    const int unit = sm.coscheduled_alignment();
    const int size = std::min((std::max(count, sm.min_partition_size()) + unit - 1) / unit * unit, sm.sm_count());
    const int made = count > sm.sm_count() ? 0 : std::min(groups, sm.sm_count() / size);
    const SMResourceOptions options{.count = std::vector<int>(static_cast<std::size_t>(groups), count)};
    if (made == 0) {
      EXPECT_THAT(error_of<DriverError>([&] { (void)sm.split(options); }),
                  HasSubstr("CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION"));
      continue;
    }
    const SMSplit split = sm.split(options);
    ASSERT_EQ(split.groups.size(), static_cast<std::size_t>(made));
    for (const SMResource& group : split.groups) ASSERT_EQ(group.sm_count(), size);
    ASSERT_EQ(split.remainder.sm_count(), sm.sm_count() - made * size);
  }
}

TEST_F(GreenContextTest, SplitsThatMakeNoSenseAreRefused) {
  const auto refusal = [&](const SMResourceOptions& options) {
    return error_of<InvalidArgument>([&] { (void)sm.split(options); });
  };
  EXPECT_THAT(refusal({.count = -1}), HasSubstr("count must be non-negative, got -1"));
  EXPECT_THAT(refusal({.count = std::vector<int>{}}), HasSubstr("count is an empty list"));
  EXPECT_THAT(refusal({.count = 2, .coscheduled_sm_count = {2, 2}}), HasSubstr("count is scalar"));
  EXPECT_THAT(refusal({.count = {2, 2}, .backfill = {true, false, true}}), HasSubstr("has 3 values, expected 2"));
  EXPECT_THAT(refusal({.preferred_coscheduled_sm_count = -2}),
              HasSubstr("preferred_coscheduled_sm_count must be non-negative"));
  EXPECT_THROW((void)sm.split({.count = sm.sm_count() + 1}), DriverError);
}

TEST_F(GreenContextTest, OlderDriversMakeGroupsOfOneSizeOnly) {
  ChangedApi api;
  api.table.cuDevSmResourceSplit.function = nullptr;
  const auto refusal = [&](const SMResourceOptions& options) {
    return error_of<NotSupported>([&] { (void)sm.split(options); });
  };
  EXPECT_THAT(refusal({.count = 2, .coscheduled_sm_count = 2}),
              AllOf(HasSubstr("coscheduled_sm_count"), HasSubstr("CUDA 13.1 or newer")));
  EXPECT_THAT(refusal({.preferred_coscheduled_sm_count = 2}), HasSubstr("preferred_coscheduled_sm_count"));
  EXPECT_THAT(refusal({.count = {2, 4}}), HasSubstr("groups of different sizes"));
}

struct SeenSplit {
  bool is_trial;
  std::vector<unsigned> parameters;  // four for each group
} seen_split;

TEST_F(GreenContextTest, NewerDriversGetTheOptionsAsTheyAre) {
  ChangedApi api;
  api.table.cuDevSmResourceSplit.function = [](CUdevResource* result, unsigned groups, const CUdevResource* input,
                                               CUdevResource* rest, unsigned, auto* given) {
    auto* parameters = reinterpret_cast<unsigned*>(given);
    seen_split = {result == nullptr, {}};
    unsigned left = input->sm.smCount;
    for (unsigned i = 0; i < groups; ++i, parameters += 16) {
      seen_split.parameters.insert(seen_split.parameters.end(), parameters, parameters + 4);
      if (parameters[0] == 0) parameters[0] = left;
      left -= parameters[0];
      if (result) result[i] = *input, result[i].sm.smCount = parameters[0];
    }
    *rest = *input;
    rest->sm.smCount = left;
    return CUDA_SUCCESS;
  };
  const SMResourceOptions options{
      .count = {1, 0}, .coscheduled_sm_count = 2, .preferred_coscheduled_sm_count = {4, 8}, .backfill = {false, true}};
  const SMSplit real = sm.split(options), trial = sm.split(options, true);
  EXPECT_TRUE(seen_split.is_trial);
  EXPECT_EQ(seen_split.parameters, (std::vector<unsigned>{1, 2, 4, 0, 0, 2, 8, 1}));
  for (const SMSplit& split : {real, trial}) {
    ASSERT_EQ(split.groups.size(), 2u);
    EXPECT_EQ(split.groups[0].sm_count(), 1);
    EXPECT_EQ(split.groups[1].sm_count(), sm.sm_count() - 1);
    EXPECT_EQ(split.groups[1].min_partition_size(), sm.min_partition_size());
    EXPECT_EQ(split.remainder.sm_count(), 0);
  }
  EXPECT_FALSE(trial.groups[0].is_usable());
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)device.create_context({.resources = {real.remainder}}); }),
              HasSubstr("there are no multiprocessors in this remainder"));
}

TEST_F(GreenContextTest, NothingIsNoResource) {
  const SMResource nothing;
  EXPECT_EQ(nothing.sm_count(), 0);
  EXPECT_EQ(nothing.handle(), nullptr);
  EXPECT_FALSE(nothing.is_usable());
  EXPECT_THROW((void)nothing.split({}), InvalidArgument);
  EXPECT_THROW((void)nothing.device(), InvalidArgument);
  EXPECT_THROW((void)device.create_context({.resources = {nothing}}), InvalidArgument);
  EXPECT_EQ(PrintToString(nothing), "no multiprocessors");
  const WorkqueueResource queues;
  EXPECT_THROW((void)queues.concurrency_limit(), InvalidArgument);
  EXPECT_EQ(PrintToString(queues), "no workqueues");
}

TEST_F(GreenContextTest, HasWhatItWasGiven) {
  const SMResource group = sm.split({}).groups[0];
  const Context green = device.create_context({.resources = {group}});
  EXPECT_TRUE(green.is_green());
  EXPECT_FALSE(device.context().is_green());
  EXPECT_NE(green, device.context());
  EXPECT_EQ(green.device(), device);
  EXPECT_EQ(green.resources().sm().sm_count(), group.sm_count());
  const Stream stream = green.create_stream();
  EXPECT_EQ(stream.context(), green);
  EXPECT_TRUE(stream.context().is_green());
  EXPECT_EQ(stream.resources().sm().sm_count(), group.sm_count());
  EXPECT_TRUE(stream.is_nonblocking());
  EXPECT_NO_THROW((void)green.resources().sm().split({}));
}

TEST_F(GreenContextTest, RunsKernelsThatTheDeviceCompiled) {
  const Kernel scale = compile(scale_source, "scale");
  const Context green = whole();
  const Stream stream = green.create_stream();
  const Buffer data = upload(numbers(1000), stream);
  launch(stream, {.grid = 4, .block = 256}, scale, data, 2.0f, std::size_t{1000});
  std::vector<float> doubled = numbers(1000);
  for (float& value : doubled) value *= 2;
  EXPECT_EQ(download<float>(data, stream), doubled);
}

TEST_F(GreenContextTest, SharesEventsWithThePrimaryContext) {
  const Context green = whole();
  const Stream stream = green.create_stream(), plain = device.create_stream();
  const Event of_green = stream.record();
  EXPECT_EQ(of_green.context(), green);
  plain.wait(of_green);
  const Event of_device = device.create_event();
  EXPECT_NO_THROW(stream.record(of_device));
  stream.wait(plain);
  stream.sync();
}

TEST_F(GreenContextTest, TwoHalvesDoNotWaitForEachOther) {
  const int half = sm.sm_count() / 2 / sm.coscheduled_alignment() * sm.coscheduled_alignment();
  if (half < sm.min_partition_size()) GTEST_SKIP() << "too few multiprocessors for two groups";
  const SMSplit split = sm.split({.count = {half, half}});
  const Context left = device.create_context({.resources = {split.groups[0]}});
  const Context right = device.create_context({.resources = {split.groups[1]}});
  const Stream held = left.create_stream(), free = right.create_stream();
  Latch latch(device);
  const Trace trace(device);
  latch.hold(held);
  trace.note(1, free);
  free.sync();
  EXPECT_FALSE(held.is_done());
  EXPECT_THAT(trace.noted(), ::testing::ElementsAre(1));
  latch.open();
  held.sync();
}

TEST_F(GreenContextTest, CanBeMadeCurrent) {
  const Context green = whole();
  const std::optional<Context> before = device.set_current(green);
  EXPECT_EQ(device.context(), green);
  EXPECT_TRUE(device.create_stream().context().is_green());
  EXPECT_TRUE(Stream::legacy_default().context().is_green());
  Context copy = green;
  EXPECT_THAT(error_of<InvalidArgument>([&] { copy.close(); }), HasSubstr("while it is current"));
  const std::optional<Context> restored = device.set_current(*before);
  EXPECT_EQ(restored, green);
  EXPECT_TRUE(restored->is_green());
}

TEST_F(GreenContextTest, ClosedIsRefusedAndItsStreamsGoOn) {
  Context green = whole();
  const Context copy = green;
  const Stream stream = green.create_stream();
  const DeviceResources resources = green.resources();
  green.close();
  EXPECT_EQ(copy.handle(), nullptr);
  EXPECT_THROW((void)copy.is_green(), InvalidArgument);
  EXPECT_THROW((void)copy.resources(), InvalidArgument);
  EXPECT_THROW((void)copy.create_stream(), InvalidArgument);
  EXPECT_EQ(resources.sm().sm_count(), sm.sm_count());
  stream.sync();
  EXPECT_TRUE(stream.context().is_green());
}

TEST_F(GreenContextTest, ForeignOnesAreKnownAsSuch) {
  CUdevResource resource = *reinterpret_cast<const CUdevResource*>(sm.handle());
  CUdevResourceDesc descriptor = nullptr;
  CUgreenCtx green = nullptr;
  CUcontext context = nullptr;
  driver::call<&Api::cuDevResourceGenerateDesc>(&descriptor, &resource, 1U);
  driver::call<&Api::cuGreenCtxCreate>(&green, descriptor, device.device_id(),
                                       static_cast<unsigned>(CU_GREEN_CTX_DEFAULT_STREAM));
  driver::call<&Api::cuCtxFromGreenCtx>(&context, green);
  driver::call<&Api::cuCtxPushCurrent>(context);
  EXPECT_TRUE(device.context().is_green());
  EXPECT_EQ(device.context().resources().sm().sm_count(), sm.sm_count());
  CUcontext popped = nullptr;
  driver::call<&Api::cuCtxPopCurrent>(&popped);
  driver::call<&Api::cuGreenCtxDestroy>(green);
}

TEST_F(GreenContextTest, OptionsThatItCanNotHaveAreRefused) {
  EXPECT_THAT(error_of<InvalidArgument>(
                  [&] { (void)device.create_context({.scheduling = ContextScheduling::spin, .resources = {sm}}); }),
              HasSubstr("can't be given together with resources"));
  const Context green = whole();
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)green.create_stream({.nonblocking = false}); }),
              HasSubstr("must be non-blocking"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)green.create_stream({.priority = 1000}); }),
              HasSubstr("stream priority 1000"));
}

TEST_F(GreenContextTest, ResourcesOfAnotherDeviceAreRefused) {
  if (Device::count() < 2) GTEST_SKIP() << "needs two devices";
  EXPECT_THAT(
      error_of<InvalidArgument>([&] { (void)device.create_context({.resources = {Device(1).resources().sm()}}); }),
      HasSubstr("a resource is of device 1"));
}

TEST_F(GreenContextTest, WorkqueuesNeedCuda131) {
  if (driver::info().version >= 13010) {
    const WorkqueueResource queues = device.resources().workqueue();
    EXPECT_EQ(queues.device(), device);
    EXPECT_GE(queues.concurrency_limit(), 1);
  } else {
    EXPECT_THAT(error_of<NotSupported>([&] { (void)device.resources().workqueue(); }),
                AllOf(HasSubstr("workqueues of device 0"), HasSubstr("CUDA 13.1 or newer")));
  }
}

TEST_F(GreenContextTest, NeedsCuda124) {
  ChangedApi api;
  api.table.cuDeviceGetDevResource.function = nullptr;
  EXPECT_THAT(error_of<NotSupported>([&] { (void)device.resources().sm(); }), HasSubstr("12.4"));
}

}  // namespace
}  // namespace cuprum::tests
