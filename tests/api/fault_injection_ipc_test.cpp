// Whatever call of the driver fails while something is shared, it is reported and nothing leaks on either side.
#include "api/failing_api.hpp"
#include "api/ipc_memory_fixture.hpp"

namespace cuprum::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class IpcFaultInjectionTest : public IpcMemoryTest {};

INSTANTIATE_TEST_SUITE_P(Pools, IpcFaultInjectionTest, ::testing::Values(PoolKind::device, PoolKind::pinned),
                         [](const auto& kind) { return name_of(kind.param); });

TEST_P(IpcFaultInjectionTest, EveryFailingCallOfAnExportIsReported) {
  filled(make_pool(GetParam()), 0);  // what the driver opens once
  const DescriptorsAreClosed check;
  FailingApi failing;
  const int thrown = failing.fail_each_call([&] {
    const MemoryPool pool = make_pool(GetParam());
    const Buffer buffer = pool.allocate(shared_bytes, stream);
    const IPCBufferDescriptor descriptor = buffer.ipc_descriptor();
    EXPECT_EQ(pool.allocation_handle().uuid(), descriptor.memory_resource_uuid());
  });
  EXPECT_GE(thrown, 4);
}

TEST_P(IpcFaultInjectionTest, AFailedExportNamesThePool) {
  FailingApi failing;
  failing.fail_next("cuMemPoolExportToShareableHandle", CUDA_ERROR_OPERATING_SYSTEM);
  EXPECT_THAT(error_of<DriverError>([] { make_pool(GetParam()); }),
              AllOf(HasSubstr("exporting a pool of "), HasSubstr("to other processes"),
                    HasSubstr("cuMemPoolExportToShareableHandle failed with CUDA_ERROR_OPERATING_SYSTEM")));
}

TEST_F(IpcImporter, DISABLED_SurvivesEveryFailingCall) {
  const auto descriptor = channel.receive<IPCBufferDescriptor>();
  pool = make_pool(kind);
  expect_all(Buffer::from_ipc_descriptor(import_pool(kind, handle), descriptor, stream), 7, stream);
  const DescriptorsAreClosed check;
  FailingApi failing;
  const int thrown = failing.fail_each_call(
      [&] {
        const MemoryPool imported = import_pool(kind, handle);
        Buffer first = Buffer::from_ipc_descriptor(imported, descriptor, stream);
        const Buffer second = Buffer::from_ipc_descriptor(imported, descriptor, stream);
        first.close();
        EXPECT_EQ(second.ipc_descriptor(), descriptor);
        expect_all(second, 7, stream);
      },
      {{"cuEventCreate", "a buffer that goes waits for its stream where no event can stand for the work"},
       {"cuEventRecord", "the same"},
       {"cuStreamWaitEvent", "the event is waited for then"}});
  EXPECT_GE(thrown, 5);
}

TEST_P(IpcFaultInjectionTest, EveryFailingCallOfAnImportIsReported) {
  const MemoryPool shared = make_pool(GetParam());
  auto child = importer("SurvivesEveryFailingCall", shared);
  const Buffer buffer = filled(shared, 7);
  child->channel().send(buffer.ipc_descriptor());
  EXPECT_TRUE(child->passed());
  expect_all(buffer, 7, stream);
}

TEST_F(IpcExporterTest, EveryFailingCallOfAnEventsExportIsReported) {
  if (!device.properties().ipc_event_supported()) GTEST_SKIP() << "the device's events can't be shared";
  FailingApi failing;
  const int thrown = failing.fail_each_call([&] {
    const Event event = stream.record({.ipc_enabled = true});
    EXPECT_EQ(event.ipc_descriptor(), event.ipc_descriptor());
  });
  EXPECT_GE(thrown, 3);
}

TEST(IpcFaults, DISABLED_ImportsAnEvent) {
  Device(0).set_current();
  const auto descriptor = channel_to_parent().receive<IPCEventDescriptor>();
  EXPECT_TRUE(Event::from_ipc_descriptor(descriptor).is_done());
  FailingApi failing;
  EXPECT_GE(failing.fail_each_call([&] { EXPECT_TRUE(Event::from_ipc_descriptor(descriptor).is_done()); }), 3);
}

TEST_F(IpcExporterTest, EveryFailingCallOfAnEventsImportIsReported) {
  if (!device.properties().ipc_event_supported()) GTEST_SKIP() << "the device's events can't be shared";
  const Event event = stream.record({.ipc_enabled = true});
  stream.sync();
  ChildProcess child("IpcFaults.DISABLED_ImportsAnEvent");
  child.channel().send(event.ipc_descriptor());
  EXPECT_TRUE(child.passed());
}

}  // namespace
}  // namespace cuprum::tests
