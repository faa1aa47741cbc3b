#include <cuprum/detail/observe.hpp>
#include <memory>

#include "core/graph/resources.hpp"
#include "core/memory/buffer_resource.hpp"

namespace cuprum::inline CUPRUM_ABI::detail {

std::function<bool()> observe(const Buffer& buffer) {
  Kept<BufferResource> memory = Access::keep(buffer);
  if (memory->whole) memory = memory->whole;
  SharedState& state = memory.shared();
  state.add_part();
  const std::shared_ptr<SharedState> observed(&state, [](SharedState* seen) { seen->drop_part(); });
  return [observed] { return !observed->is_given_back(); };
}

std::function<bool()> observe(const graph::GraphDefinition& graph) {
  std::weak_ptr<const GraphResource> observed = GraphAccess::shared_graph(graph);
  return [observed = std::move(observed)] { return !observed.expired(); };
}

}  // namespace cuprum::inline CUPRUM_ABI::detail
