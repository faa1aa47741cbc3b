// What green contexts are made of: a device's multiprocessors, and how they are divided.
#include <algorithm>
#include <span>

#include "softgpu/api/work/contexts.hpp"
#include "softgpu/runtime/base/device.hpp"

namespace softgpu::api {
namespace {

using runtime::MultiprocessorResource;
using runtime::PartitionRules;
using runtime::ResourceBook;

ResourceBook& resource_book() { return Driver::get().work().resources; }

MultiprocessorResource resource_of(const runtime::GreenContext& green) {
  return {.device = static_cast<unsigned>(green.context().device().ordinal()),
          .multiprocessors = green.multiprocessors(),
          .rules = green.rules(),
          .division = 0};
}

void give_resource(CUdevResource* resource, CUdevResourceType type, const MultiprocessorResource& described) {
  require_pointer(resource);
  require(type == CU_DEV_RESOURCE_TYPE_SM, CUDA_ERROR_INVALID_RESOURCE_TYPE, "devices have multiprocessors to divide");
  *resource = resource_book().describe(described);
}

PartitionRules finest_rules_of(const MultiprocessorResource& resource) {
  const auto& device = Driver::get().device(static_cast<int>(resource.device));
  return runtime::finest_rules(static_cast<unsigned>(device.multiprocessors()));
}

// Flags that there are not are ignored, as NVIDIA's driver does. Those for the largest clusters change which
// multiprocessors a group has, and not how many.
PartitionRules rules_for(const MultiprocessorResource& input, unsigned flags) {
  constexpr unsigned kFine = CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING;
  constexpr unsigned kClusters = CU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE;
  require((flags & kFine) == 0 || (flags & kClusters) == 0, CUDA_ERROR_INVALID_VALUE,
          "two flags that exclude each other");
  return (flags & kFine) != 0 ? finest_rules_of(input) : input.rules;
}

void split_by_count(CUdevResource* result, unsigned* groups, const CUdevResource& from, CUdevResource* remaining,
                    unsigned flags, unsigned least) {
  MultiprocessorResource rest = resource_book().read(from);
  require(rest.division == 0, CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
          "a part of a division can't be divided again: make a green context of it, and ask that for its resource");
  const unsigned available = rest.multiprocessors.count();
  require(result == nullptr || *groups > 0, CUDA_ERROR_INVALID_VALUE, "no groups");
  const PartitionRules rules = rules_for(rest, flags);
  const unsigned most = result != nullptr ? *groups : available;
  const runtime::EqualParts parts = runtime::equal_parts(available, rules, most, least);
  require(parts.count > 0, CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION, "more multiprocessors in a group than there are");
  *groups = parts.count;
  if (result == nullptr) return;
  const std::uint64_t division = resource_book().new_division();
  for (CUdevResource& group : std::span(result, parts.count))
    group = resource_book().describe({rest.device, rest.multiprocessors.take(parts.size), rules, division});
  rest.division = division;
  rest.rules = finest_rules_of(rest);  // nobody knows what of it is scheduled together
  if (remaining != nullptr) *remaining = resource_book().describe(rest);
}

}  // namespace
}  // namespace softgpu::api

using namespace softgpu::api;

extern "C" {

CUresult cuDeviceGetDevResource(CUdevice device, CUdevResource* resource, CUdevResourceType type) {
  return call(__func__, [&] { give_resource(resource, type, ResourceBook::whole(Driver::get().device(device))); });
}

CUresult cuCtxGetDevResource(CUcontext context, CUdevResource* resource, CUdevResourceType type) {
  return call(__func__, [&] {
    const auto found = find_context(context);
    const auto green = Driver::get().work().green_contexts.find(context);
    give_resource(resource, type, green != nullptr ? resource_of(*green) : ResourceBook::whole(found->device()));
  });
}

CUresult cuGreenCtxGetDevResource(CUgreenCtx green, CUdevResource* resource, CUdevResourceType type) {
  return call(__func__, [&] { give_resource(resource, type, resource_of(*find_green(green))); });
}

CUresult cuDevSmResourceSplitByCount(CUdevResource* result, unsigned* groups, const CUdevResource* input,
                                     CUdevResource* remaining, unsigned flags, unsigned least) {
  return call(__func__, [&] {
    require_pointer(groups);
    require_pointer(input, "no resource to divide");
    split_by_count(result, groups, *input, remaining, flags, least);
  });
}

CUresult cuDevResourceGenerateDesc(CUdevResourceDesc* descriptor, CUdevResource* resources, unsigned count) {
  return call(__func__, [&] {
    require_pointer(descriptor);
    require(resources != nullptr && count > 0, CUDA_ERROR_INVALID_VALUE, "no resources");
    *descriptor = resource_book().make_descriptor({resources, count});
  });
}

}  // extern "C"
