#include <cuprum/driver.hpp>
#include <unordered_map>

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

TEST_F(StreamTest, HasTheLowestPriorityUnlessAskedOtherwise) {
  int least = 0;
  int greatest = 0;
  driver::call<&driver::Api::cuCtxGetStreamPriorityRange>(&least, &greatest);
  EXPECT_EQ(stream.priority(), least);
  EXPECT_EQ(device.create_stream({.priority = greatest}).priority(), greatest);
  EXPECT_THAT(error_of<InvalidArgument>([&] { device.create_stream({.priority = greatest - 1}); }),
              HasSubstr("has priorities from " + std::to_string(greatest) + " (first) to " + std::to_string(least)));
  EXPECT_THROW(device.create_stream({.priority = least + 1}), InvalidArgument);
}

TEST_F(StreamTest, HasANumberOfItsOwn) {
  Stream other = device.create_stream();
  EXPECT_NE(stream.id(), other.id());
  EXPECT_EQ(stream.id(), Stream::from_handle(stream.handle()).id());
  EXPECT_NE(Stream::legacy_default().id(), Stream::per_thread_default().id());
}

TEST_F(StreamTest, KnowsItsContext) {
  EXPECT_EQ(stream.context(), device.context());
  EXPECT_EQ(Stream::from_handle(stream.handle()).context(), stream.context());
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
  data.fill<int>(0, other);
  Gate gate(other);
  data.fill<int>(7, other);
  stream.wait(other);
  copy.copy_from(data, stream);
  gate.open();
  EXPECT_EQ(download<int>(copy, stream).front(), 7);
}

TEST_F(StreamTest, WaitMakesLaterWorkSeeTheEvent) {
  Stream other = device.create_stream();
  Buffer data = device.allocate(sizeof(int), other);
  Buffer copy = device.allocate(sizeof(int), stream);
  data.fill<int>(0, other);
  Gate gate(other);
  data.fill<int>(7, other);
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
  data.fill<int>(7, stream);
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
  EXPECT_EQ(stream.handle(), nullptr);
  EXPECT_THROW(stream.context(), InvalidArgument);
  EXPECT_THROW(stream.device(), InvalidArgument);
  EXPECT_THROW(stream.id(), InvalidArgument);
  EXPECT_THROW(stream.priority(), InvalidArgument);
  EXPECT_THROW(stream.is_nonblocking(), InvalidArgument);
  EXPECT_THROW(stream.is_done(), InvalidArgument);
  EXPECT_THROW(stream.host_call([] {}), InvalidArgument);
  EXPECT_THROW(device.allocate(16, stream), InvalidArgument);
  EXPECT_THROW(buffer.fill<int>(1, stream), InvalidArgument);
  EXPECT_THROW(buffer.copy_to(stream), InvalidArgument);
  EXPECT_THROW(launch(stream, {.grid = 1, .block = 1}, scale, buffer, 1.0f, std::size_t{1}), InvalidArgument);
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

TEST_F(StreamTest, FromHandleAsksTheDriverForWhatItIs) {
  Stream urgent = device.create_stream({.nonblocking = false, .priority = -1});
  Stream wrapped = Stream::from_handle(urgent.handle());
  EXPECT_FALSE(wrapped.is_nonblocking());
  EXPECT_EQ(wrapped.priority(), urgent.priority());
}

TEST_F(StreamTest, FromHandleKeepsTheOwner) {
  auto owner = std::make_shared<int>(0);
  Stream wrapped = Stream::from_handle(stream.handle(), owner);
  Buffer buffer = device.allocate(16, wrapped);
  EXPECT_EQ(owner.use_count(), 2);
  wrapped.close();
  EXPECT_EQ(owner.use_count(), 2) << "the buffer is yet to be freed on it";
  buffer.close();
  EXPECT_EQ(owner.use_count(), 1);
}

TEST_F(StreamTest, EqualityIsThatOfTheHandle) {
  Stream other = device.create_stream();
  Stream wrapped = Stream::from_handle(stream.handle());
  EXPECT_EQ(stream, wrapped);
  EXPECT_EQ(wrapped, stream);
  EXPECT_NE(stream, other);
  EXPECT_EQ(std::hash<Stream>()(stream), std::hash<Stream>()(wrapped));
  EXPECT_NE(std::hash<Stream>()(stream), std::hash<Stream>()(other));
}

TEST_F(StreamTest, CanBeAKey) {
  std::unordered_map<Stream, int> values = {{stream, 1}};
  values[Stream::from_handle(stream.handle())] = 2;
  values[device.create_stream()] = 3;
  EXPECT_EQ(values.size(), 2u);
  EXPECT_EQ(values.at(stream), 2);
}

TEST_F(StreamTest, ClosedStreamsCanBeComparedAndHashed) {
  Stream other = device.create_stream();
  const Stream copy = stream;
  const Stream wrapped = Stream::from_handle(stream.handle());
  const std::size_t hash = std::hash<Stream>()(stream);
  stream.close();
  EXPECT_EQ(stream, copy);
  EXPECT_NE(stream, other);
  EXPECT_NE(stream, wrapped) << "which is not closed";
  EXPECT_EQ(std::hash<Stream>()(stream), hash);
  other.close();
  EXPECT_NE(stream, other);
  EXPECT_NE(stream, Stream());
}

TEST_F(StreamTest, PrintsWhatItIs) {
  EXPECT_THAT(::testing::PrintToString(stream), HasSubstr(" on device 0"));
  EXPECT_EQ(::testing::PrintToString(Stream::legacy_default()), "the legacy default stream");
  EXPECT_EQ(::testing::PrintToString(Stream::per_thread_default()), "the default stream of the thread");
  EXPECT_EQ(::testing::PrintToString(device.default_stream()), "the legacy default stream on device 0");
  stream.close();
  EXPECT_EQ(::testing::PrintToString(stream), "a closed stream");
}

}  // namespace
}  // namespace cuprum::tests
