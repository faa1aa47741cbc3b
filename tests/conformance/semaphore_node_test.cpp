// Nodes of graphs that signal external semaphores and wait for them.
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "conformance/gate.hpp"
#include "conformance/graph.hpp"
#include "conformance/semaphore.hpp"
#include "support/temporary_folder.hpp"

namespace conformance {
namespace {

SignalParams signal_params(std::uint64_t value = 0) {
  SignalParams params{};
  params.params.fence.value = value;
  return params;
}
WaitParams wait_params(std::uint64_t value = 0) {
  WaitParams params{};
  params.params.fence.value = value;
  return params;
}

class SemaphoreNodes : public GraphTest {
 protected:
  void SetUp() override {
    if (!is_softgpu()) GTEST_SKIP() << "NVIDIA's driver imports semaphores of graphics APIs, and none of Linux";
    GraphTest::SetUp();
  }
  void TearDown() override {
    if (is_softgpu()) GraphTest::TearDown();
  }

  static CUgraphNode add_signal(CUgraph graph, const std::vector<CUgraphNode>& after, CUexternalSemaphore semaphore,
                                std::uint64_t value = 0) {
    const SignalParams one = signal_params(value);
    const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS params{&semaphore, &one, 1};
    CUgraphNode node = nullptr;
    EXPECT_SUCCESS(CU(cuGraphAddExternalSemaphoresSignalNode)(&node, graph, after.data(), after.size(), &params));
    return node;
  }
  static CUgraphNode add_wait(CUgraph graph, const std::vector<CUgraphNode>& after, CUexternalSemaphore semaphore,
                              std::uint64_t value = 0) {
    const WaitParams one = wait_params(value);
    const CUDA_EXT_SEM_WAIT_NODE_PARAMS params{&semaphore, &one, 1};
    CUgraphNode node = nullptr;
    EXPECT_SUCCESS(CU(cuGraphAddExternalSemaphoresWaitNode)(&node, graph, after.data(), after.size(), &params));
    return node;
  }
  static CUDA_EXT_SEM_SIGNAL_NODE_PARAMS signals_of(CUgraphNode node) {
    CUDA_EXT_SEM_SIGNAL_NODE_PARAMS params{};
    EXPECT_SUCCESS(CU(cuGraphExternalSemaphoresSignalNodeGetParams)(node, &params));
    return params;
  }
  static CUDA_EXT_SEM_WAIT_NODE_PARAMS waits_of(CUgraphNode node) {
    CUDA_EXT_SEM_WAIT_NODE_PARAMS params{};
    EXPECT_SUCCESS(CU(cuGraphExternalSemaphoresWaitNodeGetParams)(node, &params));
    return params;
  }

  const Eventfd begun_, ended_;
  const Timeline timeline_;
};

// The semaphores need a context.
struct Semaphores {
  Semaphores(const Eventfd& first, const Eventfd& second, const Timeline& third)
      : begin(kEventfdType, first.duplicate()),
        end(kEventfdType, second.duplicate()),
        line(kTimelineType, third.duplicate()) {}
  const TestSemaphore begin, end, line;
};

TEST_F(SemaphoreNodes, WaitSignalAndAreLaunchedAgain) {
  const Semaphores semaphores(begun_, ended_, timeline_);
  const TestGraph graph;
  const CUgraphNode wait = add_wait(graph.get(), {}, semaphores.begin.get());
  const CUgraphNode work = add_node(graph.get(), {wait}, 1);
  const CUgraphNode signal = add_signal(graph.get(), {work}, semaphores.end.get());
  EXPECT_EQ(type_of(wait), CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT);
  EXPECT_EQ(type_of(signal), CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL);
  const TestGraphExec exec(graph.get());
  const TestStream stream;
  for (int i = 1; i <= 3; ++i) {
    ASSERT_SUCCESS(CU(cuGraphLaunch)(exec.get(), stream.get()));
    EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_READY, CU(cuStreamQuery)(stream.get()));
    begun_.add();
    ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
    EXPECT_EQ(value(0), i);
    EXPECT_EQ(ended_.drain(), 1U);
  }
}

TEST_F(SemaphoreNodes, AreMadeByCapture) {
  const Semaphores semaphores(begun_, ended_, timeline_);
  const TestStream stream;
  const TestGraph graph(capture(stream.get(), [&] {
    semaphores.begin.wait(stream.get());
    add(stream.get(), 1);
    semaphores.line.signal(stream.get(), 3);
    semaphores.end.signal(stream.get());
  }));
  const auto nodes = graph.nodes();
  ASSERT_EQ(nodes.size(), 4U);
  EXPECT_EQ(graph.edges(), 3U);
  EXPECT_EQ(type_of(nodes[0]), CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT);
  EXPECT_EQ(type_of(nodes[2]), CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL);
  EXPECT_EQ(signals_of(nodes[2]).paramsArray[0].params.fence.value, 3U);
  const TestGraphExec exec(graph.get());
  EXPECT_EQ(timeline_.value() + ended_.drain(), 0U);
  begun_.add();
  exec.run(stream.get());
  EXPECT_EQ(timeline_.value(), 3U);
  EXPECT_EQ(ended_.drain(), 1U);
  EXPECT_EQ(value(0), 1);
}

TEST_F(SemaphoreNodes, GiveTheirParameters) {
  const Semaphores semaphores(begun_, ended_, timeline_);
  CUexternalSemaphore list[] = {semaphores.begin.get(), semaphores.line.get()};
  SignalParams signals[] = {signal_params(), signal_params(12)};
  WaitParams waits[] = {wait_params(), wait_params(34)};
  signals[0].params.keyedMutex.key = 5;  // means nothing for these, but is given back
  const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS signal_request{list, signals, 2};
  const CUDA_EXT_SEM_WAIT_NODE_PARAMS wait_request{list, waits, 2};
  const TestGraph graph;
  CUgraphNode signal = nullptr, wait = nullptr;
  ASSERT_SUCCESS(CU(cuGraphAddExternalSemaphoresSignalNode)(&signal, graph.get(), nullptr, 0, &signal_request));
  ASSERT_SUCCESS(CU(cuGraphAddExternalSemaphoresWaitNode)(&wait, graph.get(), nullptr, 0, &wait_request));
  const SignalParams signals_then[] = {signals[0], signals[1]};
  const WaitParams waits_then[] = {waits[0], waits[1]};
  signals[1].params.fence.value = waits[1].params.fence.value = 99;  // the node has its own
  const auto signals_found = signals_of(signal);
  const auto waits_found = waits_of(wait);
  ASSERT_EQ(signals_found.numExtSems, 2U);
  ASSERT_EQ(waits_found.numExtSems, 2U);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(signals_found.extSemArray[i], list[i]);
    EXPECT_EQ(waits_found.extSemArray[i], list[i]);
    EXPECT_EQ(std::memcmp(&signals_found.paramsArray[i], &signals_then[i], sizeof(SignalParams)), 0);
    EXPECT_EQ(std::memcmp(&waits_found.paramsArray[i], &waits_then[i], sizeof(WaitParams)), 0);
  }
}

TEST_F(SemaphoreNodes, TakeOtherParameters) {
  const Semaphores semaphores(begun_, ended_, timeline_);
  const TestGraph graph;
  const CUgraphNode wait = add_wait(graph.get(), {}, semaphores.begin.get());
  const CUgraphNode signal = add_signal(graph.get(), {wait}, semaphores.begin.get());
  CUexternalSemaphore line = semaphores.line.get(), end = semaphores.end.get();
  const WaitParams for_four = wait_params(4);
  const SignalParams plain = signal_params();
  const CUDA_EXT_SEM_WAIT_NODE_PARAMS wait_request{&line, &for_four, 1};
  ASSERT_SUCCESS(CU(cuGraphExternalSemaphoresWaitNodeSetParams)(wait, &wait_request));
  CUgraphNodeParams general{};
  general.type = CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL;
  general.extSemSignal = {&end, &plain, 1};
  ASSERT_SUCCESS(CU(cuGraphNodeSetParams)(signal, &general));
  EXPECT_EQ(waits_of(wait).extSemArray[0], line);
  EXPECT_EQ(signals_of(signal).extSemArray[0], end);
  timeline_.signal(4);
  const TestStream stream;
  TestGraphExec(graph.get()).run(stream.get());
  EXPECT_EQ(ended_.drain(), 1U);
}

TEST_F(SemaphoreNodes, AreAddedInTheGeneralWay) {
  const Semaphores semaphores(begun_, ended_, timeline_);
  CUexternalSemaphore line = semaphores.line.get();
  const SignalParams raise = signal_params(2);
  const WaitParams until = wait_params(2);
  const TestGraph graph;
  CUgraphNodeParams params{};
  params.type = CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL;
  params.extSemSignal = {&line, &raise, 1};
  CUgraphNode signal = nullptr, wait = nullptr;
  ASSERT_SUCCESS(CU(cuGraphAddNode)(&signal, graph.get(), nullptr, nullptr, 0, &params));
  params = {};
  params.type = CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT;
  params.extSemWait = {&line, &until, 1};
  ASSERT_SUCCESS(CU(cuGraphAddNode)(&wait, graph.get(), nullptr, nullptr, 0, &params));
  add_node(graph.get(), {wait}, 7);
  const TestStream stream;
  TestGraphExec(graph.get()).run(stream.get());  // the two are not ordered; one waits for the other
  EXPECT_EQ(value(0), 7);
}

TEST_F(SemaphoreNodes, OfExecutableGraphsTakeOtherParameters) {
  const Semaphores semaphores(begun_, ended_, timeline_);
  const TestGraph graph;
  const CUgraphNode wait = add_wait(graph.get(), {}, semaphores.line.get(), 1);
  const CUgraphNode signal = add_signal(graph.get(), {wait}, semaphores.line.get(), 2);
  const TestGraphExec exec(graph.get());
  const TestStream stream;
  CUexternalSemaphore line = semaphores.line.get();
  for (std::uint64_t round = 0; round < 4; ++round) {
    const WaitParams until = wait_params(2 * round + 1);
    const SignalParams raise = signal_params(2 * round + 2);
    const CUDA_EXT_SEM_WAIT_NODE_PARAMS wait_request{&line, &until, 1};
    const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS signal_request{&line, &raise, 1};
    if (round % 2 == 0) {
      ASSERT_SUCCESS(CU(cuGraphExecExternalSemaphoresWaitNodeSetParams)(exec.get(), wait, &wait_request));
      ASSERT_SUCCESS(CU(cuGraphExecExternalSemaphoresSignalNodeSetParams)(exec.get(), signal, &signal_request));
    } else {
      CUgraphNodeParams general{};
      general.type = CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT;
      general.extSemWait = {&line, &until, 1};
      ASSERT_SUCCESS(CU(cuGraphExecNodeSetParams)(exec.get(), wait, &general));
      general = {};
      general.type = CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL;
      general.extSemSignal = {&line, &raise, 1};
      ASSERT_SUCCESS(CU(cuGraphExecNodeSetParams)(exec.get(), signal, &general));
    }
    ASSERT_SUCCESS(CU(cuGraphLaunch)(exec.get(), stream.get()));
    EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_READY, CU(cuStreamQuery)(stream.get()));
    timeline_.signal(2 * round + 1);
    ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
    EXPECT_EQ(timeline_.value(), 2 * round + 2);
  }
  EXPECT_EQ(waits_of(wait).paramsArray[0].params.fence.value, 1U) << "the graph itself stays as it was";
}

// A launch that waits does what the graph said when it was launched.
TEST_F(SemaphoreNodes, ThatAreChangedLaterDontChangeALaunch) {
  const Semaphores semaphores(begun_, ended_, timeline_);
  const TestGraph graph;
  const CUgraphNode wait = add_wait(graph.get(), {}, semaphores.begin.get());
  const CUgraphNode signal = add_signal(graph.get(), {wait}, semaphores.end.get());
  const TestGraphExec exec(graph.get());
  const TestStream stream;
  ASSERT_SUCCESS(CU(cuGraphLaunch)(exec.get(), stream.get()));
  CUexternalSemaphore line = semaphores.line.get();
  const SignalParams raise = signal_params(9);
  const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS other{&line, &raise, 1};
  ASSERT_SUCCESS(CU(cuGraphExecExternalSemaphoresSignalNodeSetParams)(exec.get(), signal, &other));
  begun_.add();
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_EQ(ended_.drain(), 1U);
  EXPECT_EQ(timeline_.value(), 0U);
}

TEST_F(SemaphoreNodes, KeepTheNumberOfTheirSemaphoresInExecutableGraphs) {
  const Semaphores semaphores(begun_, ended_, timeline_);
  const TestGraph graph, larger;
  const CUgraphNode signal = add_signal(graph.get(), {}, semaphores.end.get());
  const TestGraphExec exec(graph.get());
  CUexternalSemaphore list[] = {semaphores.end.get(), semaphores.begin.get()};
  const SignalParams two[2] = {};
  const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS request{list, two, 2};
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    CU(cuGraphExecExternalSemaphoresSignalNodeSetParams)(exec.get(), signal, &request));
  CUgraphNode node = nullptr;
  ASSERT_SUCCESS(CU(cuGraphAddExternalSemaphoresSignalNode)(&node, larger.get(), nullptr, 0, &request));
  CUgraphExecUpdateResultInfo info{};
  EXPECT_CUDA_ERROR(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, CU(cuGraphExecUpdate)(exec.get(), larger.get(), &info));
  EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED);
  EXPECT_EQ(info.errorNode, node);
  EXPECT_SUCCESS(CU(cuGraphExternalSemaphoresSignalNodeSetParams)(signal, &request)) << "a graph is not so strict";
}

TEST_F(SemaphoreNodes, AreUpdatedWithTheWholeGraph) {
  const Semaphores semaphores(begun_, ended_, timeline_);
  const auto build = [&](CUgraph graph, std::uint64_t from, std::uint64_t to) {
    const CUgraphNode wait = add_wait(graph, {}, semaphores.line.get(), from);
    add_signal(graph, {add_node(graph, {wait}, 1)}, semaphores.line.get(), to);
  };
  const TestGraph graph;
  build(graph.get(), 0, 1);
  const TestGraphExec exec(graph.get());
  const TestStream stream;
  for (std::uint64_t round = 0; round < 3; ++round) {
    const TestGraph next;
    build(next.get(), round, round + 1);
    CUgraphExecUpdateResultInfo info{};
    ASSERT_SUCCESS(CU(cuGraphExecUpdate)(exec.get(), next.get(), &info));
    exec.run(stream.get());
    EXPECT_EQ(timeline_.value(), round + 1);
  }
}

TEST_F(SemaphoreNodes, AreClonedAndChildren) {
  const Semaphores semaphores(begun_, ended_, timeline_);
  const TestGraph graph;
  const CUgraphNode wait = add_wait(graph.get(), {}, semaphores.begin.get());
  add_signal(graph.get(), {wait}, semaphores.end.get());
  CUgraph clone = nullptr;
  ASSERT_SUCCESS(CU(cuGraphClone)(&clone, graph.get()));
  const TestGraph cloned(clone), parent;
  CUgraphNode copy = nullptr, child = nullptr;
  ASSERT_SUCCESS(CU(cuGraphNodeFindInClone)(&copy, wait, clone));
  EXPECT_EQ(waits_of(copy).extSemArray[0], semaphores.begin.get());
  ASSERT_SUCCESS(CU(cuGraphAddChildGraphNode)(&child, parent.get(), nullptr, 0, clone));
  const TestStream stream;
  const TestGraphExec of_clone(cloned.get()), of_parent(parent.get());
  begun_.add(2);
  of_clone.run(stream.get());
  of_parent.run(stream.get());
  EXPECT_EQ(ended_.drain(), 2U);
}

TEST_F(SemaphoreNodes, KeepASemaphoreThatIsDestroyed) {
  const TestGraph graph;
  {
    const Semaphores semaphores(begun_, ended_, timeline_);
    add_signal(graph.get(), {}, semaphores.end.get());
  }
  const TestStream stream;
  TestGraphExec(graph.get()).run(stream.get());
  EXPECT_EQ(ended_.drain(), 1U);
}

TEST_F(SemaphoreNodes, AreDrawn) {
  const Semaphores semaphores(begun_, ended_, timeline_);
  const TestGraph graph;
  const CUgraphNode wait = add_wait(graph.get(), {}, semaphores.line.get(), 17);
  add_signal(graph.get(), {wait}, semaphores.line.get(), 18);
  const TemporaryFolder folder;
  const auto drawn = [&](unsigned flags) {
    const std::string path = folder / "graph.dot";
    EXPECT_SUCCESS(CU(cuGraphDebugDotPrint)(graph.get(), path.c_str(), flags));
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string plain = drawn(0), waits = drawn(CU_GRAPH_DEBUG_DOT_FLAGS_EXT_SEMAS_WAIT_NODE_PARAMS),
                    all = drawn(CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE);
  EXPECT_NE(plain.find("EXT_SEMAS_WAIT"), plain.npos) << plain;
  EXPECT_NE(plain.find("EXT_SEMAS_SIGNAL"), plain.npos) << plain;
  EXPECT_EQ(plain.find("value 17"), plain.npos) << plain;
  EXPECT_NE(waits.find("value 17"), waits.npos) << waits;
  EXPECT_EQ(waits.find("value 18"), waits.npos) << waits;
  EXPECT_NE(all.find("value 18"), all.npos) << all;
}

TEST_F(SemaphoreNodes, BadCallsAreRefused) {
  const Semaphores semaphores(begun_, ended_, timeline_);
  const TestGraph graph;
  CUexternalSemaphore good = semaphores.end.get(), bad = nullptr;
  SignalParams signal = signal_params();
  CUgraphNode node = nullptr;
  const auto add = [&](const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS& params) {
    return CU(cuGraphAddExternalSemaphoresSignalNode)(&node, graph.get(), nullptr, 0, &params);
  };
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    CU(cuGraphAddExternalSemaphoresSignalNode)(&node, graph.get(), nullptr, 0, nullptr));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    CU(cuGraphAddExternalSemaphoresWaitNode)(&node, graph.get(), nullptr, 0, nullptr));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, add({nullptr, &signal, 1}));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, add({&good, nullptr, 1}));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, add({&bad, &signal, 1}));
  signal.flags = 1;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, add({&good, &signal, 1}));
  EXPECT_TRUE(graph.nodes().empty());

  const CUgraphNode wait = add_wait(graph.get(), {}, good);
  CUDA_EXT_SEM_SIGNAL_NODE_PARAMS found{};
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuGraphExternalSemaphoresSignalNodeGetParams)(wait, &found));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuGraphExternalSemaphoresWaitNodeGetParams)(wait, nullptr));
  signal = signal_params();
  const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS request{&good, &signal, 1};
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuGraphExternalSemaphoresSignalNodeSetParams)(wait, &request));
  const TestGraphExec exec(graph.get());
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    CU(cuGraphExecExternalSemaphoresSignalNodeSetParams)(exec.get(), wait, &request));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuGraphNodeSetEnabled)(exec.get(), wait, 0));
}

// ---- On any driver: nodes without a semaphore

class EmptySemaphoreNodes : public DriverTest {
 protected:
  static CUgraphNode add(CUgraph graph, bool waits) {
    const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS signal{};
    const CUDA_EXT_SEM_WAIT_NODE_PARAMS wait{};
    CUgraphNode node = nullptr;
    if (waits) {
      EXPECT_SUCCESS(CU(cuGraphAddExternalSemaphoresWaitNode)(&node, graph, nullptr, 0, &wait));
    } else {
      EXPECT_SUCCESS(CU(cuGraphAddExternalSemaphoresSignalNode)(&node, graph, nullptr, 0, &signal));
    }
    return node;
  }
};

TEST_F(EmptySemaphoreNodes, DoNothing) {
  const TestGraph graph;
  const CUgraphNode signal = add(graph.get(), false), wait = add(graph.get(), true);
  CUDA_EXT_SEM_SIGNAL_NODE_PARAMS signals{nullptr, nullptr, 5};
  CUDA_EXT_SEM_WAIT_NODE_PARAMS waits{nullptr, nullptr, 5};
  EXPECT_SUCCESS(CU(cuGraphExternalSemaphoresSignalNodeGetParams)(signal, &signals));
  EXPECT_SUCCESS(CU(cuGraphExternalSemaphoresWaitNodeGetParams)(wait, &waits));
  EXPECT_EQ(signals.numExtSems, 0U);
  EXPECT_EQ(waits.numExtSems, 0U);
  const TestGraphExec exec(graph.get());
  const TestStream stream;
  exec.run(stream.get());
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuGraphNodeSetEnabled)(exec.get(), signal, 0));
  CUgraphExecUpdateResultInfo info{};
  EXPECT_SUCCESS(CU(cuGraphExecUpdate)(exec.get(), graph.get(), &info));
}

TEST_F(EmptySemaphoreNodes, AreToldFromOthers) {
  const TestGraph graph;
  CUgraphNode empty = nullptr;
  ASSERT_SUCCESS(CU(cuGraphAddEmptyNode)(&empty, graph.get(), nullptr, 0));
  CUDA_EXT_SEM_SIGNAL_NODE_PARAMS signals{};
  CUDA_EXT_SEM_WAIT_NODE_PARAMS waits{};
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuGraphExternalSemaphoresSignalNodeGetParams)(empty, &signals));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuGraphExternalSemaphoresSignalNodeSetParams)(empty, &signals));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuGraphExternalSemaphoresWaitNodeGetParams)(empty, &waits));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuGraphExternalSemaphoresWaitNodeSetParams)(empty, &waits));
  CUgraphNode node = nullptr;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    CU(cuGraphAddExternalSemaphoresSignalNode)(&node, graph.get(), nullptr, 0, nullptr));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    CU(cuGraphAddExternalSemaphoresWaitNode)(&node, graph.get(), nullptr, 0, nullptr));
}

// CUDA's list of what a body may have does not include them.
TEST_F(EmptySemaphoreNodes, AreNotInBodies) {
  const TestGraph graph;
  CUgraphConditionalHandle handle = 0;
  ASSERT_SUCCESS(CU(cuGraphConditionalHandleCreate)(&handle, graph.get(), context_, 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
  CUgraphNodeParams params{};
  params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  params.conditional.handle = handle;
  params.conditional.type = CU_GRAPH_COND_TYPE_IF;
  params.conditional.size = 1;
  params.conditional.ctx = context_;
  CUgraphNode node = nullptr;
  ASSERT_SUCCESS(CU(cuGraphAddNode)(&node, graph.get(), nullptr, nullptr, 0, &params));
  add(params.conditional.phGraph_out[0], false);
  CUgraphExec exec = nullptr;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuGraphInstantiateWithFlags)(&exec, graph.get(), 0));
}

TEST_F(EmptySemaphoreNodes, AreNotInGraphsThatKernelsLaunch) {
  const TestGraph graph;
  add(graph.get(), false);
  CUgraphExec exec = nullptr;
  EXPECT_NE(CU(cuGraphInstantiateWithFlags)(&exec, graph.get(), CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH),
            CUDA_SUCCESS);
}

// ---- Order

// A graph that waits in one branch goes on in the others.
TEST_F(SemaphoreNodes, HoldUpTheirOwnBranchOnly) {
  const Semaphores semaphores(begun_, ended_, timeline_);
  const TestGraph graph;
  const CUgraphNode wait = add_wait(graph.get(), {}, semaphores.begin.get());
  add_node(graph.get(), {wait}, 1, 0);
  const CUgraphNode free = add_node(graph.get(), {}, 1, 1);
  add_signal(graph.get(), {free}, semaphores.line.get(), 1);
  const TestGraphExec exec(graph.get());
  const TestStream stream;
  ASSERT_SUCCESS(CU(cuGraphLaunch)(exec.get(), stream.get()));
  timeline_.wait(1);
  EXPECT_EQ(peek(&value(1)), 1);
  EXPECT_EQ(peek(&value(0)), 0);
  begun_.add();
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_EQ(value(0), 1);
}

}  // namespace
}  // namespace conformance
