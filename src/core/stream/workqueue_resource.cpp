#include <cstring>
#include <cuprum/device.hpp>
#include <ostream>

#include "core/stream/device_resources.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI {

using detail::WorkqueueConfig;
using detail::WorkqueueResourceState;
using support::text;

WorkqueueResource WorkqueueResourceState::make(const CUdevResource& resource) {
  return WorkqueueResource(std::make_shared<WorkqueueResourceState>(resource));
}

WorkqueueResourceState& WorkqueueResourceState::required(const WorkqueueResource& resource) {
  if (!resource.state_) throw WrongState("an empty WorkqueueResource can't be used; get one from resources()");
  return *resource.state_;
}

WorkqueueConfig WorkqueueResourceState::config() const {
  WorkqueueConfig config;
  std::memcpy(&config, &resource.sm, sizeof config);  // all kinds of resources begin at the same place
  return config;
}

void WorkqueueResourceState::set_config(const WorkqueueConfig& config) {
  std::memcpy(&resource.sm, &config, sizeof config);
}

WorkqueueSharingScopeType WorkqueueResource::sharing_scope() const {
  const int scope = WorkqueueResourceState::required(*this).config().sharing_scope;
  switch (scope) {
    case 0: return WorkqueueSharingScopeType::device_ctx;
    case 1: return WorkqueueSharingScopeType::green_ctx_balanced;
  }
  throw NotSupported(text("reading who shares workqueues: the driver's answer ", scope, " is newer than this library"));
}

int WorkqueueResource::concurrency_limit() const {
  return static_cast<int>(WorkqueueResourceState::required(*this).config().concurrency_limit);
}

Device WorkqueueResource::device() const {
  return detail::Access::device(WorkqueueResourceState::required(*this).config().device);
}

void WorkqueueResource::configure(const WorkqueueResourceOptions& options) {
  WorkqueueResourceState& state = WorkqueueResourceState::required(*this);
  WorkqueueConfig config = state.config();
  if (options.concurrency_limit) {
    if (*options.concurrency_limit < 1) {
      throw InvalidArgument(
          text("configuring workqueues: concurrency_limit must be >= 1, got ", *options.concurrency_limit));
    }
    config.concurrency_limit = static_cast<unsigned>(*options.concurrency_limit);
  }
  if (options.sharing_scope) config.sharing_scope = static_cast<int>(*options.sharing_scope);
  state.set_config(config);
}

const CUdevResource_st* WorkqueueResource::handle() const noexcept { return state_ ? &state_->resource : nullptr; }

std::ostream& operator<<(std::ostream& out, const WorkqueueResource& resource) {
  if (!resource.handle()) return out << "no workqueues";
  const WorkqueueConfig config = WorkqueueResourceState::required(resource).config();
  return out << "workqueues of device " << config.device << ", shared by "
             << (config.sharing_scope == 0 ? "all contexts" : "no other balanced green context") << ", for "
             << config.concurrency_limit << " streams at once";
}

}  // namespace cuprum::inline CUPRUM_ABI
