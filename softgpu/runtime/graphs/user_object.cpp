#include "softgpu/runtime/graphs/user_object.hpp"

#include <algorithm>

#include "softgpu/runtime/base/error.hpp"

namespace softgpu::runtime {

void UserObject::release(unsigned count) {
  require(count <= references_.load(), CUDA_ERROR_INVALID_VALUE, "more references are released than there are");
  drop(count);
}

void UserObject::drop(unsigned count) noexcept {
  const auto keep = shared_from_this();
  unsigned before = references_.load();
  while (!references_.compare_exchange_weak(before, before - std::min(before, count))) {
  }
  if (before == 0 || before > count) return;
  handles_.remove(handle_);
  destroy_(data_);
}

UserObjects::UserObjects(const UserObjects& other) {
  const std::scoped_lock lock(other.mutex_);
  counts_ = other.counts_;
  for (const auto& [object, count] : counts_) object->retain(count);
}

UserObjects& UserObjects::operator=(UserObjects other) {
  swap(other);
  return *this;
}

UserObjects::~UserObjects() {
  for (const auto& [object, count] : counts_) object->drop(count);
}

void UserObjects::adopt(const std::shared_ptr<UserObject>& object, unsigned count) {
  const std::scoped_lock lock(mutex_);
  counts_[object] += count;
}

void UserObjects::release(const std::shared_ptr<UserObject>& object, unsigned count) {
  {
    const std::scoped_lock lock(mutex_);
    const auto it = counts_.find(object);
    require(it != counts_.end() && count <= it->second, CUDA_ERROR_INVALID_VALUE,
            "the graph has fewer references to the object");
    it->second -= count;
    if (it->second == 0) counts_.erase(it);
  }
  object->release(count);
}

}  // namespace softgpu::runtime
