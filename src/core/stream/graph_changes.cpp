#include "core/stream/graph_changes.hpp"

namespace cuprum::core {
namespace {

// Never destroyed: buffers go until the end of the process.
std::shared_mutex& graphs() {
  static auto* const mutex = new std::shared_mutex;
  return *mutex;
}

}  // namespace

GraphChange::GraphChange() noexcept {
  if (is_something_captured()) alone_ = std::unique_lock(graphs());
}

void QueuingWork::enter() noexcept { with_others_ = std::shared_lock(graphs()); }

}  // namespace cuprum::core
