// Several devices. Suites whose names end in MultiDeviceTest are skipped with fewer than two; softgpu runs them with
// three, in a process of its own.
#include <cstdlib>
#include <cuprum/driver.hpp>
#include <thread>

#include "api/latch.hpp"
#include "support/own_process.hpp"

namespace cuprum::tests {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(SeveralDevices, AreTestedWithThreeOfSoftgpu) {
  if (driver::info().kind != driver::Choice::softgpu) GTEST_SKIP() << "only softgpu can have as many as one likes";
  if (Device::count() > 1) GTEST_SKIP() << "there are several already";
  EXPECT_EQ(own_process::run("*MultiDeviceTest.*", {"SOFTGPU_DEVICES=3"}), 0);
}

class MultiDeviceTest : public ApiTest {
 protected:
  void SetUp() override {
    if (Device::count() < 2) GTEST_SKIP() << "needs two devices";
  }
  ~MultiDeviceTest() override { device.set_current(); }

  /// The second device; only named when there are fewer.
  const Device other = Device::count() > 1 ? Device(1) : device;
};

TEST_F(MultiDeviceTest, DevicesDiffer) {
  EXPECT_NE(device, other);
  EXPECT_NE(std::hash<Device>()(device), std::hash<Device>()(other));
  EXPECT_NE(device.uuid(), other.uuid());
  EXPECT_NE(device.pci_bus_id(), other.pci_bus_id());
  EXPECT_NE(device.context(), other.context());
}

TEST_F(MultiDeviceTest, SetCurrentMakesADeviceTheDefault) {
  other.set_current();
  EXPECT_EQ(Device(), other);
  EXPECT_EQ(other.set_current()->device(), other);
  device.set_current();
  EXPECT_EQ(Device(), device);
}

TEST_F(MultiDeviceTest, EachThreadHasItsOwnCurrentDevice) {
  std::thread([&] {
    other.set_current();
    EXPECT_EQ(Device(), other);
  }).join();
  EXPECT_EQ(Device(), device);
}

TEST_F(MultiDeviceTest, SetCurrentReturnsTheContextOfTheOtherDevice) {
  const std::optional<Context> before = other.set_current();
  ASSERT_TRUE(before.has_value());
  EXPECT_EQ(before->device(), device);
}

TEST_F(MultiDeviceTest, SetCurrentRefusesAContextOfAnotherDevice) {
  EXPECT_THAT(error_of<InvalidArgument>([&] { device.set_current(other.context()); }),
              AllOf(HasSubstr("of device 1 current on device 0"), HasSubstr("the context's own device")));
}

TEST_F(MultiDeviceTest, ADeviceNeedNotBeCurrent) {
  Stream stream = other.create_stream();
  EXPECT_EQ(stream.device(), other);
  EXPECT_EQ(other.create_event().device(), other);
  EXPECT_EQ(other.create_context().device(), other);
  Kernel scale = compile(scale_source, "scale");
  Buffer data = other.allocate(32 * sizeof(float), stream);
  data.fill<float>(2.0f, stream);
  launch(stream, {.grid = 1, .block = 32}, scale, data, 2.0f, std::size_t{32});
  EXPECT_EQ(download<float>(data, stream)[31], 4.0f);
  other.sync();
  EXPECT_EQ(Device(), device);
}

TEST_F(MultiDeviceTest, AStreamStaysWithItsDevice) {
  Stream stream = device.create_stream();
  other.set_current();
  EXPECT_EQ(stream.device(), device);
  EXPECT_EQ(stream.context(), device.context());
}

TEST_F(MultiDeviceTest, TheDefaultStreamsFollowTheCurrentDevice) {
  for (const Stream& stream : {Stream::legacy_default(), Stream::per_thread_default()}) {
    for (const Device& each : {device, other, device}) {
      each.set_current();
      EXPECT_EQ(stream.device(), each);
      EXPECT_EQ(stream.context(), each.context());
      EXPECT_EQ(stream.record().device(), each);
      Buffer buffer = each.allocate(4, stream);
      buffer.fill<int>(each.device_id(), stream);
      EXPECT_EQ(download<int>(buffer, stream).front(), each.device_id());
    }
  }
}

TEST_F(MultiDeviceTest, ADevicesDefaultStreamStaysWithItsDevice) {
  const Stream stream = other.default_stream();
  EXPECT_EQ(stream.device(), other);
  other.set_current();
  EXPECT_EQ(stream.device(), other);
  device.set_current();
  EXPECT_EQ(stream.device(), other);
  EXPECT_EQ(stream, device.default_stream()) << "they have one name";
  EXPECT_NE(stream.context(), device.default_stream().context());
}

TEST_F(MultiDeviceTest, DefaultStreamsOfTwoDevicesDoNotWaitForEachOther) {
  Latch latch(device);
  latch.hold(device.default_stream());
  Buffer buffer = other.allocate(4, other.default_stream());
  buffer.fill<int>(5, other.default_stream());
  EXPECT_EQ(download<int>(buffer, other.default_stream()).front(), 5);
}

TEST_F(MultiDeviceTest, VariablesAndAttributesAreOfEachDevice) {
  ObjectCode code = Program(
                        "extern \"C\" __device__ int counter = 5;\n"
                        "extern \"C\" __global__ void count() { ++counter; }")
                        .compile(Target::cubin);
  const Buffer here = code.get_global("counter");
  other.set_current();
  const Buffer there = code.get_global("counter");
  EXPECT_EQ(here.device_id(), 0);
  EXPECT_EQ(there.device_id(), 1);
  EXPECT_NE(here.handle(), there.handle());
  const Kernel count = code.get_kernel("count");
  count.attributes(other).set_preferred_shared_memory_carveout(25);
  EXPECT_EQ(count.attributes(other).preferred_shared_memory_carveout(), 25);
  EXPECT_NE(count.attributes(device).preferred_shared_memory_carveout(), 25);
  EXPECT_GE(count.occupancy(other).max_active_blocks_per_multiprocessor(32, 0), 1);
  Stream stream = device.create_stream();
  EXPECT_THAT(error_of<InvalidArgument>([&] { count.occupancy(other).max_active_clusters({}, stream); }),
              HasSubstr("is on device 0"));
}

TEST_F(MultiDeviceTest, AKernelRunsOnEveryDevice) {
  Kernel scale = compile(scale_source, "scale");
  for (const Device& each : Device::all()) {
    Stream stream = each.create_stream();
    Buffer data = each.allocate(32 * sizeof(float), stream);
    data.fill<float>(static_cast<float>(each.device_id() + 1), stream);
    launch(stream, {.grid = 1, .block = 32}, scale, data, 3.0f, std::size_t{32});
    EXPECT_EQ(download<float>(data, stream)[31], 3.0f * static_cast<float>(each.device_id() + 1));
  }
}

class OrderingMultiDeviceTest : public MultiDeviceTest {
 protected:
  Trace trace{device};
  Latch latch{device};
  Stream here = device.create_stream();
  Stream there = other.create_stream();

  /// Code is loaded before anything is held.
  void warm_up() {
    trace.note(0, there);
    there.sync();
  }
  std::vector<int> noted() const {
    std::vector<int> numbers = trace.noted();
    EXPECT_EQ(numbers.front(), 0);
    numbers.erase(numbers.begin());
    return numbers;
  }
};

TEST_F(OrderingMultiDeviceTest, AStreamWaitsForAStreamOfAnotherDevice) {
  warm_up();
  latch.hold(here);
  trace.note(1, here);
  there.wait(here);
  trace.note(2, there);
  EXPECT_FALSE(there.is_done());
  EXPECT_THAT(noted(), IsEmpty());
  latch.open();
  there.sync();
  EXPECT_THAT(noted(), ElementsAre(1, 2));
}

TEST_F(OrderingMultiDeviceTest, AStreamWaitsForAnEventOfAnotherDevice) {
  warm_up();
  latch.hold(here);
  trace.note(1, here);
  Event event = here.record();
  there.wait(event);
  event.close();
  trace.note(2, there);
  EXPECT_FALSE(there.is_done());
  latch.open();
  there.sync();
  EXPECT_THAT(noted(), ElementsAre(1, 2));
}

TEST_F(OrderingMultiDeviceTest, WaitsGoBackAndForth) {
  warm_up();
  latch.hold(here);
  trace.note(1, here);
  there.wait(here);
  trace.note(2, there);
  here.wait(there);
  trace.note(3, here);
  there.wait(here);
  trace.note(4, there);
  latch.open();
  there.sync();
  EXPECT_THAT(noted(), ElementsAre(1, 2, 3, 4));
}

TEST_F(OrderingMultiDeviceTest, StreamsOfTwoDevicesDoNotWaitOtherwise) {
  warm_up();
  latch.hold(here);
  trace.note(1, there);
  there.sync();
  EXPECT_THAT(noted(), ElementsAre(1));
}

TEST_F(MultiDeviceTest, DifferenceOfEventsOfTwoDevicesIsRefused) {
  Event start = device.create_stream().record({.timing_enabled = true});
  Event end = other.create_stream().record({.timing_enabled = true});
  start.sync();
  end.sync();
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)(end - start); }),
              AllOf(HasSubstr("the end event"), HasSubstr("is of another device than the start event")));
}

TEST_F(MultiDeviceTest, RecordRefusesAnEventOfAnotherDevice) {
  Event event = device.create_event();
  Stream there = other.create_stream();
  EXPECT_THAT(error_of<InvalidArgument>([&] { there.record(event); }), HasSubstr("of device 0; make one"));
}

TEST_F(MultiDeviceTest, WrappingAStreamOfAnotherDeviceIsRefused) {
  Stream there = other.create_stream();
  EXPECT_THAT(error_of<InvalidArgument>([&] { device.create_stream(there.handle()); }),
              HasSubstr("wrapping a stream on device 0: it is one of device 1"));
  EXPECT_EQ(other.create_stream(there.handle()), there);
}

TEST_F(MultiDeviceTest, WrappedStreamsKnowTheirDevice) {
  Stream there = other.create_stream();
  EXPECT_EQ(Stream::from_handle(there.handle()).device(), other);
}

TEST_F(MultiDeviceTest, ResourcesOfOneDeviceAreReleasedWhileAnotherIsCurrent) {
  other.set_current();
  auto stream = std::make_unique<Stream>(device.create_stream());
  auto event = std::make_unique<Event>(stream->record());
  auto buffer = std::make_unique<Buffer>(device.allocate(64, *stream));
  stream.reset();
  event.reset();
  buffer.reset();
  EXPECT_EQ(Device(), other);
  EXPECT_EQ(live_objects(), LiveObjects{});
}

TEST_F(MultiDeviceTest, PropertiesAreEachDevicesOwn) {
  EXPECT_NE(device.properties().pci_bus_id() * 1000 + device.properties().pci_device_id(),
            other.properties().pci_bus_id() * 1000 + other.properties().pci_device_id());
}

TEST_F(MultiDeviceTest, PeerAccessIsMutualHere) {
  for (const Device& each : Device::all()) {
    EXPECT_TRUE(each.can_access_peer(each));
    EXPECT_EQ(each.can_access_peer(device), device.can_access_peer(each));
  }
}

TEST_F(MultiDeviceTest, DevicesHaveMemoryResourcesOfTheirOwn) {
  EXPECT_FALSE(device.memory_resource() == other.memory_resource());
  const MemoryResource before = other.memory_resource();
  other.set_memory_resource(PinnedMemoryResource());
  EXPECT_FALSE(device.memory_resource().is_host_accessible());
  EXPECT_TRUE(other.memory_resource().is_host_accessible());
  other.set_memory_resource(before);
}

}  // namespace
}  // namespace cuprum::tests
