#include "softgpu/exec/conditional_values.hpp"

namespace softgpu::exec {

ConditionalValues& ConditionalValues::all() {
  static auto& values = *new ConditionalValues;  // kernels may run until the process is gone
  return values;
}

std::uint64_t ConditionalValues::add() {
  const std::scoped_lock lock(mutex_);
  values_.emplace(next_, 0);
  return next_++;
}

void ConditionalValues::remove(std::uint64_t handle) {
  const std::scoped_lock lock(mutex_);
  values_.erase(handle);
}

bool ConditionalValues::set(std::uint64_t handle, std::uint32_t value) {
  const std::scoped_lock lock(mutex_);
  const auto it = values_.find(handle);
  if (it == values_.end()) return false;
  it->second = value;
  return true;
}

std::optional<std::uint32_t> ConditionalValues::get(std::uint64_t handle) const {
  const std::scoped_lock lock(mutex_);
  const auto it = values_.find(handle);
  return it != values_.end() ? std::optional(it->second) : std::nullopt;
}

}  // namespace softgpu::exec
