// The Op of a conditional node.
#pragma once

#include <memory>

#include "softgpu/runtime/graphs/graph_steps.hpp"

namespace softgpu::runtime {

// Looks at the node's number when it is its turn, runs the body that the number chooses, if any, and is done when that
// is; a loop looks again.
OpRef make_conditional_op(const OpSettings& settings, std::shared_ptr<const NodeWork> work,
                          std::shared_ptr<const LaunchedBodies> bodies);

}  // namespace softgpu::runtime
