// Seeing when memory and graphs go, for tests of who keeps them.
#pragma once

#include <cuprum/buffer.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/graph/definition.hpp>
#include <functional>

namespace cuprum::inline CUPRUM_ABI::detail {

/// A function that says whether anybody still keeps the buffer's memory: its handles, parts of it, graphs. The function
/// keeps nothing. Throws InvalidArgument for a buffer that is closed.
CUPRUM_API std::function<bool()> observe(const Buffer& buffer);

/// The same for a graph, which its nodes keep, too, and those of the graphs in it.
CUPRUM_API std::function<bool()> observe(const graph::GraphDefinition& graph);

}  // namespace cuprum::inline CUPRUM_ABI::detail
