#pragma once

#include <cuprum/graph.hpp>
#include <optional>

#include "core/graph/node_params.hpp"
#include "core/graph/resources.hpp"

namespace cuprum::core {

graph::Graph instantiate(detail::GraphResource& definition, const graph::GraphCompleteOptions& options);

graph::GraphCondition create_condition(const ContextRecord& context, CUgraph graph,
                                       std::optional<unsigned> default_value);

}  // namespace cuprum::core
