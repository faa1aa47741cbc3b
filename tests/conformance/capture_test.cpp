// Streams that are captured, and what may not be done meanwhile.
#include <memory>
#include <thread>

#include "conformance/gate.hpp"
#include "conformance/graph.hpp"

namespace conformance {
namespace {

class CaptureTest : public GraphTest {
 protected:
  void begin(CUstream stream, CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) {
    ASSERT_SUCCESS(CU(cuStreamBeginCapture)(stream, mode));
  }
  // Ends a capture that has become invalid.
  void expect_invalid(CUstream stream) {
    EXPECT_EQ(capture_status(stream), CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    CUgraph graph = nullptr;
    EXPECT_CUDA_ERROR(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, CU(cuStreamEndCapture)(stream, &graph));
    EXPECT_EQ(graph, nullptr);
    EXPECT_EQ(capture_status(stream), CU_STREAM_CAPTURE_STATUS_NONE);
  }
  void fork(CUstream from, CUstream to) const {
    EXPECT_SUCCESS(CU(cuEventRecord)(event_->get(), from));
    EXPECT_SUCCESS(CU(cuStreamWaitEvent)(to, event_->get(), 0));
  }

  void SetUp() override {
    GraphTest::SetUp();
    event_ = std::make_unique<TestEvent>();
    a_ = std::make_unique<TestStream>();
    b_ = std::make_unique<TestStream>();
  }
  void TearDown() override {
    b_.reset();
    a_.reset();
    event_.reset();
    GraphTest::TearDown();
  }
  CUstream a() const { return a_->get(); }
  CUstream b() const { return b_->get(); }

  std::unique_ptr<TestEvent> event_;
  std::unique_ptr<TestStream> a_, b_;
};

TEST_F(CaptureTest, WorkIsDoneWhenTheGraphIsLaunched) {
  const TestGraph graph(capture(a(), [&] {
    EXPECT_EQ(capture_status(a()), CU_STREAM_CAPTURE_STATUS_ACTIVE);
    add(a(), 1);
    add(a(), 2);
  }));
  EXPECT_SUCCESS(CU(cuStreamSynchronize)(a()));
  EXPECT_EQ(value(0), 0);
  EXPECT_EQ(graph.nodes().size(), 2u);
  EXPECT_EQ(graph.edges(), 1u);
  const TestGraphExec exec(graph.get());
  exec.run(a());
  exec.run(b());
  EXPECT_EQ(value(0), 6);
}

TEST_F(CaptureTest, EveryKindOfWorkBecomesItsNode) {
  const DeviceMemory memory(64);
  const TestGraph graph(capture(a(), [&] {
    EXPECT_SUCCESS(CU(cuMemsetD32Async)(memory.get(), 7, 4, a()));
    EXPECT_SUCCESS(CU(cuMemcpyAsync)(data(), memory.get(), 16, a()));
    EXPECT_SUCCESS(CU(cuLaunchHostFunc)(a(), [](void* p) { *static_cast<int*>(p) += 100; }, &value(0)));
    EXPECT_SUCCESS(CU(cuEventRecordWithFlags)(event_->get(), a(), CU_EVENT_RECORD_EXTERNAL));
    EXPECT_SUCCESS(CU(cuStreamWaitEvent)(a(), event_->get(), CU_EVENT_WAIT_EXTERNAL));
    EXPECT_SUCCESS(CU(cuStreamWriteValue32)(a(), data(8), 5, 0));
  }));
  std::vector<CUgraphNodeType> types;
  for (const CUgraphNode node : graph.nodes()) types.push_back(type_of(node));
  EXPECT_EQ(types, (std::vector{CU_GRAPH_NODE_TYPE_MEMSET, CU_GRAPH_NODE_TYPE_MEMCPY, CU_GRAPH_NODE_TYPE_HOST,
                                CU_GRAPH_NODE_TYPE_EVENT_RECORD, CU_GRAPH_NODE_TYPE_WAIT_EVENT,
                                CU_GRAPH_NODE_TYPE_BATCH_MEM_OP}));
  const TestGraphExec exec(graph.get());
  exec.run(a());
  EXPECT_EQ(value(0), 107);
  EXPECT_EQ(value(3), 7);
  EXPECT_EQ(value(8), 5);
}

TEST_F(CaptureTest, ArgumentsAreThoseOfTheLaunch) {
  int amount = 3;
  const TestGraph graph(capture(a(), [&] { add(a(), amount); }));
  amount = 50;
  const TestGraphExec exec(graph.get());
  exec.run(a());
  EXPECT_EQ(value(0), 3);
}

TEST_F(CaptureTest, OtherStreamsJoinByEvents) {
  const TestGraph graph(capture(a(), [&] {
    add(a(), 1);
    fork(a(), b());
    EXPECT_EQ(capture_status(b()), CU_STREAM_CAPTURE_STATUS_ACTIVE);
    add(b(), 1, 1);
    add(a(), 1, 2);
    fork(b(), a());
    add(a(), 1);
  }));
  EXPECT_EQ(capture_status(b()), CU_STREAM_CAPTURE_STATUS_NONE);
  EXPECT_EQ(graph.nodes().size(), 4u);
  EXPECT_EQ(graph.edges(), 4u);
  const TestGraphExec exec(graph.get());
  exec.run(b());
  EXPECT_EQ(value(0), 2);
  EXPECT_EQ(value(1) + value(2), 2);
}

TEST_F(CaptureTest, BranchesOfAGraphRunAtTheSameTime) {
  const PinnedMemory<int> flag(1);
  const TestGraph graph(capture(a(), [&] {
    fork(a(), b());
    EXPECT_SUCCESS(launch(module_->function("wait_for"), 1, 1, a(), flag.device()));
    EXPECT_SUCCESS(CU(cuStreamWriteValue32)(b(), flag.device(), 1, 0));
    fork(b(), a());
  }));
  const TestGraphExec exec(graph.get());
  exec.run(a());
}

TEST_F(CaptureTest, WorkThatIsNotJoinedIsAnError) {
  begin(a());
  fork(a(), b());
  add(b(), 1);
  CUgraph graph = nullptr;
  EXPECT_CUDA_ERROR(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, CU(cuStreamEndCapture)(a(), &graph));
  EXPECT_EQ(graph, nullptr);
  EXPECT_EQ(capture_status(a()), CU_STREAM_CAPTURE_STATUS_NONE);
  EXPECT_EQ(capture_status(b()), CU_STREAM_CAPTURE_STATUS_NONE);
}

TEST_F(CaptureTest, AStreamThatWasJoinedCanBeDestroyed) {
  const TestGraph graph(capture(a(), [&] {
    const TestStream forked;
    fork(a(), forked.get());
    add(forked.get(), 1);
    fork(forked.get(), a());
  }));
  EXPECT_EQ(graph.nodes().size(), 1u);
}

TEST_F(CaptureTest, ACaptureEndsWhereItBegan) {
  begin(a());
  fork(a(), b());
  CUgraph graph = nullptr;
  EXPECT_CUDA_ERROR(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, CU(cuStreamEndCapture)(b(), &graph));
  CU(cuStreamEndCapture)(a(), &graph);
  if (graph != nullptr) CU(cuGraphDestroy)(graph);
}

TEST_F(CaptureTest, ACaptureEndsInTheThreadWhereItBegan) {
  begin(a());
  std::thread([&] {
    CUgraph graph = nullptr;
    EXPECT_SUCCESS(CU(cuCtxSetCurrent)(context_));
    EXPECT_CUDA_ERROR(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, CU(cuStreamEndCapture)(a(), &graph));
  }).join();
  EXPECT_EQ(capture_status(a()), CU_STREAM_CAPTURE_STATUS_NONE) << "it has ended, and its graph is lost";
}

TEST_F(CaptureTest, CapturesDoNotNest) {
  CUgraph graph = nullptr;
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_STATE, CU(cuStreamEndCapture)(a(), &graph));
  begin(a());
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_STATE, CU(cuStreamBeginCapture)(a(), CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_SUCCESS(CU(cuStreamEndCapture)(a(), &graph));
  EXPECT_SUCCESS(CU(cuGraphDestroy)(graph));
}

TEST_F(CaptureTest, TheLegacyStreamCanNotBeCaptured) {
  EXPECT_CUDA_ERROR(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                    CU(cuStreamBeginCapture)(CU_STREAM_LEGACY, CU_STREAM_CAPTURE_MODE_RELAXED));
}

TEST_F(CaptureTest, WaitingForACapturedStreamEndsTheCapture) {
  for (const auto look : {CU(cuStreamSynchronize), CU(cuStreamQuery)}) {
    begin(a(), CU_STREAM_CAPTURE_MODE_RELAXED);
    EXPECT_CUDA_ERROR(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, look(a()));
    EXPECT_CUDA_ERROR(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
                      launch(module_->function("add_value"), 1, 1, a(), data(), 1, 1));
    expect_invalid(a());
  }
}

TEST_F(CaptureTest, WaitingForTheContextEndsTheCapture) {
  begin(a(), CU_STREAM_CAPTURE_MODE_RELAXED);
  EXPECT_CUDA_ERROR(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, CU(cuCtxSynchronize)());
  expect_invalid(a());
}

TEST_F(CaptureTest, LookingAtACapturedEventEndsTheCapture) {
  for (const auto look : {CU(cuEventQuery), CU(cuEventSynchronize)}) {
    begin(a(), CU_STREAM_CAPTURE_MODE_RELAXED);
    EXPECT_SUCCESS(CU(cuEventRecord)(event_->get(), a()));
    EXPECT_CUDA_ERROR(CUDA_ERROR_CAPTURED_EVENT, look(event_->get()));
    expect_invalid(a());
  }
}

TEST_F(CaptureTest, ACapturedStreamWaitsForNothingOutside) {
  EXPECT_SUCCESS(CU(cuEventRecord)(event_->get(), b()));
  begin(a(), CU_STREAM_CAPTURE_MODE_RELAXED);
  EXPECT_CUDA_ERROR(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, CU(cuStreamWaitEvent)(a(), event_->get(), 0));
  expect_invalid(a());
}

TEST_F(CaptureTest, TwoCapturesDoNotMerge) {
  begin(a(), CU_STREAM_CAPTURE_MODE_RELAXED);
  begin(b(), CU_STREAM_CAPTURE_MODE_RELAXED);
  EXPECT_SUCCESS(CU(cuEventRecord)(event_->get(), a()));
  EXPECT_CUDA_ERROR(CUDA_ERROR_STREAM_CAPTURE_MERGE, CU(cuStreamWaitEvent)(b(), event_->get(), 0));
  expect_invalid(a());
  expect_invalid(b());
}

TEST_F(CaptureTest, TheLegacyStreamWouldWaitForABlockingStream) {
  begin(a(), CU_STREAM_CAPTURE_MODE_RELAXED);
  CUstreamCaptureStatus status{};
  EXPECT_CUDA_ERROR(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, CU(cuStreamIsCapturing)(CU_STREAM_LEGACY, &status));
  EXPECT_EQ(capture_status(a()), CU_STREAM_CAPTURE_STATUS_ACTIVE);
  EXPECT_CUDA_ERROR(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
                    launch(module_->function("add_value"), 1, 1, CU_STREAM_LEGACY, data(), 1, 1));
  expect_invalid(a());
}

TEST_F(CaptureTest, TheLegacyStreamGoesOnBesideAStreamThatDoesNotBlock) {
  const TestStream apart(CU_STREAM_NON_BLOCKING);
  const TestGraph graph(capture(apart.get(), [&] { add(CU_STREAM_LEGACY, 1); }));
  EXPECT_SUCCESS(CU(cuStreamSynchronize)(CU_STREAM_LEGACY));
  EXPECT_EQ(value(0), 1);
}

TEST_F(CaptureTest, AllocatingIsUnsafeUnlessRelaxed) {
  CUdeviceptr pointer = 0;
  for (const auto mode : {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL}) {
    begin(a(), mode);
    EXPECT_CUDA_ERROR(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, CU(cuMemAlloc)(&pointer, 64));
    expect_invalid(a());
  }
  const TestGraph graph(capture(
      a(),
      [&] {
        EXPECT_SUCCESS(CU(cuMemAlloc)(&pointer, 64));
        EXPECT_SUCCESS(CU(cuMemFree)(pointer));
      },
      CU_STREAM_CAPTURE_MODE_RELAXED));
}

TEST_F(CaptureTest, AThreadCanAllowItselfUnsafeCalls) {
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  EXPECT_SUCCESS(CU(cuThreadExchangeStreamCaptureMode)(&mode));
  EXPECT_EQ(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
  const TestGraph graph(capture(a(), [&] { const DeviceMemory memory(64); }, CU_STREAM_CAPTURE_MODE_GLOBAL));
  EXPECT_SUCCESS(CU(cuThreadExchangeStreamCaptureMode)(&mode));
  EXPECT_EQ(mode, CU_STREAM_CAPTURE_MODE_RELAXED);
}

// A capture that is global forbids it to other threads, one that is the thread's does not.
TEST_F(CaptureTest, AGlobalCaptureConcernsAllThreads) {
  const auto allocate_elsewhere = [&] {
    CUresult result{};
    std::thread([&] {
      CUdeviceptr pointer = 0;
      EXPECT_SUCCESS(CU(cuCtxSetCurrent)(context_));
      result = CU(cuMemAlloc)(&pointer, 64);
      if (result == CUDA_SUCCESS) CU(cuMemFree)(pointer);
    }).join();
    return result;
  };
  const TestGraph graph(capture(a(), [&] { EXPECT_SUCCESS(allocate_elsewhere()); }));
  begin(a(), CU_STREAM_CAPTURE_MODE_GLOBAL);
  EXPECT_CUDA_ERROR(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, allocate_elsewhere());
  expect_invalid(a());
}

TEST_F(CaptureTest, ACaptureTellsItsGraphAndFrontier) {
  CUstreamCaptureStatus status{};
  cuuint64_t id = 0;
  CUgraph inside = nullptr;
  const CUgraphNode* dependencies = nullptr;
  size_t count = 7;
  const TestGraph graph(capture(a(), [&] {
    add(a(), 1);
    EXPECT_SUCCESS(CU(cuStreamGetCaptureInfo)(a(), &status, &id, &inside, &dependencies, nullptr, &count));
    EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    EXPECT_NE(id, 0u);
    ASSERT_EQ(count, 1u);
    // A node that is added by hand, and that what is captured next comes after.
    CUgraphNode node = add_node(inside, {dependencies[0]}, 10);
    EXPECT_SUCCESS(CU(cuStreamUpdateCaptureDependencies)(a(), &node, nullptr, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    add(a(), 100);
  }));
  EXPECT_EQ(graph.get(), inside);
  EXPECT_EQ(graph.edges(), 2u);
  const TestGraphExec exec(graph.get());
  exec.run(a());
  EXPECT_EQ(value(0), 111);
  EXPECT_SUCCESS(CU(cuStreamGetCaptureInfo)(a(), &status, &id, nullptr, nullptr, nullptr, &count));
  EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_NONE);
}

TEST_F(CaptureTest, AGraphIsContinuedByCapture) {
  const TestGraph graph;
  const CUgraphNode first = add_node(graph.get(), {}, 1);
  EXPECT_SUCCESS(
      CU(cuStreamBeginCaptureToGraph)(a(), graph.get(), &first, nullptr, 1, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  add(a(), 2);
  CUgraph same = nullptr;
  EXPECT_SUCCESS(CU(cuStreamEndCapture)(a(), &same));
  EXPECT_EQ(same, graph.get());
  EXPECT_EQ(graph.edges(), 1u);
}

TEST_F(CaptureTest, LaunchesOfGraphsCanNotBeCaptured) {
  const TestGraph inner(capture(a(), [&] { add(a(), 5); }));
  const TestGraphExec inner_exec(inner.get());
  begin(a(), CU_STREAM_CAPTURE_MODE_RELAXED);
  EXPECT_CUDA_ERROR(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, CU(cuGraphLaunch)(inner_exec.get(), a()));
  expect_invalid(a());
}

TEST_F(CaptureTest, KernelsThatMayStartEarlyHaveAnEdgeThatSaysSo) {
  const TestGraph graph(capture(a(), [&] {
    add(a(), 1);
    CUlaunchAttribute early{};
    early.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    early.value.programmaticStreamSerializationAllowed = 1;
    CUlaunchConfig config{};
    config.gridDimX = config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = config.blockDimY = config.blockDimZ = 1;
    config.hStream = a();
    config.attrs = &early;
    config.numAttrs = 1;
    EXPECT_SUCCESS(CU(cuLaunchKernelEx)(&config, module_->function("bounded"), nullptr, nullptr));
  }));
  CUgraphNode from = nullptr, to = nullptr;
  CUgraphEdgeData data{};
  size_t count = 1;
  EXPECT_CUDA_ERROR(CUDA_ERROR_LOSSY_QUERY, CU(cuGraphGetEdges)(graph.get(), &from, &to, nullptr, &count));
  count = 1;
  ASSERT_SUCCESS(CU(cuGraphGetEdges)(graph.get(), &from, &to, &data, &count));
  EXPECT_EQ(data.type, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC);
  EXPECT_EQ(data.from_port, CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC);
}

TEST_F(CaptureTest, CallbacksCanNotBeCaptured) {
  begin(a(), CU_STREAM_CAPTURE_MODE_RELAXED);
  EXPECT_CUDA_ERROR(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                    CU(cuStreamAddCallback)(a(), [](CUstream, CUresult, void*) {}, nullptr, 0));
  expect_invalid(a());
}

}  // namespace
}  // namespace conformance
