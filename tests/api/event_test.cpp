#include <unordered_set>

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
  launch(stream, {.grid = 1, .block = 1}, spin, out, 2'000'000u);
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
  launch(stream, {.grid = 1, .block = 1}, spin, out, 2'000'000u);
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

TEST_F(EventTest, DifferenceSaysWhichEventWasClosed) {
  Event start = stream.record({.timing_enabled = true});
  Event end = stream.record({.timing_enabled = true});
  end.sync();
  Event closed = stream.record({.timing_enabled = true});
  closed.close();
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)(end - closed); }),
              AllOf(HasSubstr("the start event (a closed event)"), HasSubstr("was closed")));
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)(closed - start); }), HasSubstr("the end event (a closed event)"));
}

TEST_F(EventTest, DifferenceSaysThatTheEventsAreOfDifferentContexts) {
  const Context own = device.create_context();
  Stream there = own.create_stream();
  Event start = stream.record({.timing_enabled = true});
  Event end = there.record({.timing_enabled = true});
  start.sync();
  end.sync();
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)(end - start); }),
              AllOf(HasSubstr("the end event"), HasSubstr("is of another context than the start event")));
}

TEST_F(EventTest, DifferenceOfAStartThatIsNotDoneSaysSo) {
  Gate gate(stream);
  Event start = stream.record({.timing_enabled = true});
  Event end = stream.record({.timing_enabled = true});
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)(end - start); }),
              AllOf(HasSubstr("the start event"), HasSubstr("not done yet: call sync() on it first")));
}

TEST_F(EventTest, DifferenceOfForeignEventsSaysWhichIsUnfit) {
  Event start = stream.record({.timing_enabled = true});
  Event end = stream.record({.timing_enabled = true});
  Event untimed = stream.record();
  stream.sync();
  const Event first = Event::from_handle(start.handle());
  const Event last = Event::from_handle(end.handle());
  EXPECT_GE(last - first, 0.0f);
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)(last - Event::from_handle(untimed.handle())); }),
              AllOf(HasSubstr("the start event"), HasSubstr("was never recorded, or made without timing")));
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)(Event::from_handle(untimed.handle()) - first); }),
              HasSubstr("the end event"));
}

TEST_F(EventTest, DifferenceToItselfIsNothing) {
  Event event = stream.record({.timing_enabled = true});
  event.sync();
  EXPECT_EQ(event - event, 0.0f);
}

TEST_F(EventTest, DifferenceToAnEarlierEventIsNegative) {
  Kernel spin = compile(spin_source, "spin");
  Buffer out = device.allocate(sizeof(unsigned), stream);
  Event start = stream.record({.timing_enabled = true});
  launch(stream, {.grid = 1, .block = 1}, spin, out, 100'000u);
  Event end = stream.record({.timing_enabled = true});
  end.sync();
  EXPECT_LT(start - end, 0.0f);
}

TEST_F(EventTest, AnEventThatWasNotRecordedIsDone) {
  Event event = device.create_event();
  EXPECT_TRUE(event.is_done());
  event.sync();
}

TEST_F(EventTest, KnowsItsContext) {
  EXPECT_EQ(device.create_event().context(), device.context());
  EXPECT_EQ(stream.record().context(), stream.context());
}

TEST_F(EventTest, RecordReturnsTheEventItWasGiven) {
  Event event = device.create_event();
  EXPECT_EQ(stream.record(event), event);
  EXPECT_EQ(live_objects().events, 1u);
}

TEST_F(EventTest, RecordRefusesAnEventOfAnotherContext) {
  const Context own = device.create_context();
  Stream there = own.create_stream();
  Event event = device.create_event();
  EXPECT_THAT(error_of<InvalidArgument>([&] { there.record(event); }),
              AllOf(HasSubstr("recording an event on stream "), HasSubstr("belongs to another context, of device 0")));
}

TEST_F(EventTest, IsNotSharedBetweenProcessesUnlessAsked) {
  EXPECT_FALSE(device.create_event().is_ipc_enabled());
  EXPECT_FALSE(stream.record().is_ipc_enabled());
}

TEST_F(EventTest, AnEventToShareIsMadeByRecording) {
  EXPECT_THAT(error_of<InvalidArgument>([&] { device.create_event({.ipc_enabled = true}); }),
              HasSubstr("use Stream::record({.ipc_enabled = true})"));
}

TEST_F(EventTest, AnEventToShareCanNotMeasureTime) {
  EXPECT_THAT(error_of<InvalidArgument>([&] { stream.record({.timing_enabled = true, .ipc_enabled = true}); }),
              HasSubstr("leave out timing_enabled"));
}

TEST_F(EventTest, AnEventToShareIsRecordedOnce) {
  if (!device.properties().ipc_event_supported()) GTEST_SKIP() << "the device can't share events";
  Event event = stream.record({.ipc_enabled = true});
  EXPECT_TRUE(event.is_ipc_enabled());
  event.sync();
  EXPECT_THAT(error_of<InvalidArgument>([&] { stream.record(event); }),
              HasSubstr("shared between processes and was recorded when it was made"));
}

TEST_F(EventTest, EqualityIsThatOfTheHandle) {
  Event event = stream.record();
  Event other = stream.record();
  Event wrapped = Event::from_handle(event.handle());
  EXPECT_EQ(event, wrapped);
  EXPECT_NE(event, other);
  const std::unordered_set<Event> events = {event, other, wrapped};
  EXPECT_EQ(events.size(), 2u);
}

TEST_F(EventTest, ClosedEventsCanBeComparedAndPrinted) {
  Event event = stream.record();
  Event other = stream.record();
  const std::size_t hash = std::hash<Event>()(event);
  event.close();
  EXPECT_NE(event, other);
  EXPECT_EQ(::testing::PrintToString(event), "a closed event");
  EXPECT_EQ(std::hash<Event>()(event), hash);
  other.close();
  EXPECT_NE(event, other);
}

TEST_F(EventTest, PrintsWhatItIs) {
  EXPECT_THAT(::testing::PrintToString(device.create_event()), AllOf(HasSubstr("event 0x"), HasSubstr(" on device 0")));
}

TEST_F(EventTest, AClosedEventIsRefused) {
  Event event = stream.record({.timing_enabled = true});
  Event copy = event;
  copy.close();
  EXPECT_THAT(error_of<InvalidArgument>([&] { event.sync(); }), HasSubstr("this event is closed"));
  EXPECT_THROW(stream.wait(event), InvalidArgument);
  EXPECT_THROW(stream.record(event), InvalidArgument);
  EXPECT_THROW((void)event.is_done(), InvalidArgument);
  EXPECT_THROW((void)event.is_timing_enabled(), InvalidArgument);
  EXPECT_THROW((void)event.is_blocking_sync(), InvalidArgument);
  EXPECT_THROW((void)event.is_ipc_enabled(), InvalidArgument);
  EXPECT_THROW((void)event.device(), InvalidArgument);
  EXPECT_THROW((void)event.context(), InvalidArgument);
  EXPECT_EQ(event.handle(), nullptr);
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
