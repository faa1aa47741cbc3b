#include "api/fixture.hpp"
#include "api/gate.hpp"

namespace cuprum::tests {
namespace {

using ::testing::HasSubstr;

class StreamTest : public ApiTest {
 protected:
  Stream stream = device.create_stream();
};

TEST_F(StreamTest, IsNonblockingUnlessAskedOtherwise) {
  EXPECT_TRUE(stream.is_nonblocking());
  EXPECT_FALSE(device.create_stream({.nonblocking = false}).is_nonblocking());
}

TEST_F(StreamTest, HasThePriorityAskedFor) {
  EXPECT_EQ(stream.priority(), 0);
  if (device.properties().stream_priorities_supported()) {
    EXPECT_EQ(device.create_stream({.priority = -1}).priority(), -1);
  }
}

TEST_F(StreamTest, RefusesAPriorityThatTheDeviceDoesNotHave) {
  EXPECT_THAT(error_of<InvalidArgument>([&] { device.create_stream({.priority = 1000}); }),
              HasSubstr("stream priority 1000: device 0 has priorities from "));
}

TEST_F(StreamTest, KnowsItsDevice) { EXPECT_EQ(stream.device(), device); }

TEST_F(StreamTest, RunsWorkInOrder) {
  Kernel scale = compile(scale_source, "scale");
  constexpr std::size_t n = 1000;
  Buffer data = upload(numbers(n), stream);
  for (int i = 0; i < 10; ++i) launch(stream, {.grid = ceil_div(n, 128), .block = 128}, scale, data, 2.0f, n);
  const std::vector<float> result = download<float>(data, stream);
  EXPECT_EQ(result[3], 3.0f * 1024);
  EXPECT_EQ(result[999], 999.0f * 1024);
}

TEST_F(StreamTest, WaitMakesLaterWorkSeeTheOtherStream) {
  Stream other = device.create_stream();
  Buffer data = device.allocate(sizeof(int), other);
  Buffer copy = device.allocate(sizeof(int), stream);
  data.fill(0, other);
  Gate gate(other);
  data.fill(7, other);
  stream.wait(other);
  copy.copy_from(data, stream);
  gate.open();
  EXPECT_EQ(download<int>(copy, stream).front(), 7);
}

TEST_F(StreamTest, WaitMakesLaterWorkSeeTheEvent) {
  Stream other = device.create_stream();
  Buffer data = device.allocate(sizeof(int), other);
  Buffer copy = device.allocate(sizeof(int), stream);
  data.fill(0, other);
  Gate gate(other);
  data.fill(7, other);
  Event filled = other.record();
  stream.wait(filled);
  filled.close();
  copy.copy_from(data, stream);
  gate.open();
  EXPECT_EQ(download<int>(copy, stream).front(), 7);
}

TEST_F(StreamTest, StreamsThatDoNotWaitDoNotBlockEachOther) {
  Stream other = device.create_stream();
  Buffer data = device.allocate(sizeof(int), stream);
  Gate gate(other);
  data.fill(7, stream);
  EXPECT_EQ(download<int>(data, stream).front(), 7);
}

TEST_F(StreamTest, CopiesAreTheSameStream) {
  Stream copy = stream;
  EXPECT_EQ(copy, stream);
  EXPECT_EQ(copy.handle(), stream.handle());
  EXPECT_EQ(live_objects().streams, 1u);
}

TEST_F(StreamTest, CloseClosesAllCopies) {
  Stream copy = stream;
  stream.close();
  EXPECT_THAT(error_of<InvalidArgument>([&] { copy.sync(); }), HasSubstr("this stream is closed"));
  EXPECT_EQ(live_objects().streams, 0u);
  stream.close();
}

TEST_F(StreamTest, AClosedStreamIsRefusedEverywhere) {
  Buffer buffer = device.allocate(16, stream);
  Event event = device.create_event();
  Kernel scale = compile(scale_source, "scale");
  Stream open = device.create_stream();
  stream.close();
  EXPECT_THROW(stream.wait(event), InvalidArgument);
  EXPECT_THROW(stream.wait(open), InvalidArgument);
  EXPECT_THROW(open.wait(stream), InvalidArgument);
  EXPECT_THROW(stream.record(), InvalidArgument);
  EXPECT_THROW(stream.handle(), InvalidArgument);
  EXPECT_THROW(device.allocate(16, stream), InvalidArgument);
  EXPECT_THROW(buffer.fill(1, stream), InvalidArgument);
  EXPECT_THROW(buffer.copy_to(stream), InvalidArgument);
  EXPECT_THROW(launch(stream, {}, scale, buffer, 1.0f, std::size_t{1}), InvalidArgument);
}

TEST_F(StreamTest, ABufferKeepsTheStreamItIsFreedOn) {
  Buffer buffer = device.allocate(1 << 20, stream);
  stream.close();
  EXPECT_EQ(live_objects().streams, 1u);
  buffer.close();
  EXPECT_EQ(live_objects().streams, 0u);
}

TEST_F(StreamTest, FromHandleDoesNotOwn) {
  {
    Stream wrapped = Stream::from_handle(stream.handle());
    EXPECT_EQ(wrapped, stream);
    EXPECT_EQ(wrapped.device(), device);
    wrapped.close();
  }
  stream.sync();
}

TEST_F(StreamTest, PrintsWhatItIs) { EXPECT_THAT(::testing::PrintToString(stream), HasSubstr(" on device 0")); }

}  // namespace
}  // namespace cuprum::tests
