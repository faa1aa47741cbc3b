// Parts of buffers, and memory by types and ranges.
#include <array>
#include <list>

#include "api/fixture.hpp"

namespace cuprum::tests {
namespace {

using ::testing::HasSubstr;

class BufferPartsTest : public ApiTest {
 protected:
  Stream stream = device.create_stream();
  Buffer whole = upload(std::vector<int>{1, 2, 3, 4, 5, 6}, stream);
};

TEST_F(BufferPartsTest, TellWhetherOthersHoldTheMemory) {
  Stream queue = device.create_stream();
  Buffer buffer = device.allocate(64, queue);
  EXPECT_FALSE(buffer.is_shared());
  {
    const Buffer copy = buffer;
    EXPECT_TRUE(buffer.is_shared());
  }
  EXPECT_FALSE(buffer.is_shared());
  {
    const Buffer part = buffer.slice(0, 8);
    EXPECT_TRUE(buffer.is_shared());
    EXPECT_FALSE(part.is_shared());
  }
  graph::GraphDefinition definition;
  definition.memset(buffer, std::vector<std::byte>(1), 64);
  EXPECT_TRUE(buffer.is_shared());
  EXPECT_FALSE(Buffer().is_shared());
}

TEST_F(BufferPartsTest, AreTheSameMemory) {
  const Buffer middle = whole.slice(8, 8);
  EXPECT_EQ(middle.handle(), whole.handle() + 8);
  EXPECT_EQ(middle.size(), 8u);
  middle.fill<int>(9, stream);
  EXPECT_EQ(download<int>(whole, stream), (std::vector<int>{1, 2, 9, 9, 5, 6}));
  EXPECT_EQ(download<int>(middle, stream), (std::vector<int>{9, 9}));
}

TEST_F(BufferPartsTest, AreCopied) {
  whole.slice(0, 8).copy_from(whole.slice(16, 8), stream);
  EXPECT_EQ(download<int>(whole, stream), (std::vector<int>{5, 6, 3, 4, 5, 6}));
  const Buffer copy = whole.slice(4, 8).copy_to(stream);
  EXPECT_EQ(download<int>(copy, stream), (std::vector<int>{6, 3}));
}

TEST_F(BufferPartsTest, HavePartsThemselves) {
  EXPECT_EQ(download<int>(whole.slice(4, 16).slice(4, 4), stream), (std::vector<int>{3}));
}

TEST_F(BufferPartsTest, KeepTheMemory) {
  const DevicePointer address = whole.handle();
  std::optional<Buffer> part = whole.slice(4, 4);
  whole = Buffer();
  EXPECT_EQ(part->handle(), address + 4);
  EXPECT_EQ(download<int>(*part, stream), (std::vector<int>{2}));
  part.reset();
  EXPECT_EQ(live_objects().buffers, 0u);
}

TEST_F(BufferPartsTest, HaveTheFactsOfTheWhole) {
  const Buffer part = whole.slice(4, 4);
  EXPECT_EQ(part.memory_resource(), whole.memory_resource());
  EXPECT_EQ(part.device_id(), whole.device_id());
  EXPECT_EQ(part.is_host_accessible(), whole.is_host_accessible());
  EXPECT_EQ(part.is_mapped(), whole.is_mapped());
}

TEST_F(BufferPartsTest, MayBeEmpty) {
  EXPECT_EQ(whole.slice(24, 0).size(), 0u);
  EXPECT_EQ(whole.slice(0, 0).size(), 0u);
}

TEST_F(BufferPartsTest, StayInside) {
  EXPECT_THAT(error_of<InvalidArgument>([&] { whole.slice(20, 8); }),
              HasSubstr("slice: 8 bytes from 20 on are not inside the buffer's 24"));
  EXPECT_THROW(whole.slice(25, 0), InvalidArgument);
  EXPECT_THROW(whole.slice(8, static_cast<std::size_t>(-4)), InvalidArgument);
}

TEST_F(BufferPartsTest, OfHostMemoryAreSeen) {
  const Buffer host = PinnedMemoryResource().allocate<int>(4, stream);
  for (int& value : host.as_span<int>()) value = 7;
  host.slice(4, 8).as_span<int>()[1] = 8;
  EXPECT_EQ(host.as_span<int>()[2], 8);
}

TEST_F(BufferPartsTest, DoNotGrow) {
  const VirtualMemoryResource resource(device);
  const Buffer buffer = resource.allocate(4096, stream);
  EXPECT_THAT(error_of<InvalidArgument>([&] { resource.modify_allocation(buffer.slice(0, 16), 1 << 20); }),
              HasSubstr("is a part"));
}

using RangesTest = ApiTest;

TEST_F(RangesTest, AllocatedByTypeHaveItsSize) {
  const Stream stream = device.create_stream();
  EXPECT_EQ(device.allocate<double>(3, stream).size(), 24u);
  EXPECT_EQ(device.memory_resource().allocate<char>(3, stream).size(), 3u);
  EXPECT_THAT(error_of<InvalidArgument>([&] { device.allocate<double>(static_cast<std::size_t>(-1) / 4, stream); }),
              HasSubstr("objects of 8 bytes: that is more than there are addresses"));
}

TEST_F(RangesTest, AreCopiedFromAndTo) {
  const Stream stream = device.create_stream();
  const Buffer buffer = device.allocate<int>(3, stream);
  const std::vector<int> values = {1, 2, 3};
  std::array<int, 3> back{};
  buffer.copy_from(values, stream);
  buffer.copy_to(back, stream);
  stream.sync();
  EXPECT_EQ(back, (std::array<int, 3>{1, 2, 3}));
  const int plain[] = {4, 5, 6};
  std::vector<int> vector(3);
  buffer.copy_from(plain, stream);
  buffer.copy_to(vector, stream);
  stream.sync();
  EXPECT_EQ(vector, (std::vector<int>{4, 5, 6}));
  buffer.copy_from(std::string("twelve bytes"), stream);
  EXPECT_THROW(buffer.copy_from(std::vector<int>(2), stream), InvalidArgument);
}

template <typename Range>
concept CanBeCopiedFrom =
    requires(const Buffer& buffer, const Range& range, const Stream& stream) { buffer.copy_from(range, stream); };
template <typename Range>
concept CanBeCopiedTo =
    requires(const Buffer& buffer, Range& range, const Stream& stream) { buffer.copy_to(range, stream); };
static_assert(CanBeCopiedFrom<std::vector<int>> && CanBeCopiedTo<std::vector<int>>);
static_assert(!CanBeCopiedFrom<std::list<int>> && !CanBeCopiedTo<const std::vector<int>>);
static_assert(!CanBeCopiedFrom<std::vector<std::string>>, "their bytes mean nothing elsewhere");

template <typename T>
concept CanBeFilledWith =
    requires(const Buffer& buffer, const T& value, const Stream& stream) { buffer.fill(value, stream); };
static_assert(!CanBeFilledWith<int> && !CanBeFilledWith<std::uint8_t>, "fill() is told the type");

}  // namespace
}  // namespace cuprum::tests
