#include "core/stream/graph_changes.hpp"

namespace cuprum::core {
namespace {

// Never destroyed: buffers go until the end of the process.
std::mutex& turns() {
  static auto* const mutex = new std::mutex;
  return *mutex;
}

}  // namespace

GraphChange::GraphChange() noexcept {
  if (is_something_captured()) turn_ = std::unique_lock(turns());
}

void QueuingWork::enter() noexcept { turn_ = std::unique_lock(turns()); }

}  // namespace cuprum::core
