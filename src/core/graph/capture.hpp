// What the driver knows of a capture.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/graph/node_params.hpp"
#include "core/graph/resources.hpp"

namespace cuprum::core {

/// Where a stream is in a capture: behind which nodes what is queued on it next will come.
struct CapturePoint {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  CUgraph graph = nullptr;
  std::vector<CUgraphNode> after = {};
  std::vector<CUgraphEdgeData> edges = {};
};

CapturePoint capture_point(const Stream& stream);

void begin_capture(detail::GraphBuilderResource& builder, graph::CaptureMode mode);

/// Throws WrongState when a conditional body is not as it was meant to be: before the capture ends.
void check_bodies(detail::GraphBuilderResource& builder);

/// Ends it; throws when it was broken, with the call that did it. The stream is usable then, and the builder can begin
/// anew.
void end_capture(detail::GraphBuilderResource& builder);

/// Adds a node where the stream is, and moves the stream behind it. Throws InvalidArgument when nothing is captured.
/// `complete`, if there is one, is done in between: the graph will not have the node when it throws.
std::shared_ptr<detail::NodeRecord> add_captured_node(
    detail::GraphBuilderResource& builder, const char* doing, NodeRequest& request,
    const std::function<void(const detail::NodeRecord&)>& complete = {});

}  // namespace cuprum::core
