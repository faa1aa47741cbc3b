#include <chrono>
#include <thread>

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
  buffer.fill(std::uint8_t{0xab}, stream);
  EXPECT_THAT(download<std::uint8_t>(buffer, stream), Each(0xab));
  buffer.fill(std::int16_t{-2}, stream);
  EXPECT_THAT(download<std::int16_t>(buffer, stream), Each(-2));
  buffer.fill(1.5f, stream);
  EXPECT_THAT(download<float>(buffer, stream), Each(1.5f));
}

TEST_F(BufferTest, FillRefusesAValueThatDoesNotDivideTheSize) {
  Buffer buffer = device.allocate(10, stream);
  EXPECT_THAT(error_of<InvalidArgument>([&] { buffer.fill(1, stream); }),
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
  first.close();
  Buffer second = pinned.allocate(sizeof(int), stream);
  second.as_span<int>()[0] = 2;
  EXPECT_EQ(download<int>(target, stream).front(), 1);
}

TEST_F(BufferTest, OfSizeZeroIsABuffer) {
  Buffer empty = device.allocate(0, stream);
  EXPECT_EQ(empty.size(), 0u);
  empty.fill(1, stream);
  empty.copy_from(device.allocate(0, stream), stream);
  EXPECT_TRUE(PinnedMemoryResource().allocate(0, stream).as_span<int>().empty());
}

TEST_F(BufferTest, CloseClosesAllCopies) {
  Buffer buffer = device.allocate(64, stream);
  Buffer copy = buffer;
  buffer.close();
  EXPECT_EQ(live_objects().buffers, 0u);
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)copy.handle(); }), HasSubstr("this buffer is closed"));
  copy.close(stream);
}

TEST_F(BufferTest, AClosedBufferIsRefusedEverywhere) {
  Kernel scale = compile(scale_source, "scale");
  Buffer open = device.allocate(64, stream);
  Buffer closed = device.allocate(64, stream);
  closed.close(stream);
  EXPECT_THROW(closed.size(), InvalidArgument);
  EXPECT_THROW(closed.fill(1, stream), InvalidArgument);
  EXPECT_THROW(closed.copy_from(open, stream), InvalidArgument);
  EXPECT_THROW(open.copy_from(closed, stream), InvalidArgument);
  EXPECT_THROW(open.copy_to(closed, stream), InvalidArgument);
  EXPECT_THROW((void)closed.as_span<int>(), InvalidArgument);
  EXPECT_THROW(launch(stream, {}, scale, closed, 1.0f, std::size_t{1}), InvalidArgument);
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
