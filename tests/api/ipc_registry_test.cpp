// Shared pools by name, and by bare file descriptor.
#include <fcntl.h>

#include "api/ipc_memory_fixture.hpp"

namespace cuprum::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class IpcRegistryTest : public IpcMemoryTest {
 protected:
  static MemoryPool from_registry(PoolKind kind, const Uuid& uuid) {
    if (kind == PoolKind::device) return DeviceMemoryResource::from_registry(uuid);
    return PinnedMemoryResource::from_registry(uuid);
  }
};

INSTANTIATE_TEST_SUITE_P(Pools, IpcRegistryTest, ::testing::Values(PoolKind::device, PoolKind::pinned),
                         [](const auto& kind) { return name_of(kind.param); });

TEST_P(IpcRegistryTest, AnUnknownNameIsReported) {
  const Uuid unknown = Uuid::random();
  EXPECT_THAT(error_of<InvalidArgument>([&] { from_registry(GetParam(), unknown); }),
              HasSubstr("no memory pool is registered as " + unknown.to_string()));
}

TEST_F(IpcImporter, DISABLED_FindsItsPool) {
  const auto by_name = [&](const Uuid& uuid) -> MemoryPool {
    if (kind == PoolKind::device) return DeviceMemoryResource::from_registry(uuid);
    return PinnedMemoryResource::from_registry(uuid);
  };
  const auto descriptor = channel.receive<IPCBufferDescriptor>();
  EXPECT_EQ(by_name(handle.uuid().value()), pool);
  const MemoryPool found = by_name(descriptor.memory_resource_uuid());
  expect_all(Buffer::from_ipc_descriptor(found, descriptor, stream), 7, stream);
  EXPECT_EQ(import_pool(kind, handle), pool) << "the second import is the first";
}

TEST_P(IpcRegistryTest, AnImportedPoolIsFoundByTheNameInTheDescriptor) {
  const MemoryPool pool = make_pool(GetParam());
  auto child = importer("FindsItsPool", pool);
  const Buffer buffer = filled(pool, 7);
  child->channel().send(buffer.ipc_descriptor());
  EXPECT_TRUE(child->passed());
}

TEST_F(IpcImporter, DISABLED_ForgetsItsPool) {
  const Uuid uuid = handle.uuid().value();
  pool = make_pool(kind);
  EXPECT_THAT(error_of<InvalidArgument>([&] { DeviceMemoryResource::from_registry(uuid); }),
              HasSubstr("no memory pool is registered as " + uuid.to_string()));
  pool = import_pool(kind, handle);
  EXPECT_TRUE(pool.is_mapped());
  pool.close();
  EXPECT_THAT(error_of<InvalidArgument>([&] { PinnedMemoryResource::from_registry(uuid); }),
              HasSubstr("no memory pool"));
  EXPECT_NE(import_pool(kind, handle), pool) << "a closed pool is not found";
}

TEST_P(IpcRegistryTest, TheRegistryKeepsNoPoolAlive) {
  EXPECT_TRUE(importer("ForgetsItsPool", make_pool(GetParam()))->passed());
}

TEST_F(IpcImporter, DISABLED_LooksInTheWrongClass) {
  const auto look = [&] {
    if (kind == PoolKind::device) {
      PinnedMemoryResource::from_registry(handle.uuid().value());
    } else {
      DeviceMemoryResource::from_registry(handle.uuid().value());
    }
  };
  EXPECT_THAT(error_of<InvalidArgument>(look), HasSubstr("use " + name_of(kind) + "MemoryResource::from_registry"));
}

TEST_P(IpcRegistryTest, APoolIsFoundByItsOwnClassOnly) {
  EXPECT_TRUE(importer("LooksInTheWrongClass", make_pool(GetParam()))->passed());
}

TEST(IpcDescriptorImporter, DISABLED_ImportsAFileDescriptor) {
  const ipc::Channel& channel = channel_to_parent();
  const Device device(0);
  Stream stream = device.create_stream();
  const int number = std::stoi(channel.receive<std::string>());
  const auto descriptor = channel.receive<IPCBufferDescriptor>();

  const auto pool = DeviceMemoryResource::from_allocation_handle(device, number);
  EXPECT_NE(fcntl(number, F_GETFD), -1) << "the caller's file descriptor stays open";
  EXPECT_EQ(close(number), 0);
  EXPECT_TRUE(pool.is_mapped());
  EXPECT_EQ(pool.uuid(), std::nullopt);
  expect_all(Buffer::from_ipc_descriptor(pool, descriptor, stream), 7, stream);

  EXPECT_EQ(pool.register_as(descriptor.memory_resource_uuid()), pool);
  EXPECT_EQ(pool.uuid(), descriptor.memory_resource_uuid());
  EXPECT_EQ(DeviceMemoryResource::from_registry(descriptor.memory_resource_uuid()), pool);
  EXPECT_EQ(pool.register_as(descriptor.memory_resource_uuid()), pool) << "again";
  EXPECT_EQ(pool.allocation_handle().uuid(), descriptor.memory_resource_uuid());
  const Uuid other = Uuid::random();
  EXPECT_THAT(error_of<InvalidArgument>([&] { pool.register_as(other); }),
              AllOf(HasSubstr("can't be registered by another"), HasSubstr(other.to_string())));
}

TEST_F(IpcExporterTest, AnInheritedFileDescriptorIsAPoolThatCanBeNamed) {
  SKIP_UNLESS_SHARED(PoolKind::device);
  const MemoryPool pool = make_pool(PoolKind::device);
  const IPCAllocationHandle handle = pool.allocation_handle();
  ChildProcess child("IpcDescriptorImporter.DISABLED_ImportsAFileDescriptor", {}, {handle.handle()});
  child.channel().send(std::to_string(handle.handle()));
  const Buffer buffer = filled(pool, 7);
  child.channel().send(buffer.ipc_descriptor());
  EXPECT_TRUE(child.passed());
}

TEST_F(IpcExporterTest, AnExporterCanRegisterItsOwnPool) {
  SKIP_UNLESS_SHARED(PoolKind::device);
  const DeviceMemoryResource pool(device, {.ipc_enabled = true});
  EXPECT_EQ(pool.register_as(pool.uuid().value()), pool);
  EXPECT_EQ(DeviceMemoryResource::from_registry(pool.uuid().value()), pool);
}

TEST_F(IpcExporterTest, APoolThatIsNotSharedIsNotRegistered) {
  const Uuid uuid = Uuid::random();
  EXPECT_THAT(error_of<InvalidArgument>([&] { DeviceMemoryResource(device).register_as(uuid); }),
              HasSubstr("can't be shared with other processes"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { DeviceMemoryResource::from_registry(uuid); }),
              HasSubstr("no memory pool is registered"));
}

}  // namespace
}  // namespace cuprum::tests
