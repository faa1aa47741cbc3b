#include "core/stream/device_resources.hpp"

#include "core/base/empty_handle.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI {

using driver::Api;
using driver::Doing;
using support::text;

namespace detail {

DeviceResources ResourceSource::make(int device, Kept<ContextResource> context) {
  return DeviceResources(std::make_shared<const ResourceSource>(device, std::move(context)));
}

CUdevResource ResourceSource::ask(CUdevResourceType type, const char* what) const {
  const Doing doing{
      [&] { return text("asking for the ", what, " of ", context ? "a context on device " : "device ", device); }};
  CUdevResource resource{};
  if (!context)
    driver::call<&Api::cuDeviceGetDevResource>(doing, device, &resource, type);
  else if (const CUgreenCtx green = context->context.green.load(std::memory_order_relaxed))
    driver::call<&Api::cuGreenCtxGetDevResource>(doing, green, &resource, type);
  else
    driver::call<&Api::cuCtxGetDevResource>(doing, context->context.handle, &resource, type);
  return resource;
}

}  // namespace detail

SMResource DeviceResources::sm() const {
  const detail::ResourceSource& source = *core::not_empty(source_, "set of resources");
  return detail::SMResourceState::make(source.ask(CU_DEV_RESOURCE_TYPE_SM, "multiprocessors"), source.device);
}

WorkqueueResource DeviceResources::workqueue() const {
  constexpr int first_version = 13010;
  const detail::ResourceSource& source = *core::not_empty(source_, "set of resources");
  if (driver::info().version < first_version) {
    throw NotSupported(text("asking for the workqueues of device ", source.device,
                            ": the driver has to be of CUDA 13.1 or newer, this one is of CUDA ",
                            driver::info().version / 1000, ".", driver::info().version % 1000 / 10));
  }
  return detail::WorkqueueResourceState::make(source.ask(core::workqueue_config_type(), "workqueues"));
}

}  // namespace cuprum::inline CUPRUM_ABI

namespace cuprum::core {

using support::text;

namespace {

void check_device(int device, int actual) {
  if (actual == device) return;
  throw InvalidArgument(text("creating a green context on device ", device, ": a resource is of device ", actual,
                             "; ask resources() of this device"));
}

struct Checked {
  int device;

  CUdevResource operator()(const SMResource& resource) const {
    const auto& state = detail::SMResourceState::required(resource);
    check_device(device, state.device);
    if (state.use != detail::SMResourceState::Use::usable) {
      throw InvalidArgument(text("creating a green context on device ", device,
                                 state.use == detail::SMResourceState::Use::trial
                                     ? ": a dry-run SMResource has no multiprocessors; split again without dry_run"
                                     : ": there are no multiprocessors in this remainder"));
    }
    return state.resource;
  }
  CUdevResource operator()(const WorkqueueResource& resource) const {
    const auto& state = detail::WorkqueueResourceState::required(resource);
    check_device(device, state.config().device);
    return state.resource;
  }
};

}  // namespace

DeviceResources resources_of(int device) { return detail::ResourceSource::make(device, {}); }

DeviceResources resources_of(detail::Kept<detail::ContextResource> context) {
  const int device = context->context.device;
  return detail::ResourceSource::make(device, std::move(context));
}

std::vector<CUdevResource> checked_resources(int device, std::span<const DeviceResource> resources) {
  std::vector<CUdevResource> checked;
  for (const DeviceResource& resource : resources) checked.push_back(std::visit(Checked{device}, resource));
  return checked;
}

}  // namespace cuprum::core
