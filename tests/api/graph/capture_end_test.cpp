// What a capture leaves behind when it ends otherwise than it should: by failures, in another order, in another thread.
// NVIDIA's driver does not check what it is given then; SOFTGPU_STRICT=1 does.
#include <thread>

#include "api/captured_log.hpp"
#include "api/failing_api.hpp"
#include "api/graph/fixture.hpp"

namespace cuprum::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

using driver::Api;

class CaptureEndTest : public GraphTest {
 protected:
  static CUstreamCaptureStatus status(CUstream queue) {
    CUstreamCaptureStatus status{};
    driver::call<&Api::cuStreamIsCapturing>(queue, &status);
    return status;
  }
  static std::vector<GraphNodeType> types(const GraphDefinition& graph) {
    std::vector<GraphNodeType> types;
    for (const GraphNode& node : graph.nodes()) types.push_back(node.type());
    return types;
  }
};

/// Calls that drivers refuse during a capture, and give the capture up for.
TEST_F(CaptureEndTest, WhatIsReleasedMeanwhileDoesNotBreakIt) {
  if (!device.properties().memory_pools_supported()) GTEST_SKIP() << "the device has no memory pools";
  for (const CaptureMode mode : {CaptureMode::global, CaptureMode::thread_local_, CaptureMode::relaxed}) {
    CapturedLog log;
    std::optional<ObjectCode> code = ObjectCode::from_ptx(graph_test_code());
    std::optional<Kernel> other = code->get_kernel("nothing");
    std::optional<Stream> queue = device.create_stream();
    launch(*queue, one, *other);
    std::optional<Buffer> memory = device.allocate(64, *queue);
    std::optional<Buffer> pinned = LegacyPinnedMemoryResource().allocate(64);
    std::optional<Event> event = queue->record();
    std::optional<DeviceMemoryResource> pool = DeviceMemoryResource(device, {.max_size = 1 << 21});
    std::optional<Graph> executable = GraphDefinition().instantiate();
    queue->sync();

    const GraphBuilder builder = stream.create_graph_builder().begin_building(mode);
    launch(builder, one, kernel("add"), data, 1);
    executable.reset();
    memory.reset();
    pinned.reset();
    event.reset();
    pool.reset();
    queue.reset();
    other.reset();
    code.reset();
    launch(builder, one, kernel("add"), data, 1);
    run(builder.end_building().complete());
    EXPECT_THAT(log.lines, IsEmpty());
  }
  EXPECT_EQ(cells[0], 6);
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  driver::call<&Api::cuThreadExchangeStreamCaptureMode>(&mode);
  EXPECT_EQ(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);  // as it is in every thread at first
}

/// The driver frees nothing on such a stream that no graph allocated, and waiting for the stream breaks the capture.
TEST_F(CaptureEndTest, BuffersOfTheStreamItselfAreFreedWhenItHasEnded) {
  if (!device.properties().memory_pools_supported()) GTEST_SKIP() << "the device has no memory pools";
  const DeviceMemoryResource pool(device, {.max_size = std::size_t{1} << 24});
  const VirtualMemoryResource virtual_memory(device);
  for (const CaptureMode mode : {CaptureMode::global, CaptureMode::thread_local_, CaptureMode::relaxed}) {
    CapturedLog log;
    const Stream other = device.create_stream();
    std::optional<Buffer> dropped = pool.allocate(64, stream);
    std::optional<Buffer> pinned = LegacyPinnedMemoryResource().allocate(64, stream);
    std::optional<Buffer> mapped = virtual_memory.allocate(64, stream);
    Buffer closed = pool.allocate(64, other);
    std::optional<Buffer> told = pool.allocate(64, other);
    device.sync();

    const GraphBuilder builder = stream.create_graph_builder().begin_building(mode);
    launch(builder, one, kernel("add"), data, 1);
    dropped.reset();
    pinned.reset();
    mapped.reset();
    closed.close(builder.stream());
    told->set_deallocation_stream(builder.stream());
    told.reset();
    if (mode == CaptureMode::relaxed) LegacyPinnedMemoryResource().allocate(64, stream).close();  // made meanwhile, too
    if (mode == CaptureMode::relaxed) {  // in the others nobody may ask
      EXPECT_NE(pool.attributes().used_mem_current(), 0u);
    }
    run(builder.end_building().complete());
    EXPECT_THAT(log.lines, IsEmpty());
    EXPECT_EQ(pool.attributes().used_mem_current(), 0u);
  }
  EXPECT_EQ(cells[0], 3);
}

TEST_F(CaptureEndTest, BuffersOfItsStreamsAreFreedWhenItIsGivenUp) {
  if (!device.properties().memory_pools_supported()) GTEST_SKIP() << "the device has no memory pools";
  const DeviceMemoryResource pool(device, {.max_size = std::size_t{1} << 24});
  CapturedLog log;
  for (const bool is_broken : {false, true}) {
    Buffer first = pool.allocate(64, stream), second = pool.allocate(64, stream);
    stream.sync();
    GraphBuilder builder = stream.create_graph_builder().begin_building();
    std::vector<GraphBuilder> parts = builder.split(2);
    first.close();
    second.close(parts[1].stream());
    if (is_broken) {
      EXPECT_THROW(stream.sync(), DriverError);
    }
    parts.clear();
    builder.close();
    device.sync();
    EXPECT_EQ(pool.attributes().used_mem_current(), 0u) << is_broken;
  }
  EXPECT_THAT(log.lines, IsEmpty());
}

TEST_F(CaptureEndTest, ANodeThatCouldNotBeCapturedIsNotInTheGraph) {
  FailingApi failing;
  const GraphBuilder builder = stream.create_graph_builder().begin_building();
  launch(builder, one, kernel("add"), data, 1);
  failing.fail_next("cuStreamUpdateCaptureDependencies", CUDA_ERROR_UNKNOWN);
  EXPECT_THROW(builder.callback([&] { cells[1] = 1; }), DriverError);
  launch(builder, one, kernel("add"), data, 2);
  const Graph graph = builder.end_building().complete();
  EXPECT_EQ(types(builder.graph_definition()), std::vector(2, GraphNodeType::kernel));
  run(graph);
  EXPECT_EQ(cells[0], 3);
  EXPECT_EQ(cells[1], 0);
}

TEST_F(CaptureEndTest, AChildThatCouldNotBeReadBackIsNotInTheGraph) {
  GraphDefinition child;
  add(child, 10);
  FailingApi failing;
  const GraphBuilder builder = stream.create_graph_builder().begin_building();
  failing.fail_next("cuGraphChildGraphNodeGetGraph", CUDA_ERROR_UNKNOWN);
  EXPECT_THROW(builder.embed(child), DriverError);
  builder.embed(child);
  run(builder.end_building().complete());
  EXPECT_EQ(cells[0], 10);
}

TEST_F(CaptureEndTest, AConditionalNodeThatCouldNotBeCapturedIsNotInTheGraph) {
  if (driver::info().kind != driver::Choice::softgpu)
    GTEST_SKIP() << "NVIDIA's driver takes the condition for used until the capture has ended";
  FailingApi failing;
  const GraphBuilder builder = stream.create_graph_builder().begin_building();
  const GraphCondition condition = builder.create_condition(1);
  failing.fail_next("cuStreamUpdateCaptureDependencies", CUDA_ERROR_UNKNOWN);
  EXPECT_THROW(builder.if_then(condition), DriverError);
  const GraphBuilder body = builder.if_then(condition).begin_building();
  launch(body, one, kernel("add"), data, 4);
  body.end_building();
  builder.end_building();
  EXPECT_EQ(types(builder.graph_definition()), std::vector{GraphNodeType::conditional});
  run(builder.complete());
  EXPECT_EQ(cells[0], 4);
}

TEST_F(CaptureEndTest, AStreamWhoseCaptureCanNotBeEndedIsLeftAlone) {
  CUstream left = nullptr;
  {
    FailingApi failing;
    GraphBuilder builder = device.create_graph_builder().begin_building();
    left = builder.stream().handle();
    failing.fail_next("cuStreamEndCapture", CUDA_ERROR_UNKNOWN);
    const LogHook before = set_log_hook([](std::string_view) {});
    builder.close();
    set_log_hook(before);
  }
  EXPECT_EQ(status(left), CU_STREAM_CAPTURE_STATUS_ACTIVE);
  CUgraph graph = nullptr;
  driver::call<&Api::cuStreamEndCapture>(left, &graph);
  driver::call<&Api::cuGraphDestroy>(graph);
  driver::call<&Api::cuStreamDestroy>(left);
}

TEST_F(CaptureEndTest, AStreamThatIsClosedMeanwhileIsThereUntilTheCaptureEnds) {
  GraphBuilder builder = device.create_graph_builder().begin_building();
  launch(builder, one, kernel("add"), data, 1);
  Stream copy = builder.stream();
  copy.close();
  EXPECT_THROW(launch(builder, one, kernel("add"), data, 1), InvalidArgument);
  run(builder.end_building().complete());
  EXPECT_EQ(cells[0], 1);
}

TEST_F(CaptureEndTest, PartsThatGoMeanwhileAreThereUntilTheCaptureEnds) {
  FailingApi failing;
  const GraphBuilder builder = device.create_graph_builder().begin_building();
  CUstream part = nullptr;
  {
    const std::vector<GraphBuilder> parts = builder.split(2);
    part = parts[1].stream().handle();
    launch(parts[1], one, kernel("add"), data, 1);
  }
  EXPECT_EQ(status(part), CU_STREAM_CAPTURE_STATUS_ACTIVE);
  EXPECT_THAT(error_of<DriverError>([&] { builder.end_building(); }), HasSubstr("was not joined"));
}

TEST_F(CaptureEndTest, BodiesEndWithTheBuilderThatTheyAreOf) {
  GraphBuilder builder = stream.create_graph_builder().begin_building();
  const GraphBuilder capturing = builder.if_then(builder.create_condition(1)).begin_building();
  const GraphBuilder inside = capturing.if_then(capturing.create_condition(1)).begin_building();
  const GraphBuilder waiting = builder.if_then(builder.create_condition(1));
  launch(capturing, one, kernel("add"), data, 1);
  builder.close();
  EXPECT_EQ(status(stream.handle()), CU_STREAM_CAPTURE_STATUS_NONE);
  for (const GraphBuilder& body : {capturing, inside, waiting}) {
    EXPECT_FALSE(body.is_building());
    EXPECT_THAT(error_of<InvalidArgument>([&] { body.end_building(); }), HasSubstr("not building"));
  }
}

TEST_F(CaptureEndTest, BodiesEndBeforeTheBuilderThatTheyAreOf) {
  const GraphBuilder builder = stream.create_graph_builder().begin_building();
  const GraphBuilder body = builder.if_then(builder.create_condition(1)).begin_building();
  launch(body, one, kernel("add"), data, 2);
  EXPECT_THAT(error_of<InvalidArgument>([&] { builder.end_building(); }), HasSubstr("body that is still building"));
  body.end_building();
  run(builder.end_building().complete());
  EXPECT_EQ(cells[0], 2);
}

TEST_F(CaptureEndTest, AGraphWithABodyThatBrokeIsBuiltAnew) {
  const GraphBuilder builder = stream.create_graph_builder().begin_building();
  const GraphBuilder body = builder.if_then(builder.create_condition(1)).begin_building();
  launch(body, one, kernel("add"), data, 1);
  EXPECT_THROW(body.stream().sync(), DriverError);
  EXPECT_THROW(body.end_building(), DriverError);
  EXPECT_THAT(error_of<WrongState>([&] { body.begin_building(); }),
              HasSubstr("the capture of this conditional body broke"));
  EXPECT_THAT(error_of<WrongState>([&] { builder.end_building(); }), HasSubstr("the capture has ended now"));
  EXPECT_EQ(status(stream.handle()), CU_STREAM_CAPTURE_STATUS_NONE);
  builder.begin_building();
  launch(builder, one, kernel("add"), data, 100);
  run(builder.end_building().complete());
  EXPECT_EQ(cells[0], 100);
}

TEST_F(CaptureEndTest, ABodyThatIsLostWhileItIsBuiltIsToldOf) {
  for (const bool is_broken : {false, true}) {
    const GraphBuilder builder = stream.create_graph_builder().begin_building();
    GraphBuilder body = builder.if_then(builder.create_condition(1)).begin_building();
    launch(body, one, kernel("add"), data, 1);
    if (is_broken) {
      EXPECT_THROW(body.stream().sync(), DriverError);
      EXPECT_THROW(body.end_building(), DriverError);
    }
    body.close();
    EXPECT_THAT(error_of<WrongState>([&] { builder.end_building(); }), HasSubstr("closed before it had ended"));
    EXPECT_EQ(status(stream.handle()), CU_STREAM_CAPTURE_STATUS_NONE);
    builder.begin_building();
    launch(builder, one, kernel("add"), data, 10);
    run(builder.end_building().complete());
  }
  EXPECT_EQ(cells[0], 20);
}

TEST_F(CaptureEndTest, ABodyOfABrokenCaptureIsRefused) {
  const GraphBuilder builder = stream.create_graph_builder().begin_building();
  const GraphBuilder body = builder.if_then(builder.create_condition(1));
  EXPECT_THROW(stream.sync(), DriverError);
  EXPECT_THROW(builder.end_building(), DriverError);
  EXPECT_THAT(error_of<InvalidArgument>([&] { body.begin_building(); }), HasSubstr("is gone"));
  EXPECT_THROW((void)body.graph_definition().nodes(), InvalidArgument);
}

TEST_F(CaptureEndTest, NothingIsKeptByTheGraphOfABrokenCapture) {
  const GraphBuilder builder = stream.create_graph_builder().begin_building();
  EXPECT_THROW(stream.sync(), DriverError);
  const auto owner = std::make_shared<int>(1);
  builder.keep(owner);
  EXPECT_THROW(launch(builder, one, kernel("add"), data, 1), DriverError);
  EXPECT_EQ(owner.use_count(), 1);
  EXPECT_THROW(builder.end_building(), DriverError);
}

TEST_F(CaptureEndTest, AnotherThreadThatEndsACaptureLosesIt) {
  const GraphBuilder builder = stream.create_graph_builder().begin_building(CaptureMode::thread_local_);
  launch(builder, one, kernel("add"), data, 1);
  std::thread([&] {
    device.set_current();
    EXPECT_THAT(error_of<DriverError>([&] { builder.end_building(); }), HasSubstr("the thread that began it must end"));
  }).join();
  EXPECT_EQ(status(stream.handle()), CU_STREAM_CAPTURE_STATUS_NONE);
  builder.begin_building();
  launch(builder, one, kernel("add"), data, 2);
  run(builder.end_building().complete());
  EXPECT_EQ(cells[0], 2);
}

TEST_F(CaptureEndTest, ABuilderAddsNothingToTheCapturesOfOthers) {
  const GraphBuilder builder = stream.create_graph_builder();
  driver::call<&Api::cuStreamBeginCapture>(stream.handle(), CU_STREAM_CAPTURE_MODE_RELAXED);
  EXPECT_THAT(error_of<InvalidArgument>([&] { builder.callback([] {}); }), HasSubstr("begin_building() comes first"));
  CUgraph graph = nullptr;
  driver::call<&Api::cuStreamEndCapture>(stream.handle(), &graph);
  driver::call<&Api::cuGraphDestroy>(graph);
}

}  // namespace
}  // namespace cuprum::tests
