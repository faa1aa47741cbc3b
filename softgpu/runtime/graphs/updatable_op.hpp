// The Op of a kernel node that other kernels may have changed until its turn comes.
#pragma once

#include "softgpu/runtime/graphs/graph_node.hpp"

namespace softgpu::runtime {

// The work's `updatable` says what to do with the function, and whether. `queue`: of the launch.
OpRef make_updatable_op(KernelWork work, const void* queue, std::shared_ptr<exec::DeviceGraphs> graphs);

}  // namespace softgpu::runtime
