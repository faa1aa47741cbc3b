#include <atomic>
#include <chrono>
#include <cuprum/driver.hpp>
#include <sstream>
#include <thread>
#include <unordered_set>

#include "api/fixture.hpp"
#include "api/gate.hpp"

namespace cuprum::tests {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;

class BufferTest : public ApiTest {
 protected:
  Stream stream = device.create_stream();
};

TEST_F(BufferTest, CopiesHostToDeviceToDeviceToHost) {
  const std::vector<float> values = numbers(10000);
  Buffer first = upload(values, stream);
  Buffer second = device.allocate(first.size(), stream);
  second.copy_from(first, stream);
  EXPECT_EQ(download<float>(second, stream), values);
}

TEST_F(BufferTest, CopiesThroughPinnedMemory) {
  PinnedMemoryResource pinned;
  Buffer host = pinned.allocate(4096, stream);
  std::span<int> values = host.as_span<int>();
  std::iota(values.begin(), values.end(), 5);
  Buffer data = device.allocate(4096, stream);
  data.copy_from(host, stream);
  Buffer back = pinned.allocate(4096, stream);
  EXPECT_EQ(data.copy_to(back, stream), back);
  stream.sync();
  EXPECT_TRUE(std::ranges::equal(back.as_span<int>(), values));
}

TEST_F(BufferTest, CopyToWithoutDestinationMakesOne) {
  Buffer data = upload(numbers(100), stream);
  Buffer copy = data.copy_to(stream);
  EXPECT_NE(copy.handle(), data.handle());
  EXPECT_EQ(copy.memory_resource(), data.memory_resource());
  EXPECT_EQ(download<float>(copy, stream), numbers(100));
}

TEST_F(BufferTest, FillsWithPatternsOfOneTwoAndFourBytes) {
  Buffer buffer = device.allocate(64, stream);
  buffer.fill<std::uint8_t>(0xab, stream);
  EXPECT_THAT(download<std::uint8_t>(buffer, stream), Each(0xab));
  buffer.fill<std::int16_t>(-2, stream);
  EXPECT_THAT(download<std::int16_t>(buffer, stream), Each(-2));
  buffer.fill<float>(1.5f, stream);
  EXPECT_THAT(download<float>(buffer, stream), Each(1.5f));
}

TEST_F(BufferTest, FillRefusesAValueThatDoesNotDivideTheSize) {
  Buffer buffer = device.allocate(10, stream);
  EXPECT_THAT(error_of<InvalidArgument>([&] { buffer.fill<int>(1, stream); }),
              AllOf(HasSubstr("10 bytes are not a multiple of the value's 4"), HasSubstr("std::uint8_t")));
}

TEST_F(BufferTest, RefusesACopyLargerThanTheBuffer) {
  Buffer small = device.allocate(1024, stream);
  Buffer large = device.allocate(4096, stream);
  EXPECT_THAT(error_of<InvalidArgument>([&] { small.copy_from(large, stream); }),
              HasSubstr("copy of 4096 bytes to a destination of 1024 bytes, which is too small"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { large.copy_to(small, stream); }), HasSubstr("too small"));
  std::vector<float> values(1024);
  EXPECT_THAT(error_of<InvalidArgument>([&] { small.copy_from(std::span(values), stream); }), HasSubstr("too small"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { small.copy_to(std::span(values), stream); }),
              HasSubstr("copy of 1024 bytes to a destination of 4096 bytes: the sizes must be equal"));
}

TEST_F(BufferTest, AsSpanRefusesDeviceMemory) {
  Buffer buffer = device.allocate(64, stream);
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)buffer.as_span<float>(); }),
              AllOf(HasSubstr("the host can't access a buffer of 64 bytes"), HasSubstr("PinnedMemoryResource")));
}

TEST_F(BufferTest, AsSpanRefusesASizeThatElementsDoNotFill) {
  Buffer buffer = PinnedMemoryResource().allocate(10, stream);
  EXPECT_EQ(buffer.as_span<char>().size(), 10u);
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)buffer.as_span<int>(); }),
              HasSubstr("10 bytes are not a multiple of the element's 4"));
}

TEST_F(BufferTest, AsSpanWaitsForMemoryThatIsStillInUse) {
  // Pinned memory that was freed in stream order can come back before the stream has got there.
  PinnedMemoryResource pinned;
  Buffer target = device.allocate(sizeof(int), stream);
  Buffer first = pinned.allocate(sizeof(int), stream);
  first.as_span<int>()[0] = 1;
  Gate gate(stream);
  target.copy_from(first, stream);
  std::jthread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    gate.open();
  });
  const DevicePointer address = first.handle();
  first.close();
  Buffer second = pinned.allocate(sizeof(int), stream);
  second.as_span<int>()[0] = 2;
  if (second.handle() != address) GTEST_SKIP() << "the driver did not use the memory again, so this shows nothing";
  EXPECT_EQ(download<int>(target, stream).front(), 1);
}

TEST_F(BufferTest, AsSpanWaitsForTheAllocationAlsoWhenItIsFreedOnAnotherStream) {
  const Stream other = device.create_stream();
  const PinnedMemoryResource pinned;
  for (const bool is_part : {false, true}) {
    std::atomic<bool> is_reached = false;
    stream.host_call([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      is_reached = true;
    });
    Buffer buffer = pinned.allocate(2 * sizeof(int), stream);
    const Buffer used = is_part ? buffer.slice(4, 4) : buffer;
    buffer.set_deallocation_stream(other);
    used.as_span<int>()[0] = 1;
    EXPECT_TRUE(is_reached);
  }
}

TEST_F(BufferTest, OfSizeZeroIsABuffer) {
  Buffer empty = device.allocate(0, stream);
  EXPECT_EQ(empty.size(), 0u);
  empty.fill<int>(1, stream);
  empty.copy_from(device.allocate(0, stream), stream);
  EXPECT_TRUE(PinnedMemoryResource().allocate(0, stream).as_span<int>().empty());
}

TEST_F(BufferTest, FillsWithTheBytesOfASpan) {
  Buffer buffer = device.allocate(64, stream);
  const std::vector<std::uint8_t> bytes = {1, 2, 3, 4};
  buffer.fill(std::span(bytes).first(1), stream);
  EXPECT_THAT(download<std::uint8_t>(buffer, stream), Each(1));
  buffer.fill(std::span(bytes).first(2), stream);
  EXPECT_EQ(download<std::uint8_t>(buffer, stream)[63], 2);
  buffer.fill(std::as_bytes(std::span(bytes)), stream);
  EXPECT_THAT(download<std::uint32_t>(buffer, stream), Each(0x04030201u));
  const short pair[] = {5, 6};
  buffer.fill(std::span(pair), stream);
  EXPECT_EQ(download<short>(buffer, stream)[31], 6);
}

TEST_F(BufferTest, FillRefusesSpansOfOtherLengths) {
  Buffer buffer = device.allocate(64, stream);
  const std::vector<std::uint8_t> bytes(8);
  for (std::size_t length : {0u, 3u, 5u, 8u}) {
    EXPECT_THAT(error_of<InvalidArgument>([&] { buffer.fill(std::span(bytes).first(length), stream); }),
                HasSubstr("it must have 1, 2 or 4"));
  }
}

TEST_F(BufferTest, AreEqualByAddressAndSize) {
  Buffer buffer = device.allocate(64, stream);
  EXPECT_EQ(buffer, Buffer::from_handle(buffer.handle(), 64));
  EXPECT_NE(buffer, Buffer::from_handle(buffer.handle(), 32));
  EXPECT_NE(buffer, device.allocate(64, stream));
}

TEST_F(BufferTest, CanBeHashed) {
  Buffer first = device.allocate(64, stream);
  Buffer second = device.allocate(64, stream);
  const std::unordered_set<Buffer> buffers = {first, second, Buffer::from_handle(first.handle(), 64)};
  EXPECT_EQ(buffers.size(), 2u);
  first.close();
  EXPECT_EQ(std::hash<Buffer>()(first), std::hash<Buffer>()(Buffer()));
}

TEST_F(BufferTest, IsFreedOnAnotherStreamIfAsked) {
  Stream other = device.create_stream();
  Buffer result = device.allocate(64, other);
  Buffer buffer = device.allocate(64, stream);
  buffer.fill<int>(3, stream);
  stream.sync();
  Gate gate(other);
  result.copy_from(buffer, other);
  buffer.set_deallocation_stream(other);
  buffer.close();
  stream.sync();  // the memory is still in use, so that it must not be given to this stream yet
  Buffer next = device.allocate(64, stream);
  next.fill<int>(4, stream);
  gate.open();
  EXPECT_THAT(download<int>(result, other), Each(3));
}

TEST_F(BufferTest, TheDeallocationStreamOfAClosedBufferCanNotBeSet) {
  Buffer buffer = device.allocate(64, stream);
  buffer.close();
  EXPECT_THAT(error_of<InvalidArgument>([&] { buffer.set_deallocation_stream(stream); }),
              HasSubstr("this buffer is closed"));
}

TEST_F(BufferTest, CloseRefusesAClosedStreamAndStaysOpen) {
  Stream closed = device.create_stream();
  closed.close();
  Buffer buffer = device.allocate(64, stream);
  EXPECT_THAT(error_of<InvalidArgument>([&] { buffer.close(closed); }), HasSubstr("this stream is closed"));
  EXPECT_EQ(buffer.size(), 64u);
}

TEST_F(BufferTest, IsPrinted) {
  Buffer buffer = Buffer::from_handle(0x1000, 64);
  std::ostringstream out;
  out << buffer;
  EXPECT_EQ(out.str(), "a buffer of 64 bytes at 0x1000");
}

TEST_F(BufferTest, WrappedDeviceMemoryKnowsWhatItIs) {
  Buffer data = device.allocate(64, stream);
  Buffer wrapped = Buffer::from_handle(data.handle(), 64);
  EXPECT_TRUE(wrapped.is_device_accessible());
  EXPECT_FALSE(wrapped.is_host_accessible());
  EXPECT_FALSE(wrapped.is_managed());
  EXPECT_FALSE(wrapped.is_mapped());
  EXPECT_EQ(wrapped.device_id(), 0);
  EXPECT_EQ(wrapped.memory_resource(), std::nullopt);
}

TEST_F(BufferTest, WrappedHostMemoryKnowsWhatItIs) {
  std::vector<int> values(16);
  Buffer wrapped = Buffer::from_handle(reinterpret_cast<DevicePointer>(values.data()), 64);
  EXPECT_FALSE(wrapped.is_device_accessible());
  EXPECT_TRUE(wrapped.is_host_accessible());
  EXPECT_FALSE(wrapped.is_managed());
  EXPECT_EQ(wrapped.device_id(), std::nullopt);
}

TEST_F(BufferTest, WrappedPinnedMemoryKnowsWhatItIs) {
  Buffer pinned = LegacyPinnedMemoryResource().allocate(64, stream);
  Buffer wrapped = Buffer::from_handle(pinned.handle(), 64);
  EXPECT_TRUE(wrapped.is_device_accessible());
  EXPECT_TRUE(wrapped.is_host_accessible());
  EXPECT_FALSE(wrapped.is_managed());
}

TEST_F(BufferTest, WrappedRegisteredMemoryKnowsWhatItIs) {
  alignas(4096) static char values[4096];
  driver::call<&driver::Api::cuMemHostRegister>(static_cast<void*>(values), sizeof values, 0u);
  Buffer wrapped = Buffer::from_handle(reinterpret_cast<DevicePointer>(values), sizeof values);
  EXPECT_TRUE(wrapped.is_device_accessible());
  EXPECT_TRUE(wrapped.is_host_accessible());
  driver::call<&driver::Api::cuMemHostUnregister>(static_cast<void*>(values));
}

TEST_F(BufferTest, WrappedManagedMemoryKnowsWhatItIs) {
  CUdeviceptr pointer = 0;
  driver::call<&driver::Api::cuMemAllocManaged>(&pointer, std::size_t{64}, static_cast<unsigned>(CU_MEM_ATTACH_GLOBAL));
  Buffer wrapped = Buffer::from_handle(pointer, 64);
  EXPECT_TRUE(wrapped.is_device_accessible());
  EXPECT_TRUE(wrapped.is_host_accessible());
  EXPECT_TRUE(wrapped.is_managed());
  driver::call<&driver::Api::cuMemFree>(pointer);
}

TEST_F(BufferTest, WithoutOwnerIsNotFreed) {
  Buffer data = upload(numbers(16), stream);
  {
    Buffer wrapped = Buffer::from_handle(data.handle(), data.size());
  }
  EXPECT_EQ(download<float>(data, stream), numbers(16));
}

TEST_F(BufferTest, GivesItsOwner) {
  auto owner = std::make_shared<int>(5);
  Buffer wrapped = Buffer::from_handle(0, 0, owner);
  EXPECT_EQ(wrapped.owner(), owner);
}

TEST_F(BufferTest, CopiesWithinHostMemory) {
  std::vector<int> from(16, 9);
  std::vector<int> to(16, 0);
  Buffer source = Buffer::from_handle(reinterpret_cast<DevicePointer>(from.data()), 64);
  Buffer destination = Buffer::from_handle(reinterpret_cast<DevicePointer>(to.data()), 64);
  destination.copy_from(source, stream);
  stream.sync();
  EXPECT_EQ(to, from);
}

TEST_F(BufferTest, CloseClosesAllCopies) {
  Buffer buffer = device.allocate(64, stream);
  Buffer copy = buffer;
  buffer.close();
  EXPECT_EQ(live_objects().buffers, 0u);
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)copy.size(); }), HasSubstr("this buffer is closed"));
  copy.close(stream);
}

TEST_F(BufferTest, AClosedBufferIsRefusedEverywhere) {
  Kernel scale = compile(scale_source, "scale");
  Buffer open = device.allocate(64, stream);
  Buffer closed = device.allocate(64, stream);
  closed.close(stream);
  EXPECT_THROW(closed.size(), InvalidArgument);
  EXPECT_THROW(closed.fill<int>(1, stream), InvalidArgument);
  EXPECT_THROW(closed.copy_from(open, stream), InvalidArgument);
  EXPECT_THROW(open.copy_from(closed, stream), InvalidArgument);
  EXPECT_THROW(open.copy_to(closed, stream), InvalidArgument);
  EXPECT_THROW((void)closed.as_span<int>(), InvalidArgument);
  EXPECT_THROW(launch(stream, {.grid = 1, .block = 1}, scale, closed, 1.0f, std::size_t{1}), InvalidArgument);
}

TEST_F(BufferTest, FromHandleKeepsTheOwner) {
  Buffer data = upload(numbers(16), stream);
  auto owner = std::make_shared<int>(0);
  Buffer wrapped = Buffer::from_handle(data.handle(), data.size(), owner);
  EXPECT_EQ(owner.use_count(), 2);
  EXPECT_EQ(wrapped.device_id(), 0);
  EXPECT_FALSE(wrapped.is_host_accessible());
  EXPECT_EQ(download<float>(wrapped, stream), numbers(16));
  EXPECT_THAT(error_of<InvalidArgument>([&] { wrapped.copy_to(stream); }), HasSubstr("no memory resource"));
  wrapped.close();
  EXPECT_EQ(owner.use_count(), 1);
}

TEST_F(BufferTest, FromHandleOfHostMemoryCanBeViewed) {
  std::vector<int> values = {1, 2, 3};
  Buffer wrapped = Buffer::from_handle(reinterpret_cast<DevicePointer>(values.data()), 3 * sizeof(int));
  EXPECT_TRUE(wrapped.is_host_accessible());
  EXPECT_EQ(wrapped.as_span<int>()[2], 3);
}

}  // namespace
}  // namespace cuprum::tests
