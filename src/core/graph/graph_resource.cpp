#include "core/base/deferred.hpp"
#include "core/base/release_in.hpp"
#include "core/graph/resources.hpp"
#include "driver/release.hpp"

namespace cuprum::inline CUPRUM_ABI::detail {

using driver::Api;

GraphResource::GraphResource(CUgraph the_handle, Ownership the_ownership, std::shared_ptr<const void> the_owner)
    : handle(the_handle), identity(the_handle), ownership(the_ownership), owner(std::move(the_owner)) {}

GraphResource::~GraphResource() {
  if (ownership == Ownership::ours && handle) driver::release<&Api::cuGraphDestroy>(handle);
  invalidate();
  core::destroy_deferred();
}

std::shared_ptr<NodeRecord> GraphResource::record(CUgraphNode node) {
  if (const auto known = records.find(node); known != records.end()) return known->second;
  return records.emplace(node, std::make_shared<NodeRecord>(NodeRecord{node})).first->second;
}

GraphResource& GraphResource::inner(CUgraph the_handle, CUgraphNode in_node) {
  for (const Inner& known : inner_graphs) {
    if (known.graph->handle == the_handle) return *known.graph;
  }
  gone.reserve(gone.size() + inner_graphs.size() + 1);  // so that forgetting them needs no memory
  inner_graphs.push_back({in_node, std::make_unique<GraphResource>(the_handle, Ownership::inner)});
  return *inner_graphs.back().graph;
}

void GraphResource::forget_inner(CUgraphNode node) noexcept {
  for (std::size_t i = inner_graphs.size(); i-- > 0;) {
    if (inner_graphs[i].in_node != node) continue;
    inner_graphs[i].graph->invalidate();
    gone.push_back(std::move(inner_graphs[i].graph));
    inner_graphs.erase(inner_graphs.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void GraphResource::forget(CUgraphNode node) noexcept {
  forget_inner(node);
  const auto known = records.find(node);
  if (known == records.end()) return;
  known->second->invalidate();
  records.erase(known);
}

void GraphResource::invalidate() noexcept {
  handle = nullptr;
  for (const Inner& inner : inner_graphs) inner.graph->invalidate();
  for (auto& [node, record] : records) record->invalidate();
  records.clear();
}

GraphExecResource::~GraphExecResource() {
  core::release_in<&Api::cuGraphExecDestroy>(context, handle);
  core::destroy_deferred();
}

}  // namespace cuprum::inline CUPRUM_ABI::detail
