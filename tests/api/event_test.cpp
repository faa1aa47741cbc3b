#include "api/fixture.hpp"
#include "api/gate.hpp"

namespace cuprum::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class EventTest : public ApiTest {
 protected:
  Event timed() { return device.create_event({.timing_enabled = true}); }
  Stream stream = device.create_stream();
};

TEST_F(EventTest, HasTheOptionsAskedFor) {
  EXPECT_FALSE(device.create_event().is_timing_enabled());
  EXPECT_FALSE(device.create_event().is_blocking_sync());
  EXPECT_TRUE(timed().is_timing_enabled());
  EXPECT_TRUE(device.create_event({.blocking_sync = true}).is_blocking_sync());
  EXPECT_EQ(timed().device(), device);
}

TEST_F(EventTest, IsDoneAfterSync) {
  Kernel spin = compile(spin_source, "spin");
  Buffer out = device.allocate(sizeof(unsigned), stream);
  launch(stream, {}, spin, out, 2'000'000u);
  Event event = stream.record();
  event.sync();
  EXPECT_TRUE(event.is_done());
}

TEST_F(EventTest, IsNotDoneWhileTheWorkBeforeItRuns) {
  Gate gate(stream);
  Event event = stream.record();
  EXPECT_FALSE(event.is_done());
  gate.open();
  event.sync();
  EXPECT_TRUE(event.is_done());
}

TEST_F(EventTest, DifferenceIsTheTimeBetween) {
  Kernel spin = compile(spin_source, "spin");
  Buffer out = device.allocate(sizeof(unsigned), stream);
  Event start = stream.record(timed());
  launch(stream, {}, spin, out, 2'000'000u);
  Event end = stream.record({.timing_enabled = true});
  end.sync();
  EXPECT_GT(end - start, 0.1f);  // two million dependent steps take more than 0.1 ms anywhere
}

TEST_F(EventTest, DifferenceSaysWhichEventHasNoTiming) {
  Event start = stream.record();
  Event end = stream.record({.timing_enabled = true});
  end.sync();
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)(end - start); }),
              AllOf(HasSubstr("the start event"), HasSubstr("timing_enabled = true")));
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)(start - end); }), HasSubstr("the end event"));
}

TEST_F(EventTest, DifferenceSaysWhichEventWasNotRecorded) {
  Event start = stream.record({.timing_enabled = true});
  start.sync();
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)(timed() - start); }),
              AllOf(HasSubstr("the end event"), HasSubstr("never recorded")));
}

TEST_F(EventTest, DifferenceSaysWhichEventIsNotDone) {
  Event start = stream.record({.timing_enabled = true});
  start.sync();
  Gate gate(stream);
  Event end = stream.record({.timing_enabled = true});
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)(end - start); }),
              AllOf(HasSubstr("the end event"), HasSubstr("not done yet")));
}

TEST_F(EventTest, AClosedEventIsRefused) {
  Event event = stream.record({.timing_enabled = true});
  Event copy = event;
  copy.close();
  EXPECT_THAT(error_of<InvalidArgument>([&] { event.sync(); }), HasSubstr("this event is closed"));
  EXPECT_THROW(stream.wait(event), InvalidArgument);
  EXPECT_THROW(stream.record(event), InvalidArgument);
  EXPECT_THROW((void)(event - event), InvalidArgument);
}

TEST_F(EventTest, FromHandleDoesNotOwn) {
  Event event = stream.record({.timing_enabled = true});
  {
    Event::from_handle(event.handle()).sync();
  }
  EXPECT_TRUE(event.is_done());
}

}  // namespace
}  // namespace cuprum::tests
