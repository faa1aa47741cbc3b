// Random graphs leave the same memory as their nodes one by one.
//
// CONFORMANCE_GRAPH_SEEDS=first:count runs other seeds than those of the suite, in this process alone.
#include "support/random_graph.hpp"

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "conformance/conditional.hpp"
#include "conformance/semaphore.hpp"

namespace conformance {
namespace {

using namespace random_graph;
using Kind = RandomOperation::Kind;
constexpr int kCell = RandomProgram::kCell;

// mix(int* target, int* first, int number): target[i] = target[i] * 31 + first[i] + number
// set_masked(handle, int* address, int mask)
constexpr const char* kRandomKernels = R"(
.version 8.0
.target sm_75
.address_size 64

.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);

.visible .entry mix(.param .u64 target, .param .u64 first, .param .u32 number) {
  .reg .b32 %r<6>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [target];
  ld.param.u64 %rd2, [first];
  ld.param.u32 %r1, [number];
  cvta.to.global.u64 %rd1, %rd1;
  cvta.to.global.u64 %rd2, %rd2;
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd3, %r2, 4;
  add.u64 %rd4, %rd1, %rd3;
  add.u64 %rd5, %rd2, %rd3;
  ld.global.u32 %r3, [%rd4];
  ld.global.u32 %r4, [%rd5];
  mad.lo.u32 %r5, %r3, 31, %r4;
  add.u32 %r5, %r5, %r1;
  st.global.u32 [%rd4], %r5;
  ret;
}

.visible .entry set_masked(.param .u64 handle, .param .u64 address, .param .u32 mask) {
  .reg .b32 %r<3>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [handle];
  ld.param.u64 %rd2, [address];
  ld.param.u32 %r2, [mask];
  cvta.to.global.u64 %rd2, %rd2;
  ld.global.u32 %r1, [%rd2];
  and.b32 %r1, %r1, %r2;
  {
    .param .b64 p0;
    .param .b32 p1;
    st.param.b64 [p0], %rd1;
    st.param.b32 [p1], %r1;
    call.uni cudaGraphSetConditional, (p0, p1);
  }
  ret;
}
)";

struct HostCall {
  int* cell;
  int number;
  static void run(void* call) {
    const auto* self = static_cast<const HostCall*>(call);
    for (int i = 0; i < kCell; ++i)
      self->cell[i] = static_cast<int>(static_cast<unsigned>(self->cell[i]) * 3U + static_cast<unsigned>(self->number));
  }
};

// What all ways of running a program share.
class RandomRunner {
 public:
  explicit RandomRunner(CUcontext context) : context_(context) {
    EXPECT_SUCCESS(CU(cuEventRecord)(past_.get(), stream_.get()));
    EXPECT_SUCCESS(CU(cuStreamSynchronize)(stream_.get()));
  }

  CUcontext context() const { return context_; }
  CUstream stream() const { return stream_.get(); }
  CUevent past() const { return past_.get(); }
  CUevent future() const { return future_.get(); }
  CUfunction kernel(const char* name) const { return kernels_.function(name); }
  CUfunction count_down() const { return conditions_.function("count_down"); }

 private:
  const CUcontext context_;
  const TestModule kernels_{kRandomKernels}, conditions_{kConditionKernels};
  const TestStream stream_;
  const TestEvent past_, future_;
};

// The cells, where kernels, copies and the host can use them.
class Cells {
 public:
  Cells(const RandomProgram& program, std::uint32_t seed)
      : count_(static_cast<size_t>(program.cells * kCell)), memory_(count_) {
    for (size_t i = 0; i < count_; ++i) memory_[i] = static_cast<int>((seed + i) * 2654435761U);
  }
  int* host(int cell) const { return memory_.data() + cell * kCell; }
  CUdeviceptr device(int cell) const { return memory_.device() + static_cast<size_t>(cell) * kCell * sizeof(int); }
  std::vector<int> values() const { return {memory_.data(), memory_.data() + count_}; }

 private:
  const size_t count_;
  const PinnedMemory<int> memory_;
};

// One by one, in the order of the list.
class OneByOne {
 public:
  OneByOne(const RandomRunner& runner, const Cells& cells) : runner_(runner), cells_(cells) {}

  void run(const RandomList& list) {
    for (const RandomOperation& operation : list) run(operation);
  }

 private:
  void run(const RandomOperation& op) {
    const CUdeviceptr target = cells_.device(op.target), first = cells_.device(op.first);
    switch (op.kind) {
      case Kind::mix: mix(target, first, op.number); break;
      case Kind::fill:
        EXPECT_SUCCESS(CU(cuMemsetD32Async)(target, static_cast<unsigned>(op.number), kCell, runner_.stream()));
        break;
      case Kind::copy: copy(target, first); break;
      case Kind::host: {
        wait();
        HostCall call{cells_.host(op.target), op.number};
        HostCall::run(&call);
        break;
      }
      case Kind::scratch: {
        const DeviceMemory scratch(kCell * sizeof(int));
        EXPECT_SUCCESS(CU(cuMemsetD32Async)(scratch.get(), 0, kCell, runner_.stream()));
        mix(scratch.get(), first, op.number);
        copy(target, scratch.get());
        wait();
        break;
      }
      case Kind::handover:
        for (int i = 0; i < 2; ++i) mix(target, first, op.number);
        break;
      case Kind::child: run(op.lists[0]); break;
      case Kind::if_else:
      case Kind::switch_on: {
        wait();
        const unsigned value = static_cast<unsigned>(*cells_.host(op.first));
        const size_t chosen = op.kind == Kind::switch_on ? value & 3U : 1 - (value & 1U);
        if (chosen < op.lists.size()) run(op.lists[chosen]);
        break;
      }
      case Kind::loop:
        // As the kernel that counts down leaves it.
        EXPECT_SUCCESS(CU(cuMemsetD32Async)(target, static_cast<unsigned>(op.number), kCell, runner_.stream()));
        EXPECT_SUCCESS(CU(cuMemsetD32Async)(target, 0, 1, runner_.stream()));
        for (int i = 0; i < op.number; ++i) run(op.lists[0]);
        break;
      case Kind::empty:
      case Kind::record:
      case Kind::wait: break;
    }
    wait();
  }
  void mix(CUdeviceptr target, CUdeviceptr first, int number) const {
    EXPECT_SUCCESS(launch(runner_.kernel("mix"), 1, kCell, runner_.stream(), target, first, number));
  }
  void copy(CUdeviceptr target, CUdeviceptr source) const {
    EXPECT_SUCCESS(CU(cuMemcpyDtoDAsync)(target, source, kCell * sizeof(int), runner_.stream()));
  }
  void wait() const { EXPECT_SUCCESS(CU(cuStreamSynchronize)(runner_.stream())); }

  const RandomRunner& runner_;
  const Cells& cells_;
};

// Nodes, added to graphs one after the other. Returns the last one of each operation; what comes after the operation
// comes after that.
class Builder {
 public:
  Builder(const RandomRunner& runner, const Cells& cells) : runner_(runner), cells_(cells) {}

  void build(CUgraph graph, const RandomList& list) {
    const auto order = order_of(list);
    std::vector<CUgraphNode> last;
    for (size_t i = 0; i < list.size(); ++i) {
      std::vector<CUgraphNode> after;
      for (const size_t earlier : order[i]) after.push_back(last[earlier]);
      last.push_back(add(graph, after, list[i]));
    }
  }
  // Also for captures, which add conditional nodes and child graphs by hand.
  CUgraphNode add_nested(CUgraph graph, const std::vector<CUgraphNode>& after, const RandomOperation& op,
                         const std::function<void(CUgraph, const RandomList&)>& fill) {
    if (op.kind == Kind::child) return add_child(graph, after, op, fill);
    CUgraphConditionalHandle handle = 0;
    EXPECT_SUCCESS(CU(cuGraphConditionalHandleCreate)(&handle, graph, runner_.context(), op.number != 0,
                                                      op.kind == Kind::loop ? CU_GRAPH_COND_ASSIGN_DEFAULT : 0));
    CUgraphNodeParams params{};
    params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    params.conditional.handle = handle;
    params.conditional.size = static_cast<unsigned>(op.lists.size());
    params.conditional.ctx = runner_.context();
    CUgraphNode before = nullptr;
    if (op.kind == Kind::loop) {
      params.conditional.type = CU_GRAPH_COND_TYPE_WHILE;
      const CUgraphNode filled = add_fill(graph, after, cells_.device(op.target), op.number);
      // A loop inside of another one begins anew each time.
      before = add_masked(graph, {filled}, handle, op.target, -1);
    } else {
      const bool is_switch = op.kind == Kind::switch_on;
      params.conditional.type = is_switch ? CU_GRAPH_COND_TYPE_SWITCH : CU_GRAPH_COND_TYPE_IF;
      before = add_masked(graph, after, handle, op.first, is_switch ? 3 : 1);
    }
    CUgraphNode node = nullptr;
    EXPECT_SUCCESS(CU(cuGraphAddNode)(&node, graph, &before, nullptr, 1, &params));
    for (size_t i = 0; i < op.lists.size(); ++i) fill(params.conditional.phGraph_out[i], op.lists[i]);
    if (op.kind == Kind::loop) end_loop(params.conditional.phGraph_out[0], handle, op.target);
    return node;
  }
  // A new one, for one operation.
  const TestSemaphore& semaphore() { return semaphores_.emplace_back(kEventfdType, eventfd(0, EFD_CLOEXEC)); }
  HostCall* host_call(const RandomOperation& op) {
    return &calls_.emplace_back(HostCall{cells_.host(op.target), op.number});
  }

 private:
  CUgraphNode add(CUgraph graph, const std::vector<CUgraphNode>& after, const RandomOperation& op) {
    const CUdeviceptr target = cells_.device(op.target), first = cells_.device(op.first);
    CUgraphNode node = nullptr;
    switch (op.kind) {
      case Kind::mix: return add_mix(graph, after, target, first, op.number);
      case Kind::fill: return add_fill(graph, after, target, op.number);
      case Kind::copy: return add_copy(graph, after, target, first);
      case Kind::host: {
        const CUDA_HOST_NODE_PARAMS params{HostCall::run, host_call(op)};
        EXPECT_SUCCESS(CU(cuGraphAddHostNode)(&node, graph, after.data(), after.size(), &params));
        return node;
      }
      case Kind::empty: EXPECT_SUCCESS(CU(cuGraphAddEmptyNode)(&node, graph, after.data(), after.size())); return node;
      case Kind::record:
        EXPECT_SUCCESS(CU(cuGraphAddEventRecordNode)(&node, graph, after.data(), after.size(), runner_.future()));
        return node;
      case Kind::wait:
        EXPECT_SUCCESS(CU(cuGraphAddEventWaitNode)(&node, graph, after.data(), after.size(), runner_.past()));
        return node;
      case Kind::scratch: return add_scratch(graph, after, op);
      case Kind::handover: return add_handover(graph, after, op);
      default: return add_nested(graph, after, op, [this](CUgraph body, const RandomList& list) { build(body, list); });
    }
  }
  CUgraphNode add_mix(CUgraph graph, const std::vector<CUgraphNode>& after, CUdeviceptr target, CUdeviceptr first,
                      int number) const {
    void* arguments[] = {&target, &first, &number};
    CUDA_KERNEL_NODE_PARAMS params{};
    params.func = runner_.kernel("mix");
    params.gridDimX = params.gridDimY = params.gridDimZ = 1;
    params.blockDimX = kCell;
    params.blockDimY = params.blockDimZ = 1;
    params.kernelParams = arguments;
    CUgraphNode node = nullptr;
    EXPECT_SUCCESS(CU(cuGraphAddKernelNode)(&node, graph, after.data(), after.size(), &params));
    return node;
  }
  CUgraphNode add_masked(CUgraph graph, const std::vector<CUgraphNode>& after, CUgraphConditionalHandle handle,
                         int cell, int mask) const {
    return add_kernel(graph, after, runner_.kernel("set_masked"), handle, cells_.device(cell), mask);
  }
  CUgraphNode add_fill(CUgraph graph, const std::vector<CUgraphNode>& after, CUdeviceptr target, int number) const {
    CUDA_MEMSET_NODE_PARAMS params{};
    params.dst = target;
    params.value = static_cast<unsigned>(number);
    params.elementSize = sizeof(int);
    params.width = kCell;
    params.height = 1;
    CUgraphNode node = nullptr;
    EXPECT_SUCCESS(CU(cuGraphAddMemsetNode)(&node, graph, after.data(), after.size(), &params, runner_.context()));
    return node;
  }
  CUgraphNode add_copy(CUgraph graph, const std::vector<CUgraphNode>& after, CUdeviceptr target,
                       CUdeviceptr source) const {
    CUDA_MEMCPY3D params{};
    params.srcMemoryType = params.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    params.srcDevice = source;
    params.dstDevice = target;
    params.WidthInBytes = kCell * sizeof(int);
    params.Height = params.Depth = 1;
    CUgraphNode node = nullptr;
    EXPECT_SUCCESS(CU(cuGraphAddMemcpyNode)(&node, graph, after.data(), after.size(), &params, runner_.context()));
    return node;
  }
  CUgraphNode add_scratch(CUgraph graph, const std::vector<CUgraphNode>& after, const RandomOperation& op) const {
    CUDA_MEM_ALLOC_NODE_PARAMS request{};
    request.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    request.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    request.bytesize = kCell * sizeof(int);
    CUgraphNode allocated = nullptr, freed = nullptr;
    EXPECT_SUCCESS(CU(cuGraphAddMemAllocNode)(&allocated, graph, after.data(), after.size(), &request));
    const CUgraphNode filled = add_fill(graph, {allocated}, request.dptr, 0);
    const CUgraphNode mixed = add_mix(graph, {filled}, request.dptr, cells_.device(op.first), op.number);
    const CUgraphNode copied = add_copy(graph, {mixed}, cells_.device(op.target), request.dptr);
    EXPECT_SUCCESS(CU(cuGraphAddMemFreeNode)(&freed, graph, &copied, 1, request.dptr));
    return copied;
  }
  // Nothing but the semaphore orders the two halves.
  CUgraphNode add_handover(CUgraph graph, const std::vector<CUgraphNode>& after, const RandomOperation& op) {
    CUexternalSemaphore between = semaphore().get();
    const SignalParams signal{};
    const WaitParams wait{};
    const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS signal_params{&between, &signal, 1};
    const CUDA_EXT_SEM_WAIT_NODE_PARAMS wait_params{&between, &wait, 1};
    const CUdeviceptr target = cells_.device(op.target), first = cells_.device(op.first);
    const CUgraphNode mixed = add_mix(graph, after, target, first, op.number);
    CUgraphNode signalled = nullptr, waited = nullptr;
    EXPECT_SUCCESS(CU(cuGraphAddExternalSemaphoresSignalNode)(&signalled, graph, &mixed, 1, &signal_params));
    EXPECT_SUCCESS(CU(cuGraphAddExternalSemaphoresWaitNode)(&waited, graph, nullptr, 0, &wait_params));
    return add_mix(graph, {waited}, target, first, op.number);
  }
  CUgraphNode add_child(CUgraph graph, const std::vector<CUgraphNode>& after, const RandomOperation& op,
                        const std::function<void(CUgraph, const RandomList&)>& fill) const {
    const TestGraph child;
    fill(child.get(), op.lists[0]);
    CUgraphNode node = nullptr;
    EXPECT_SUCCESS(CU(cuGraphAddChildGraphNode)(&node, graph, after.data(), after.size(), child.get()));
    return node;
  }
  // Behind all that the body does.
  void end_loop(CUgraph body, CUgraphConditionalHandle handle, int counter) const {
    size_t count = 0;
    EXPECT_SUCCESS(CU(cuGraphGetNodes)(body, nullptr, &count));
    std::vector<CUgraphNode> nodes(count);
    EXPECT_SUCCESS(CU(cuGraphGetNodes)(body, nodes.data(), &count));
    add_kernel(body, nodes, runner_.count_down(), handle, cells_.device(counter));
  }

  const RandomRunner& runner_;
  const Cells& cells_;
  std::deque<HostCall> calls_;
  std::deque<TestSemaphore> semaphores_;
};

// The same from what streams are given.
class Capturer {
 public:
  Capturer(const RandomRunner& runner, const Cells& cells, Builder& builder)
      : runner_(runner), cells_(cells), builder_(builder) {}

  void capture(CUgraph graph, const RandomList& list) {
    std::vector<std::unique_ptr<TestStream>> streams;
    for (int i = 0; i < 3; ++i) streams.push_back(std::make_unique<TestStream>(CU_STREAM_NON_BLOCKING));
    const CUstream origin = streams[0]->get();
    EXPECT_SUCCESS(CU(cuStreamBeginCaptureToGraph)(origin, graph, nullptr, nullptr, 0, CU_STREAM_CAPTURE_MODE_RELAXED));
    const TestEvent forked;
    EXPECT_SUCCESS(CU(cuEventRecord)(forked.get(), origin));
    for (size_t i = 1; i < streams.size(); ++i)
      EXPECT_SUCCESS(CU(cuStreamWaitEvent)(streams[i]->get(), forked.get(), 0));
    const auto order = order_of(list);
    std::vector<std::unique_ptr<TestEvent>> done;
    for (size_t i = 0; i < list.size(); ++i) {
      const CUstream stream = streams[i % streams.size()]->get();
      for (const size_t earlier : order[i]) EXPECT_SUCCESS(CU(cuStreamWaitEvent)(stream, done[earlier]->get(), 0));
      put(stream, list[i]);
      done.push_back(std::make_unique<TestEvent>());
      EXPECT_SUCCESS(CU(cuEventRecord)(done.back()->get(), stream));
    }
    for (size_t i = 1; i < streams.size(); ++i) {
      const TestEvent joined;
      EXPECT_SUCCESS(CU(cuEventRecord)(joined.get(), streams[i]->get()));
      EXPECT_SUCCESS(CU(cuStreamWaitEvent)(origin, joined.get(), 0));
    }
    CUgraph captured = nullptr;
    EXPECT_SUCCESS(CU(cuStreamEndCapture)(origin, &captured));
    EXPECT_EQ(captured, graph);
  }

 private:
  void put(CUstream stream, const RandomOperation& op) {
    const CUdeviceptr target = cells_.device(op.target), first = cells_.device(op.first);
    switch (op.kind) {
      case Kind::mix: mix(stream, target, first, op.number); break;
      case Kind::fill:
        EXPECT_SUCCESS(CU(cuMemsetD32Async)(target, static_cast<unsigned>(op.number), kCell, stream));
        break;
      case Kind::copy: copy(stream, target, first); break;
      case Kind::host: EXPECT_SUCCESS(CU(cuLaunchHostFunc)(stream, HostCall::run, builder_.host_call(op))); break;
      case Kind::record:
        EXPECT_SUCCESS(CU(cuEventRecordWithFlags)(runner_.future(), stream, CU_EVENT_RECORD_EXTERNAL));
        break;
      case Kind::wait: EXPECT_SUCCESS(CU(cuStreamWaitEvent)(stream, runner_.past(), CU_EVENT_WAIT_EXTERNAL)); break;
      case Kind::scratch: {
        CUdeviceptr scratch = 0;
        EXPECT_SUCCESS(CU(cuMemAllocAsync)(&scratch, kCell * sizeof(int), stream));
        EXPECT_SUCCESS(CU(cuMemsetD32Async)(scratch, 0, kCell, stream));
        mix(stream, scratch, first, op.number);
        copy(stream, target, scratch);
        EXPECT_SUCCESS(CU(cuMemFreeAsync)(scratch, stream));
        break;
      }
      case Kind::handover: {
        const TestSemaphore& between = builder_.semaphore();
        mix(stream, target, first, op.number);
        between.signal(stream);
        between.wait(stream);
        mix(stream, target, first, op.number);
        break;
      }
      case Kind::empty: break;
      default: put_nested(stream, op);
    }
  }
  void put_nested(CUstream stream, const RandomOperation& op) {
    CUstreamCaptureStatus status{};
    CUgraph graph = nullptr;
    const CUgraphNode* after = nullptr;
    size_t count = 0;
    EXPECT_SUCCESS(CU(cuStreamGetCaptureInfo)(stream, &status, nullptr, &graph, &after, nullptr, &count));
    CUgraphNode node = builder_.add_nested(graph, {after, after + count}, op,
                                           [this](CUgraph body, const RandomList& list) { capture(body, list); });
    EXPECT_SUCCESS(
        CU(cuStreamUpdateCaptureDependencies)(stream, &node, nullptr, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
  }
  void mix(CUstream stream, CUdeviceptr target, CUdeviceptr first, int number) const {
    EXPECT_SUCCESS(launch(runner_.kernel("mix"), 1, kCell, stream, target, first, number));
  }
  static void copy(CUstream stream, CUdeviceptr target, CUdeviceptr source) {
    EXPECT_SUCCESS(CU(cuMemcpyDtoDAsync)(target, source, kCell * sizeof(int), stream));
  }

  const RandomRunner& runner_;
  const Cells& cells_;
  Builder& builder_;
};

class RandomGraphs : public DriverTest {
 protected:
  static constexpr int kMaxNodes = 200, kLaunches = 2;

  void check(const RandomRunner& runner, std::uint32_t seed) {
    SCOPED_TRACE("CONFORMANCE_GRAPH_SEEDS=" + std::to_string(seed) + ":1");
    const RandomProgram program = random_program(seed, kMaxNodes, is_softgpu() ? Semaphores::some : Semaphores::none);
    const Cells expected(program, seed);
    for (int i = 0; i < kLaunches; ++i) OneByOne(runner, expected).run(program.operations);
    for (const bool captured : {false, true}) {
      const Cells cells(program, seed);
      Builder builder(runner, cells);
      const TestGraph graph;
      if (captured)
        Capturer(runner, cells, builder).capture(graph.get(), program.operations);
      else
        builder.build(graph.get(), program.operations);
      const TestGraphExec exec(graph.get());
      for (int i = 0; i < kLaunches; ++i) ASSERT_SUCCESS(CU(cuGraphLaunch)(exec.get(), runner.stream()));
      ASSERT_SUCCESS(CU(cuStreamSynchronize)(runner.stream()));
      ASSERT_EQ(cells.values(), expected.values()) << (captured ? "captured" : "put together node by node");
    }
  }
  void check_seeds(std::uint32_t first, std::uint32_t count) {
    const RandomRunner runner(context_);
    for (std::uint32_t seed = first; seed < first + count && !HasFailure(); ++seed) check(runner, seed);
    EXPECT_SUCCESS(CU(cuDeviceGraphMemTrim)(device_));
  }
};

TEST_F(RandomGraphs, LeaveTheMemoryThatTheirNodesDo) {
  unsigned first = 1, count = 40;
  if (const char* seeds = std::getenv("CONFORMANCE_GRAPH_SEEDS")) {
    ASSERT_EQ(std::sscanf(seeds, "%u:%u", &first, &count), 2) << "CONFORMANCE_GRAPH_SEEDS is first:count";
  }
  check_seeds(first, count);
}

TEST_F(RandomGraphs, DISABLED_SomeSeeds) { check_seeds(1, 15); }

// A setting of softgpu, which other drivers don't look at.
TEST(RandomGraphsInOtherProcesses, DoSoWithAnyNumberOfWorkers) {
  for (const char* workers : {"SOFTGPU_WORKERS=1", "SOFTGPU_WORKERS=2", "SOFTGPU_WORKERS=8"})
    EXPECT_EQ(run_in_child("RandomGraphs.DISABLED_SomeSeeds", {workers}), 0) << workers;
}

}  // namespace
}  // namespace conformance
