// What conditional nodes look at.
#pragma once

#include <cstddef>
#include <cuprum/detail/export.hpp>
#include <functional>

namespace cuprum::inline CUPRUM_ABI::graph {

/// A number that belongs to a graph. Kernels of the graph set it with cudaGraphSetConditional, for which it is an
/// argument of type cudaGraphConditionalHandle; conditional nodes decide by it what runs. A plain value, which owns
/// nothing. Made by GraphDefinition::create_condition and GraphBuilder::create_condition.
class GraphCondition {
 public:
  /// Wraps a CUgraphConditionalHandle of <cuda.h>.
  static constexpr GraphCondition from_handle(unsigned long long handle) { return GraphCondition(handle); }

  /// What the driver and kernels know it by.
  constexpr unsigned long long handle() const { return handle_; }
  friend constexpr bool operator==(const GraphCondition&, const GraphCondition&) = default;

 private:
  explicit constexpr GraphCondition(unsigned long long handle) : handle_(handle) {}
  unsigned long long handle_;  // nothing else: kernels take the whole object as their argument
};

}  // namespace cuprum::inline CUPRUM_ABI::graph

/// By the handle, as conditions are compared.
template <>
struct std::hash<cuprum::graph::GraphCondition> {
  std::size_t operator()(const cuprum::graph::GraphCondition& condition) const noexcept {
    return std::hash<unsigned long long>()(condition.handle());
  }
};
