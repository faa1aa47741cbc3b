#include "softgpu/exec/updatable_nodes.hpp"

#include <cstring>
#include <unordered_map>
#include <utility>

namespace softgpu::exec {
namespace {

struct Nodes {
  std::mutex mutex;
  // An arbitrary start: small numbers that a kernel passes by mistake are not handles.
  std::uint64_t next = 0x5fd0000000000001;
  std::unordered_map<std::uint64_t, UpdatableNode*> by_handle;
};

Nodes& all_nodes() {
  static auto& nodes = *new Nodes;  // kernels may run until the process is gone
  return nodes;
}

std::uint64_t add(UpdatableNode& node) {
  Nodes& nodes = all_nodes();
  const std::scoped_lock lock(nodes.mutex);
  nodes.by_handle.emplace(nodes.next, &node);
  return nodes.next++;
}

bool is_grid(const abi::Dim3& grid) {
  constexpr unsigned kMostX = 0x7fffffff, kMost = 65535;
  return grid.x != 0 && grid.y != 0 && grid.z != 0 && grid.x <= kMostX && grid.y <= kMost && grid.z <= kMost;
}

// `change(node)` if there is one.
template <typename Change>
bool change_node(std::uint64_t handle, Change&& change) {
  Nodes& nodes = all_nodes();
  const std::scoped_lock lock(nodes.mutex);
  const auto found = nodes.by_handle.find(handle);
  return found != nodes.by_handle.end() && change(*found->second);
}

}  // namespace

UpdatableNode::UpdatableNode() : handle_(add(*this)) {}

UpdatableNode::~UpdatableNode() {
  Nodes& nodes = all_nodes();
  const std::scoped_lock lock(nodes.mutex);
  nodes.by_handle.erase(handle_);
}

UpdatableNode::State UpdatableNode::state() const {
  const std::scoped_lock lock(all_nodes().mutex);
  return state_;
}

void UpdatableNode::set(std::vector<std::byte> arguments, abi::Dim3 grid) {
  const std::scoped_lock lock(all_nodes().mutex);
  state_.arguments = std::move(arguments);
  state_.grid = grid;
}

void UpdatableNode::set_enabled(bool enabled) { set_enabled(handle_, enabled); }

bool UpdatableNode::has_arguments(std::uint64_t handle, std::uint64_t offset, std::uint64_t size) {
  return change_node(handle, [&](const UpdatableNode& node) {
    const std::size_t end = node.state_.arguments.size();
    return offset <= end && size <= end - offset;
  });
}

bool UpdatableNode::write_arguments(std::uint64_t handle, std::uint64_t offset, const void* value, std::uint64_t size) {
  return change_node(handle, [&](UpdatableNode& node) {
    std::vector<std::byte>& arguments = node.state_.arguments;
    if (offset > arguments.size() || size > arguments.size() - offset) return false;
    std::memcpy(arguments.data() + offset, value, size);
    return true;
  });
}

bool UpdatableNode::set_grid(std::uint64_t handle, abi::Dim3 grid) {
  return is_grid(grid) && change_node(handle, [&](UpdatableNode& node) {
           node.state_.grid = grid;
           return true;
         });
}

bool UpdatableNode::set_enabled(std::uint64_t handle, bool enabled) {
  return change_node(handle, [&](UpdatableNode& node) {
    node.state_.enabled = enabled;
    return true;
  });
}

}  // namespace softgpu::exec
