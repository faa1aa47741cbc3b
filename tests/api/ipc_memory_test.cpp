// Buffers of one process in another: each test exports, the disabled one before it imports.
#include <cuprum/driver.hpp>

#include "api/ipc_memory_fixture.hpp"

namespace cuprum::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

INSTANTIATE_TEST_SUITE_P(Pools, IpcMemoryTest, ::testing::Values(PoolKind::device, PoolKind::pinned),
                         [](const auto& kind) { return name_of(kind.param); });

TEST_F(IpcImporter, DISABLED_Reads) { expect_all(receive_buffer(), 7, stream); }

TEST_P(IpcMemoryTest, ImporterSeesWhatTheExporterWrote) {
  const MemoryPool pool = make_pool(GetParam());
  auto child = importer("Reads", pool);
  const Buffer buffer = filled(pool, 7);
  child->channel().send(buffer.ipc_descriptor());
  EXPECT_TRUE(child->passed());
}

TEST_F(IpcImporter, DISABLED_Writes) { put(receive_buffer(), 8, stream); }

TEST_P(IpcMemoryTest, ExporterSeesWhatTheImporterWrote) {
  const MemoryPool pool = make_pool(GetParam());
  auto child = importer("Writes", pool);
  const Buffer buffer = filled(pool, 7);
  child->channel().send(buffer.ipc_descriptor());
  EXPECT_TRUE(child->passed());
  expect_all(buffer, 8, stream);
}

TEST_F(IpcImporter, DISABLED_AnswersEachValue) {
  const Buffer buffer = receive_buffer();
  for (int i = 0; i < 5; ++i) {
    await("yours");
    expect_all(buffer, static_cast<std::uint8_t>(2 * i), stream);
    put(buffer, static_cast<std::uint8_t>(2 * i + 1), stream);
    say("yours");
  }
}

TEST_P(IpcMemoryTest, BothWorkOnTheSameMemory) {
  const MemoryPool pool = make_pool(GetParam());
  auto child = importer("AnswersEachValue", pool);
  const Buffer buffer = filled(pool, 0);
  child->channel().send(buffer.ipc_descriptor());
  for (int i = 0; i < 5; ++i) {
    put(buffer, static_cast<std::uint8_t>(2 * i), stream);
    child->channel().send("yours");
    EXPECT_EQ(child->channel().receive<std::string>(), "yours");
    expect_all(buffer, static_cast<std::uint8_t>(2 * i + 1), stream);
  }
  EXPECT_TRUE(child->passed());
}

TEST_F(IpcImporter, DISABLED_Scales) {
  const Kernel scale = compile(scale_source, "scale");
  const Buffer buffer = receive_buffer();
  launch(stream, {.grid = 1, .block = 128}, scale, buffer, 3.0f, buffer.size() / sizeof(float));
  stream.sync();
}

TEST_P(IpcMemoryTest, KernelsUseImportedMemory) {
  const MemoryPool pool = make_pool(GetParam());
  auto child = importer("Scales", pool);
  const Buffer buffer = pool.allocate(100 * sizeof(float), stream);
  buffer.fill<float>(2.0f, stream);
  stream.sync();
  child->channel().send(buffer.ipc_descriptor());
  EXPECT_TRUE(child->passed());
  EXPECT_EQ(download<float>(buffer, stream), std::vector<float>(100, 6.0f));
}

TEST_F(IpcImporter, DISABLED_Describes) {
  const auto descriptor = channel.receive<IPCBufferDescriptor>();
  const Buffer buffer = Buffer::from_ipc_descriptor(pool, descriptor, stream);
  EXPECT_TRUE(pool.is_mapped());
  EXPECT_TRUE(pool.is_ipc_enabled());
  EXPECT_TRUE(pool.is_handle_owned());
  EXPECT_EQ(pool.uuid(), handle.uuid());
  EXPECT_EQ(pool.uuid(), descriptor.memory_resource_uuid());
  EXPECT_TRUE(buffer.is_mapped());
  EXPECT_EQ(buffer.size(), shared_bytes);
  EXPECT_EQ(buffer.memory_resource(), pool);
  EXPECT_TRUE(buffer.is_device_accessible());
  EXPECT_EQ(buffer.is_host_accessible(), kind == PoolKind::pinned);
  EXPECT_EQ(buffer.device_id(), kind == PoolKind::device ? std::optional(0) : std::nullopt);
  say(pool.uuid().value().to_string());
}

TEST_P(IpcMemoryTest, PropertiesTellImportedFromOwn) {
  const MemoryPool pool = make_pool(GetParam());
  auto child = importer("Describes", pool);
  const Buffer buffer = filled(pool, 0);
  child->channel().send(buffer.ipc_descriptor());
  EXPECT_EQ(child->channel().receive<std::string>(), pool.uuid().value().to_string());
  EXPECT_TRUE(child->passed());
  EXPECT_TRUE(pool.is_ipc_enabled());
  EXPECT_FALSE(pool.is_mapped());
  EXPECT_FALSE(buffer.is_mapped());
}

TEST_F(IpcImporter, DISABLED_UsesSpans) {
  const Buffer buffer = receive_buffer();
  if (kind == PoolKind::pinned) {
    const std::span<std::uint8_t> bytes = buffer.as_span<std::uint8_t>();
    EXPECT_EQ(bytes.front(), 3);
    bytes.back() = 9;
  } else {
    EXPECT_THAT(error_of<InvalidArgument>([&] { buffer.as_span<std::uint8_t>(); }), HasSubstr("the host can't access"));
  }
}

TEST_P(IpcMemoryTest, TheHostUsesImportedHostMemoryDirectly) {
  const MemoryPool pool = make_pool(GetParam());
  auto child = importer("UsesSpans", pool);
  const Buffer buffer = filled(pool, 3);
  child->channel().send(buffer.ipc_descriptor());
  EXPECT_TRUE(child->passed());
  if (GetParam() == PoolKind::pinned) {
    EXPECT_EQ(buffer.as_span<std::uint8_t>().back(), 9);
  }
}

TEST_F(IpcImporter, DISABLED_Allocates) {
  EXPECT_THAT(error_of<InvalidArgument>([&] { pool.allocate(64, stream); }),
              HasSubstr("is another process's: buffers can be imported from it, not allocated"));
}

TEST_P(IpcMemoryTest, NothingIsAllocatedFromAnImportedPool) {
  EXPECT_TRUE(importer("Allocates", make_pool(GetParam()))->passed());
}

TEST_F(IpcImporter, DISABLED_ImportsTwice) {
  Buffer first = receive_buffer();
  Buffer second = receive_buffer();
  EXPECT_EQ(first, second);
  first.close();
  expect_all(second, 7, stream);
  Buffer third = receive_buffer();
  second.close();
  expect_all(third, 7, stream);
}

TEST_P(IpcMemoryTest, ABufferImportedTwiceIsMappedOnceUntilTheLastIsClosed) {
  const MemoryPool pool = make_pool(GetParam());
  auto child = importer("ImportsTwice", pool);
  const Buffer buffer = filled(pool, 7);
  for (int i = 0; i < 3; ++i) child->channel().send(buffer.ipc_descriptor());
  EXPECT_TRUE(child->passed());
}

TEST_F(IpcImporter, DISABLED_ImportsAgain) {
  const auto descriptor = channel.receive<IPCBufferDescriptor>();
  for (int i = 0; i < 3; ++i) {
    Buffer buffer = Buffer::from_ipc_descriptor(pool, descriptor, stream);
    expect_all(buffer, 7, stream);
    buffer.close();
    stream.sync();
  }
}

TEST_P(IpcMemoryTest, AClosedImportCanBeImportedAgain) {
  const MemoryPool pool = make_pool(GetParam());
  auto child = importer("ImportsAgain", pool);
  const Buffer buffer = filled(pool, 7);
  child->channel().send(buffer.ipc_descriptor());
  EXPECT_TRUE(child->passed());
}

TEST_F(IpcImporter, DISABLED_ClosesThePoolFirst) {
  const Buffer buffer = receive_buffer();
  pool.close();
  EXPECT_THAT(error_of<InvalidArgument>([&] { receive_buffer(); }), HasSubstr("is closed"));
  expect_all(buffer, 7, stream);
}

TEST_P(IpcMemoryTest, AnImportedBufferOutlivesItsClosedPool) {
  const MemoryPool pool = make_pool(GetParam());
  auto child = importer("ClosesThePoolFirst", pool);
  const Buffer buffer = filled(pool, 7);
  for (int i = 0; i < 2; ++i) child->channel().send(buffer.ipc_descriptor());
  EXPECT_TRUE(child->passed());
}

TEST_F(IpcImporter, DISABLED_LetsThePoolGo) {
  const Buffer buffer = receive_buffer();
  pool = make_pool(kind);  // the last handle to the imported one
  EXPECT_EQ(live_objects().memory_pools, 2u) << "the buffer keeps its pool";
  expect_all(buffer, 7, stream);
}

TEST_P(IpcMemoryTest, AnImportedBufferKeepsItsPoolAlive) {
  const MemoryPool pool = make_pool(GetParam());
  auto child = importer("LetsThePoolGo", pool);
  const Buffer buffer = filled(pool, 7);
  child->channel().send(buffer.ipc_descriptor());
  EXPECT_TRUE(child->passed());
}

TEST_F(IpcImporter, DISABLED_ImportsMany) {
  std::vector<Buffer> buffers;
  for (std::uint8_t i = 0; i < 20; ++i) {
    buffers.push_back(receive_buffer());
    expect_all(buffers.back(), i, stream);
    put(buffers.back(), static_cast<std::uint8_t>(i + 100), stream);
  }
}

TEST_P(IpcMemoryTest, ManyBuffersOfOnePoolAreShared) {
  const MemoryPool pool = make_pool(GetParam());
  auto child = importer("ImportsMany", pool);
  std::vector<Buffer> buffers;
  for (std::uint8_t i = 0; i < 20; ++i) {
    buffers.push_back(filled(pool, i));
    child->channel().send(buffers.back().ipc_descriptor());
  }
  EXPECT_TRUE(child->passed());
  for (std::uint8_t i = 0; i < 20; ++i) expect_all(buffers[i], static_cast<std::uint8_t>(i + 100), stream);
}

TEST_F(IpcImporter, DISABLED_OpensOtherStreams) {
  const auto descriptor = channel.receive<IPCBufferDescriptor>();
  Stream other = device.create_stream();
  Buffer first = Buffer::from_ipc_descriptor(pool, descriptor, stream);
  Buffer second = Buffer::from_ipc_descriptor(pool, descriptor, other);
  second.fill<std::uint8_t>(9, other);
  second.close();  // first frees it on another stream, and must wait for the fill
  first.close();
  stream.sync();
}

TEST_P(IpcMemoryTest, TheLastImportIsFreedAfterTheWorkOfAll) {
  const MemoryPool pool = make_pool(GetParam());
  auto child = importer("OpensOtherStreams", pool);
  const Buffer buffer = filled(pool, 7);
  child->channel().send(buffer.ipc_descriptor());
  EXPECT_TRUE(child->passed());
  expect_all(buffer, 9, stream);
}

TEST_P(IpcMemoryTest, OneHandleServesSeveralProcesses) {
  const MemoryPool pool = make_pool(GetParam());
  const Buffer buffer = filled(pool, 7);
  std::vector<std::unique_ptr<ChildProcess>> children;
  for (int i = 0; i < 2; ++i) children.push_back(importer("Reads", pool));
  for (auto& child : children) child->channel().send(buffer.ipc_descriptor());
  for (auto& child : children) EXPECT_TRUE(child->passed());
}

TEST_F(IpcImporter, DISABLED_FillsItsPart) {
  const Buffer buffer = receive_buffer();
  const int part = std::stoi(channel.receive<std::string>());
  say("mapped");
  await("go");
  const std::size_t bytes = buffer.size() / 4;
  const auto first = buffer.handle() + static_cast<DevicePointer>(part) * bytes;
  put(Buffer::from_handle(first, bytes), static_cast<std::uint8_t>(part + 1), stream);
}

TEST_P(IpcMemoryTest, FourProcessesFillPartsOfOneBufferAtOnce) {
  const MemoryPool pool = make_pool(GetParam());
  const Buffer buffer = filled(pool, 0);
  std::vector<std::unique_ptr<ChildProcess>> children;
  for (int part = 0; part < 4; ++part) {
    children.push_back(importer("FillsItsPart", pool));
    children.back()->channel().send(buffer.ipc_descriptor());
    children.back()->channel().send(std::to_string(part));
  }
  for (auto& child : children) EXPECT_EQ(child->channel().receive<std::string>(), "mapped");
  for (auto& child : children) child->channel().send("go");
  for (auto& child : children) EXPECT_TRUE(child->passed());
  const auto found = download<std::uint8_t>(buffer, stream);
  for (std::size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], 4 * i / found.size() + 1) << "byte " << i;
}

TEST_F(IpcImporter, DISABLED_PassesOn) {
  Buffer buffer = receive_buffer();
  ChildProcess next("IpcImporter.DISABLED_Writes");
  next.channel().send(name_of(kind));
  next.channel().send(pool.allocation_handle());
  next.channel().send(buffer.ipc_descriptor());
  EXPECT_TRUE(next.passed());
  expect_all(buffer, 8, stream);
}

TEST_P(IpcMemoryTest, AnImporterCanPassABufferOn) {
  const MemoryPool pool = make_pool(GetParam());
  auto child = importer("PassesOn", pool);
  const Buffer buffer = filled(pool, 7);
  child->channel().send(buffer.ipc_descriptor());
  EXPECT_TRUE(child->passed());
  expect_all(buffer, 8, stream);
}

TEST_P(IpcMemoryTest, ADescriptorIsTheSameEachTime) {
  const MemoryPool pool = make_pool(GetParam());
  const Buffer buffer = filled(pool, 7);
  const IPCBufferDescriptor descriptor = buffer.ipc_descriptor();
  EXPECT_EQ(descriptor, buffer.ipc_descriptor());
  EXPECT_EQ(descriptor.size(), shared_bytes);
  EXPECT_EQ(descriptor.memory_resource_uuid(), pool.uuid());
}

TEST_P(IpcMemoryTest, AskingForTheHandleOpensNoFileDescriptors) {
  const MemoryPool pool = make_pool(GetParam());
  const std::set<int> before = open_descriptors();
  for (int i = 0; i < 10; ++i) pool.allocation_handle();
  EXPECT_EQ(open_descriptors(), before);
}

TEST_P(IpcMemoryTest, ClosingAHandleLeavesThePoolsOwn) {
  const MemoryPool pool = make_pool(GetParam());
  IPCAllocationHandle handle = pool.allocation_handle();
  handle.close();
  auto child = importer("Reads", pool);
  const Buffer buffer = filled(pool, 7);
  child->channel().send(buffer.ipc_descriptor());
  EXPECT_TRUE(child->passed());
}

/// Whether the driver still has a pool; only softgpu bears the question about one that is gone.
bool is_there(CUmemPoolHandle_st* pool) {
  cuuint64_t threshold = 0;
  return driver::api().cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold) == CUDA_SUCCESS;
}

TEST_P(IpcMemoryTest, AClosedPoolStaysAsLongAsItsBuffers) {
  MemoryPool pool = make_pool(GetParam());
  CUmemPoolHandle_st* const handle = pool.handle();
  Buffer first = filled(pool, 7);
  Buffer second = filled(pool, 8);
  pool.close();
  first.close();
  EXPECT_TRUE(is_there(handle));
  expect_all(second, 8, stream);
  second.close();
  stream.sync();
  const bool can_ask = driver::info().kind == driver::Choice::softgpu;
  EXPECT_FALSE(can_ask && is_there(handle));
  const MemoryPool next = make_pool(GetParam());
  expect_all(filled(next, 9), 9, stream);
}

TEST_P(IpcMemoryTest, ThePoolsFileDescriptorGoesWithIt) {
  filled(make_pool(GetParam()), 0);  // what the driver opens once
  DescriptorsAreClosed check;
  filled(make_pool(GetParam()), 0).close();
  stream.sync();
}

TEST_P(IpcMemoryTest, EachPoolHasAUuidOfItsOwn) {
  EXPECT_NE(make_pool(GetParam()).uuid(), make_pool(GetParam()).uuid());
}

class IpcMultiDeviceTest : public IpcExporterTest {
 protected:
  void SetUp() override {
    if (Device::count() < 2) GTEST_SKIP() << "needs two devices";
    if (!device.can_access_peer(Device(1))) GTEST_SKIP() << "device 0 can't access device 1";
    SKIP_UNLESS_SHARED(PoolKind::device);
  }
};

TEST_F(IpcImporter, DISABLED_OpensThePoolToAPeer) {
  const auto memory = DeviceMemoryResource::from_allocation_handle(device, handle);
  EXPECT_TRUE(memory.peer_accessible_by().empty()) << "each process has settings of its own";
  memory.peer_accessible_by().add(Device(1));
  EXPECT_TRUE(memory.peer_accessible_by().contains(Device(1)));
  const Buffer buffer = receive_buffer();
  const Stream on_peer = Device(1).create_stream();
  const Buffer copy = Device(1).allocate(buffer.size(), on_peer);
  copy.copy_from(buffer, on_peer);
  expect_all(copy, 7, on_peer);
  memory.peer_accessible_by().clear();
  EXPECT_TRUE(memory.peer_accessible_by().empty());
}

TEST_F(IpcMultiDeviceTest, AnImportedPoolIsOpenedToPeers) {
  const MemoryPool pool = make_pool(PoolKind::device);
  const Buffer buffer = filled(pool, 7);
  ChildProcess child("IpcImporter.DISABLED_OpensThePoolToAPeer");
  child.channel().send(name_of(PoolKind::device));
  child.channel().send(pool.allocation_handle());
  child.channel().send(buffer.ipc_descriptor());
  EXPECT_TRUE(child.passed());
}

}  // namespace
}  // namespace cuprum::tests
