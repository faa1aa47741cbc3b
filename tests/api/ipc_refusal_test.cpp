// What is refused when it is exported or imported: the wrong process, pool, device, kind or size, and forgeries.
#include <fcntl.h>
#include <sys/mman.h>

#include "api/ipc_memory_fixture.hpp"

namespace cuprum::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class IpcRefusalTest : public IpcMemoryTest {};

INSTANTIATE_TEST_SUITE_P(Pools, IpcRefusalTest, ::testing::Values(PoolKind::device, PoolKind::pinned),
                         [](const auto& kind) { return name_of(kind.param); });

template <typename Change>
IPCBufferDescriptor forged(const IPCBufferDescriptor& descriptor, Change&& change) {
  Bytes bytes = descriptor.to_bytes();
  change(bytes);
  return IPCBufferDescriptor::from_bytes(sealed(bytes));
}

// Importers that get one descriptor and must refuse it.
class IpcRefuser : public IpcImporter {
 protected:
  const IPCBufferDescriptor descriptor = channel.receive<IPCBufferDescriptor>();

  template <typename E = InvalidArgument>
  std::string refusal(const IPCBufferDescriptor& bad) {
    const DescriptorsAreClosed check;
    return error_of<E>([&] { Buffer::from_ipc_descriptor(pool, bad, stream); });
  }
};

/// Gives a buffer to a process that runs this test.
class IpcRefusals : public IpcRefusalTest {
 protected:
  void expect_refusal(const std::string& test) {
    const MemoryPool pool = make_pool(GetParam());
    auto child = std::make_unique<ChildProcess>("IpcRefuser.DISABLED_" + test);
    child->channel().send(name_of(GetParam()));
    child->channel().send(pool.allocation_handle());
    const Buffer buffer = filled(pool, 7);
    child->channel().send(buffer.ipc_descriptor());
    EXPECT_TRUE(child->passed());
    expect_all(buffer, 7, stream);
  }
};

INSTANTIATE_TEST_SUITE_P(Pools, IpcRefusals, ::testing::Values(PoolKind::device, PoolKind::pinned),
                         [](const auto& kind) { return name_of(kind.param); });

TEST_F(IpcRefuser, DISABLED_Oversized) {
  for (const std::uint64_t size : {std::uint64_t{1} << 40, std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
    const auto bad = forged(descriptor, [&](Bytes& bytes) { put(bytes, layout::buffer_size, size); });
    EXPECT_THAT(refusal(bad), AllOf(HasSubstr("a buffer of " + std::to_string(size) + " bytes"),
                                    HasSubstr("exceeds the mapped allocation extent")));
  }
  expect_all(Buffer::from_ipc_descriptor(pool, descriptor, stream), 7, stream);
}

TEST_P(IpcRefusals, ASizeBeyondTheAllocationIsRefused) { expect_refusal("Oversized"); }

TEST_F(IpcRefuser, DISABLED_OversizedSecondImport) {
  const Buffer good = Buffer::from_ipc_descriptor(pool, descriptor, stream);
  const auto bad = forged(descriptor, [](Bytes& bytes) { put(bytes, layout::buffer_size, std::uint64_t{1} << 40); });
  EXPECT_THAT(refusal(bad), HasSubstr("exceeds the mapped allocation extent"));
  expect_all(good, 7, stream);
}

TEST_P(IpcRefusals, ASizeBeyondTheAllocationIsRefusedTheSecondTimeToo) { expect_refusal("OversizedSecondImport"); }

TEST_F(IpcRefuser, DISABLED_Smaller) {
  const auto part = forged(descriptor, [](Bytes& bytes) { put(bytes, layout::buffer_size, std::uint64_t{64}); });
  const Buffer buffer = Buffer::from_ipc_descriptor(pool, part, stream);
  EXPECT_EQ(buffer.size(), 64u);
  expect_all(buffer, 7, stream);
}

TEST_P(IpcRefusals, ASmallerSizeIsHarmless) { expect_refusal("Smaller"); }

TEST_F(IpcRefuser, DISABLED_Adopted) {
  const auto adopted = IPCBufferDescriptor::adopt(descriptor.payload(), descriptor.size());
  EXPECT_THROW(IPCBufferDescriptor::adopt(descriptor.payload().first(63), descriptor.size()), InvalidArgument);
  const Buffer buffer = Buffer::from_ipc_descriptor(pool, adopted, stream);
  EXPECT_EQ(buffer.size(), descriptor.size());
  expect_all(buffer, 7, stream);
}

TEST_P(IpcRefusals, TheDriversBytesAloneAreTaken) { expect_refusal("Adopted"); }

TEST_F(IpcRefuser, DISABLED_Empty) {
  EXPECT_THAT(refusal(forged(descriptor, [](Bytes& bytes) { put(bytes, layout::buffer_size, std::uint64_t{0}); })),
              HasSubstr("there is nothing to import"));
}

TEST_P(IpcRefusals, ABufferWithoutBytesIsRefused) { expect_refusal("Empty"); }

TEST_F(IpcRefuser, DISABLED_AnotherPool) {
  const Uuid other = Uuid::random();
  const auto bad = forged(descriptor, [&](Bytes& bytes) { put(bytes, layout::pool, other); });
  EXPECT_THAT(refusal(bad), AllOf(HasSubstr(other.to_string()),
                                  HasSubstr("the memory resource is pool " + pool.uuid().value().to_string())));
}

TEST_P(IpcRefusals, ABufferOfAnotherPoolIsRefusedByName) { expect_refusal("AnotherPool"); }

TEST_F(IpcRefuser, DISABLED_AnotherDevice) {
  const Uuid other = Uuid::random();
  const auto bad = forged(descriptor, [&](Bytes& bytes) { put(bytes, layout::device, other); });
  EXPECT_THAT(refusal(bad), HasSubstr("it is on the device with UUID " + other.to_string()));
}

TEST_P(IpcRefusals, ABufferOfAnotherDeviceIsRefused) { expect_refusal("AnotherDevice"); }

TEST_F(IpcRefuser, DISABLED_Nonsense) {
  for (const int value : {0x00, 0xff, 0x5a}) {
    const auto bad = forged(descriptor, [&](Bytes& bytes) {
      std::memset(bytes.data() + layout::buffer_payload, value, sizeof(detail::IpcPayload));
    });
    EXPECT_THAT(refusal<DriverError>(bad), AllOf(HasSubstr("importing the description of a buffer of 4096 bytes"),
                                                 HasSubstr("cuMemPoolImportPointer")));
  }
}

TEST_P(IpcRefusals, APayloadThatNoDriverMadeIsRefused) { expect_refusal("Nonsense"); }

// softgpu need not notice every change, but the process goes on and the memory of others is what it was.
TEST_F(IpcRefuser, DISABLED_ChangedPayload) {
  for (std::size_t i = 0; i < sizeof(detail::IpcPayload); ++i) {
    const auto bad = forged(descriptor, [&](Bytes& bytes) { bytes[layout::buffer_payload + i] ^= std::byte{0x40}; });
    try {
      Buffer::from_ipc_descriptor(pool, bad, stream).close();
      stream.sync();
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("the description of a buffer")) << "byte " << i;
    }
  }
  expect_all(Buffer::from_ipc_descriptor(pool, descriptor, stream), 7, stream);
}

// The checksum refuses what was changed on the way (see IpcDescriptorTest). This is a peer that forges the checksum,
// too: then all depends on the driver, and NVIDIA's promises nothing for what it did not export itself.
TEST_P(IpcRefusals, AChangedPayloadIsRefusedOrHarmless) {
  if (driver::info().kind != driver::Choice::softgpu) GTEST_SKIP() << "only softgpu checks what it is given to import";
  expect_refusal("ChangedPayload");
}

TEST_F(IpcRefuser, DISABLED_OwnPool) {
  EXPECT_THAT(error_of<InvalidArgument>([&] { Buffer::from_ipc_descriptor(make_pool(kind), descriptor, stream); }),
              HasSubstr("the memory resource is this process's own; expected one made by "));
}

TEST_P(IpcRefusals, APoolOfThisProcessImportsNothing) { expect_refusal("OwnPool"); }

TEST_F(IpcRefuser, DISABLED_PrivatePool) {
  const DeviceMemoryResource ordinary(device);
  EXPECT_THAT(error_of<InvalidArgument>([&] { Buffer::from_ipc_descriptor(ordinary, descriptor, stream); }),
              AllOf(HasSubstr("can't be shared with other processes"), HasSubstr("{.ipc_enabled = true}")));
}

TEST_P(IpcRefusals, APoolThatIsNotSharedImportsNothing) { expect_refusal("PrivatePool"); }

TEST_F(IpcRefuser, DISABLED_ClosedStream) {
  stream.close();
  EXPECT_THAT(refusal(descriptor), HasSubstr("this stream is closed"));
}

TEST_P(IpcRefusals, AClosedStreamIsRefused) { expect_refusal("ClosedStream"); }

TEST_F(IpcRefuser, DISABLED_WrongClass) {
  const DescriptorsAreClosed check;
  const PoolKind other = kind == PoolKind::device ? PoolKind::pinned : PoolKind::device;
  EXPECT_THAT(error_of<InvalidArgument>([&] { import_pool(other, handle); }),
              AllOf(HasSubstr("this allocation handle is not of a pool of "),
                    HasSubstr("import it by " + name_of(kind) + "MemoryResource::from_allocation_handle")));
}

TEST_P(IpcRefusals, AHandleIsImportedByItsOwnClassOnly) { expect_refusal("WrongClass"); }

TEST_F(IpcRefuser, DISABLED_WrongDevice) {
  if (kind == PoolKind::pinned) return;
  const Uuid other = Uuid::random();
  Bytes bytes = handle.to_bytes();
  put(bytes, layout::device, other);
  put(bytes, layout::pool, Uuid::random());  // else it is a pool that is known already
  const auto bad = IPCAllocationHandle::from_bytes(sealed(bytes), fcntl(handle.handle(), F_DUPFD_CLOEXEC, 0));
  EXPECT_THAT(
      error_of<InvalidArgument>([&] { import_pool(kind, bad); }),
      AllOf(HasSubstr("a pool on the device with UUID " + other.to_string()), HasSubstr(device.uuid().to_string())));
}

TEST_P(IpcRefusals, AHandleOfAnotherDeviceIsRefused) { expect_refusal("WrongDevice"); }

// The name in the descriptor fits, the memory is of another pool: only the driver can tell.
TEST_F(IpcRefuser, DISABLED_ForgedName) {
  EXPECT_THAT(refusal<DriverError>(forged(descriptor, [&](Bytes& bytes) { put(bytes, layout::pool, *pool.uuid()); })),
              HasSubstr("CUDA_ERROR_INVALID_VALUE"));
}

TEST_P(IpcRefusalTest, ABufferOfAnotherPoolUnderAForgedNameIsRefusedByTheDriver) {
  const MemoryPool pool = make_pool(GetParam());
  const MemoryPool other = make_pool(GetParam());
  ChildProcess child("IpcRefuser.DISABLED_ForgedName");
  child.channel().send(name_of(GetParam()));
  child.channel().send(pool.allocation_handle());
  const Buffer buffer = filled(other, 7);
  child.channel().send(buffer.ipc_descriptor());
  EXPECT_TRUE(child.passed());
}

TEST_P(IpcRefusalTest, AHandleOfThisProcessIsRefused) {
  const MemoryPool pool = make_pool(GetParam());
  EXPECT_THAT(error_of<InvalidArgument>([&] { import_pool(GetParam(), pool.allocation_handle()); }),
              HasSubstr("was made by this very process: use the memory resource itself"));
}

TEST_P(IpcRefusalTest, ADescriptorOfThisProcessIsRefused) {
  const MemoryPool pool = make_pool(GetParam());
  const Buffer buffer = filled(pool, 7);
  EXPECT_THAT(error_of<InvalidArgument>([&] { Buffer::from_ipc_descriptor(pool, buffer.ipc_descriptor(), stream); }),
              HasSubstr("it was made by this very process: use the buffer itself"));
}

TEST_P(IpcRefusalTest, AClosedHandleIsRefused) {
  IPCAllocationHandle handle = make_pool(GetParam()).allocation_handle();
  handle.close();
  EXPECT_THAT(error_of<InvalidArgument>([&] { import_pool(GetParam(), handle); }), HasSubstr("is closed"));
}

TEST_P(IpcRefusalTest, AClosedPoolGivesNoHandle) {
  MemoryPool pool = make_pool(GetParam());
  pool.close();
  EXPECT_THAT(error_of<InvalidArgument>([&] { pool.allocation_handle(); }), HasSubstr("is closed"));
}

TEST_P(IpcRefusalTest, FilesThatAreNoPoolAreRefused) {
  try {  // what the driver opens once
    import_pool(GetParam(), IPCAllocationHandle::adopt(open("/dev/null", O_RDWR | O_CLOEXEC)));
  } catch (const Error&) {
  }
  const DescriptorsAreClosed check;
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const int memory = memfd_create("something else", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(memory, 1 << 22), 0);
  for (const int file : {ends[0], ends[1], memory, open("/dev/null", O_RDWR | O_CLOEXEC)}) {
    const auto handle = IPCAllocationHandle::adopt(file);
    EXPECT_THAT(error_of<DriverError>([&] { import_pool(GetParam(), handle); }),
                AllOf(HasSubstr("importing a pool of "), HasSubstr("by file descriptor " + std::to_string(file)),
                      HasSubstr("cuMemPoolImportFromShareableHandle")));
  }
}

class IpcExportTest : public ApiTest {
 protected:
  Stream stream = device.create_stream();
};

TEST_F(IpcExportTest, AFileDescriptorThatIsNotOpenIsRefused) {
  for (const int number : {-1, 1 << 20}) {
    EXPECT_THAT(error_of<InvalidArgument>([&] { DeviceMemoryResource::from_allocation_handle(device, number); }),
                AllOf(HasSubstr("can't be that of a memory pool"), HasSubstr("Bad file descriptor")));
    EXPECT_THAT(error_of<InvalidArgument>([&] { PinnedMemoryResource::from_allocation_handle(number); }),
                HasSubstr("Bad file descriptor"));
  }
}

TEST_F(IpcExportTest, ADefaultPoolIsNotShared) {
  const DeviceMemoryResource pool(device);
  EXPECT_FALSE(pool.is_ipc_enabled());
  EXPECT_FALSE(pool.is_mapped());
  EXPECT_EQ(pool.uuid(), std::nullopt);
  EXPECT_THAT(error_of<InvalidArgument>([&] { pool.allocation_handle(); }),
              AllOf(HasSubstr("memory of device 0"), HasSubstr("make one with {.ipc_enabled = true}")));
}

TEST_F(IpcExportTest, APoolOfItsOwnIsSharedOnlyWhenMadeForIt) {
  const DeviceMemoryResource pool(device, {.max_size = 1 << 25});
  const Buffer buffer = pool.allocate(64, stream);
  EXPECT_THAT(error_of<InvalidArgument>([&] { buffer.ipc_descriptor(); }), HasSubstr("{.ipc_enabled = true}"));
}

TEST_F(IpcExportTest, WrappedMemoryIsNotShared) {
  const Buffer data = device.allocate(64, stream);
  const Buffer wrapped = Buffer::from_handle(data.handle(), data.size());
  EXPECT_THAT(error_of<InvalidArgument>([&] { wrapped.ipc_descriptor(); }),
              HasSubstr("its memory is not from a memory pool"));
}

TEST_F(IpcExportTest, AClosedBufferIsNotShared) {
  Buffer buffer = device.allocate(64, stream);
  buffer.close();
  EXPECT_THAT(error_of<InvalidArgument>([&] { buffer.ipc_descriptor(); }), HasSubstr("this buffer is closed"));
}

TEST_F(IpcExportTest, ABufferWithoutMemoryIsNotShared) {
  SKIP_UNLESS_SHARED(PoolKind::device);
  const Buffer empty = make_pool(PoolKind::device).allocate(0, stream);
  EXPECT_THAT(error_of<InvalidArgument>([&] { empty.ipc_descriptor(); }), HasSubstr("it has no memory"));
}

}  // namespace
}  // namespace cuprum::tests
