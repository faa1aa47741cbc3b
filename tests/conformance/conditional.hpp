// Conditional nodes of graphs for tests, and kernels that set what they look at.
#pragma once

#include <memory>
#include <vector>

#include "conformance/graph.hpp"

namespace conformance {

// set_condition(handle, int value)
// set_from(handle, int* address): to what is there
// count_down(handle, int* counter): one less, and whether anything is left
// The function that they call is declared here and defined by the driver.
inline constexpr const char* kConditionKernels = R"(
.version 8.0
.target sm_75
.address_size 64

.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);

.visible .entry set_condition(.param .u64 handle, .param .u32 value) {
  .reg .b32 %r1;
  .reg .b64 %rd1;
  ld.param.u64 %rd1, [handle];
  ld.param.u32 %r1, [value];
  {
    .param .b64 p0;
    .param .b32 p1;
    st.param.b64 [p0], %rd1;
    st.param.b32 [p1], %r1;
    call.uni cudaGraphSetConditional, (p0, p1);
  }
  ret;
}

.visible .entry set_from(.param .u64 handle, .param .u64 address) {
  .reg .b32 %r1;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [handle];
  ld.param.u64 %rd2, [address];
  cvta.to.global.u64 %rd2, %rd2;
  ld.volatile.global.u32 %r1, [%rd2];
  {
    .param .b64 p0;
    .param .b32 p1;
    st.param.b64 [p0], %rd1;
    st.param.b32 [p1], %r1;
    call.uni cudaGraphSetConditional, (p0, p1);
  }
  ret;
}

.visible .entry count_down(.param .u64 handle, .param .u64 counter) {
  .reg .pred %p;
  .reg .b32 %r<3>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [handle];
  ld.param.u64 %rd2, [counter];
  cvta.to.global.u64 %rd2, %rd2;
  ld.global.u32 %r1, [%rd2];
  sub.u32 %r1, %r1, 1;
  st.global.u32 [%rd2], %r1;
  setp.ne.u32 %p, %r1, 0;
  selp.u32 %r2, 1, 0, %p;
  {
    .param .b64 p0;
    .param .b32 p1;
    st.param.b64 [p0], %rd1;
    st.param.b32 [p1], %r2;
    call.uni cudaGraphSetConditional, (p0, p1);
  }
  ret;
}
)";

// A kernel of one thread as a node.
template <typename... Arguments>
CUgraphNode add_kernel(CUgraph graph, const std::vector<CUgraphNode>& after, CUfunction function,
                       Arguments... arguments) {
  void* pointers[sizeof...(arguments) + 1] = {&arguments..., nullptr};
  CUDA_KERNEL_NODE_PARAMS params{};
  params.func = function;
  params.gridDimX = params.gridDimY = params.gridDimZ = 1;
  params.blockDimX = params.blockDimY = params.blockDimZ = 1;
  params.kernelParams = pointers;
  CUgraphNode node = nullptr;
  EXPECT_SUCCESS(CU(cuGraphAddKernelNode)(&node, graph, after.data(), after.size(), &params));
  return node;
}

struct Conditional {
  CUgraphNode node = nullptr;
  std::vector<CUgraph> bodies;
};

class ConditionalTest : public GraphTest {
 protected:
  void SetUp() override {
    GraphTest::SetUp();
    conditions_ = std::make_unique<TestModule>(kConditionKernels);
    stream_ = std::make_unique<TestStream>();
  }
  void TearDown() override {
    stream_.reset();
    conditions_.reset();
    GraphTest::TearDown();
  }

  CUgraphConditionalHandle handle(CUgraph graph) const {
    CUgraphConditionalHandle handle = 0;
    EXPECT_SUCCESS(CU(cuGraphConditionalHandleCreate)(&handle, graph, context_, 0, 0));
    return handle;
  }
  CUgraphConditionalHandle handle(CUgraph graph, unsigned at_launch) const {
    CUgraphConditionalHandle handle = 0;
    EXPECT_SUCCESS(
        CU(cuGraphConditionalHandleCreate)(&handle, graph, context_, at_launch, CU_GRAPH_COND_ASSIGN_DEFAULT));
    return handle;
  }
  CUgraphNodeParams params(CUgraphConditionalHandle handle, CUgraphConditionalNodeType type, unsigned size) const {
    CUgraphNodeParams params{};
    params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    params.conditional.handle = handle;
    params.conditional.type = type;
    params.conditional.size = size;
    params.conditional.ctx = context_;
    return params;
  }
  Conditional add_conditional(CUgraph graph, const std::vector<CUgraphNode>& after, CUgraphConditionalHandle handle,
                              CUgraphConditionalNodeType type, unsigned size = 1) const {
    CUgraphNodeParams request = params(handle, type, size);
    Conditional added;
    EXPECT_SUCCESS(CU(cuGraphAddNode)(&added.node, graph, after.data(), nullptr, after.size(), &request));
    if (request.conditional.phGraph_out != nullptr)
      added.bodies.assign(request.conditional.phGraph_out, request.conditional.phGraph_out + size);
    added.bodies.resize(size);
    return added;
  }
  CUfunction condition(const char* name) const { return conditions_->function(name); }
  CUstream stream() const { return stream_->get(); }

  std::unique_ptr<TestModule> conditions_;
  std::unique_ptr<TestStream> stream_;
};

}  // namespace conformance
