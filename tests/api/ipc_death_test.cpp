// Processes that die: nobody else is harmed.
#include "api/ipc_memory_fixture.hpp"

namespace cuprum::tests {
namespace {

class IpcDeathTest : public IpcMemoryTest {};

INSTANTIATE_TEST_SUITE_P(Pools, IpcDeathTest, ::testing::Values(PoolKind::device, PoolKind::pinned),
                         [](const auto& kind) { return name_of(kind.param); });

TEST_F(IpcImporter, DISABLED_HoldsABuffer) {
  const Buffer buffer = receive_buffer();
  put(buffer, 5, stream);
  say("mapped");
  await("never");
}

TEST_P(IpcDeathTest, AnImporterThatIsKilledHarmsNobody) {
  const MemoryPool pool = make_pool(GetParam());
  Buffer buffer = filled(pool, 7);
  auto child = importer("HoldsABuffer", pool);
  child->channel().send(buffer.ipc_descriptor());
  EXPECT_EQ(child->channel().receive<std::string>(), "mapped");
  child->kill();
  expect_all(buffer, 5, stream);
  put(buffer, 6, stream);
  expect_all(buffer, 6, stream);
  buffer.close();
  expect_all(filled(pool, 8), 8, stream);
}

TEST_P(IpcDeathTest, OneOfTwoImportersIsKilledAndTheOtherGoesOn) {
  const MemoryPool pool = make_pool(GetParam());
  const Buffer buffer = filled(pool, 7);
  auto first = importer("HoldsABuffer", pool);
  first->channel().send(buffer.ipc_descriptor());
  EXPECT_EQ(first->channel().receive<std::string>(), "mapped");
  auto second = importer("AnswersEachValue", pool);
  second->channel().send(buffer.ipc_descriptor());
  first->kill();
  for (int i = 0; i < 5; ++i) {
    put(buffer, static_cast<std::uint8_t>(2 * i), stream);
    second->channel().send("yours");
    EXPECT_EQ(second->channel().receive<std::string>(), "yours");
  }
  EXPECT_TRUE(second->passed());
}

TEST_P(IpcDeathTest, ManyImportersAreKilledAndThePoolStaysUsable) {
  const MemoryPool pool = make_pool(GetParam());
  const Buffer buffer = filled(pool, 7);
  for (int i = 0; i < 3; ++i) {
    auto child = importer("HoldsABuffer", pool);
    child->channel().send(buffer.ipc_descriptor());
    EXPECT_EQ(child->channel().receive<std::string>(), "mapped");
    child->kill();
  }
  auto child = importer("Reads", pool);
  put(buffer, 7, stream);
  child->channel().send(buffer.ipc_descriptor());
  EXPECT_TRUE(child->passed());
}

TEST_P(IpcDeathTest, AnImporterThatIsKilledBeforeItImportsHarmsNobody) {
  const MemoryPool pool = make_pool(GetParam());
  const Buffer buffer = filled(pool, 7);
  auto child = importer("Reads", pool);
  child->kill();
  expect_all(buffer, 7, stream);
}

class IpcExporter : public ApiTest {
 protected:
  const ipc::Channel channel = channel_to_parent();
  const PoolKind kind = channel.receive<std::string>() == "Device" ? PoolKind::device : PoolKind::pinned;
  Stream stream = device.create_stream();
};

TEST_F(IpcExporter, DISABLED_ExportsAndWaits) {
  const MemoryPool pool = make_pool(kind);
  const Buffer buffer = pool.allocate(shared_bytes, stream);
  put(buffer, 11, stream);
  channel.send(pool.allocation_handle());
  channel.send(buffer.ipc_descriptor());
  channel.receive<std::string>();
}

// Either the memory stays, or there is an error that says so.
TEST_F(IpcImporter, DISABLED_GoesOnAfterTheExporterDied) {
  const Buffer buffer = receive_buffer();
  expect_all(buffer, 11, stream);
  say("mapped");
  await("the exporter is dead");
  try {
    expect_all(buffer, 11, stream);
    put(buffer, 12, stream);
    expect_all(buffer, 12, stream);
  } catch (const DriverError& error) {
    EXPECT_NE(error.name(), "");
  }
}

TEST_P(IpcDeathTest, AnImporterSurvivesTheDeathOfTheExporter) {
  ChildProcess exporting("IpcExporter.DISABLED_ExportsAndWaits");
  exporting.channel().send(name_of(GetParam()));
  ChildProcess importing("IpcImporter.DISABLED_GoesOnAfterTheExporterDied");
  importing.channel().send(name_of(GetParam()));
  importing.channel().send(exporting.channel().receive<IPCAllocationHandle>());
  importing.channel().send(exporting.channel().receive<IPCBufferDescriptor>());
  EXPECT_EQ(importing.channel().receive<std::string>(), "mapped");
  exporting.kill();
  importing.channel().send("the exporter is dead");
  EXPECT_TRUE(importing.passed());
}

TEST_F(IpcImporter, DISABLED_ImportsFromADeadExporter) {
  const auto descriptor = channel.receive<IPCBufferDescriptor>();
  try {
    Buffer::from_ipc_descriptor(pool, descriptor, stream).close();
    stream.sync();
  } catch (const DriverError& error) {
    EXPECT_NE(error.name(), "");
  }
}

TEST_P(IpcDeathTest, ImportingFromADeadExporterWorksOrIsReported) {
  ChildProcess exporting("IpcExporter.DISABLED_ExportsAndWaits");
  exporting.channel().send(name_of(GetParam()));
  const auto handle = exporting.channel().receive<IPCAllocationHandle>();
  const auto descriptor = exporting.channel().receive<IPCBufferDescriptor>();
  ChildProcess importing("IpcImporter.DISABLED_ImportsFromADeadExporter");
  importing.channel().send(name_of(GetParam()));
  importing.channel().send(handle);
  exporting.kill();
  importing.channel().send(descriptor);
  EXPECT_TRUE(importing.passed());
}

TEST_F(IpcImporter, DISABLED_HoldsWhatIsFreed) {
  Buffer buffer = receive_buffer();
  say("mapped");
  await("freed");
  std::vector<std::uint8_t> contents(buffer.size());  // whatever they are
  buffer.copy_to(std::span(contents), stream);
  stream.sync();
  buffer.close();
  stream.sync();
}

TEST_P(IpcDeathTest, ABufferThatTheExporterFreesStaysMappedUntilItIsClosed) {
  const MemoryPool pool = make_pool(GetParam());
  Buffer buffer = filled(pool, 7);
  auto child = importer("HoldsWhatIsFreed", pool);
  child->channel().send(buffer.ipc_descriptor());
  EXPECT_EQ(child->channel().receive<std::string>(), "mapped");
  buffer.close();
  stream.sync();
  child->channel().send("freed");
  EXPECT_TRUE(child->passed());
  expect_all(filled(pool, 9), 9, stream);
}

TEST_P(IpcDeathTest, AnExporterMayCloseItsPoolBeforeTheBuffersAreImported) {
  MemoryPool pool = make_pool(GetParam());
  const Buffer buffer = filled(pool, 7);
  auto child = importer("Reads", pool);
  const IPCBufferDescriptor descriptor = buffer.ipc_descriptor();
  pool.close();
  child->channel().send(descriptor);
  EXPECT_TRUE(child->passed());
}

}  // namespace
}  // namespace cuprum::tests
