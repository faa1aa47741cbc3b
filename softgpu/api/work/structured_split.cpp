// cuDevSmResourceSplit, which <cuda.h> has since CUDA 13.1.
#include <cuda.h>

#if CUDA_VERSION >= 13010

  #include <algorithm>
  #include <span>
  #include <vector>

  #include "softgpu/api/base/call.hpp"
  #include "softgpu/runtime/base/device.hpp"
  #include "softgpu/runtime/base/partition_groups.hpp"

namespace softgpu::api {
namespace {

using Groups = std::span<CU_DEV_SM_RESOURCE_GROUP_PARAMS>;

std::vector<unsigned> sizes_of(const runtime::MultiprocessorResource& whole, Groups groups) {
  const auto& device = Driver::get().device(static_cast<int>(whole.device));
  std::vector<runtime::GroupRequest> requests;
  for (const auto& group : groups) {
    require((group.flags & ~static_cast<unsigned>(CU_DEV_SM_RESOURCE_GROUP_BACKFILL)) == 0, CUDA_ERROR_INVALID_VALUE,
            "unknown flags of a group");
    requests.push_back({group.smCount, group.coscheduledSmCount, group.flags != 0});
  }
  auto sizes = runtime::group_sizes(whole.multiprocessors.count(), whole.rules,
                                    runtime::largest_unit(device.compute_capability()), requests);
  require(sizes.has_value(), CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
          "a group is no multiple of its unit, or does not fit");
  return *std::move(sizes);
}

void split_into_groups(CUdevResource* result, const CUdevResource& input, CUdevResource* remainder, Groups groups) {
  runtime::ResourceBook& book = Driver::get().work().resources;
  runtime::MultiprocessorResource rest = book.read(input);
  const std::vector<unsigned> sizes = sizes_of(rest, groups);
  require(result == nullptr || std::find(sizes.begin(), sizes.end(), 0U) == sizes.end(),
          CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION, "nothing is left for a group");
  const std::uint64_t division = book.new_division();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const unsigned unit = groups[i].coscheduledSmCount != 0 ? groups[i].coscheduledSmCount : rest.rules.alignment;
    const runtime::MultiprocessorSet taken = rest.multiprocessors.take(sizes[i]);
    groups[i].smCount = sizes[i];
    if (result == nullptr) continue;
    result[i] = book.describe({rest.device, taken, {unit, unit}, division});
    result[i].sm.flags = groups[i].flags;
  }
  rest.division = division;
  if (remainder != nullptr) *remainder = book.describe(rest);
}

}  // namespace
}  // namespace softgpu::api

using namespace softgpu::api;

extern "C" {

CUresult cuDevSmResourceSplit(CUdevResource* result, unsigned count, const CUdevResource* input,
                              CUdevResource* remainder, unsigned flags, CU_DEV_SM_RESOURCE_GROUP_PARAMS* groups) {
  return call(__func__, [&] {
    require_no_flags(flags);
    require_pointer(input, "no resource to divide");
    require(groups != nullptr && count > 0, CUDA_ERROR_INVALID_VALUE, "no groups");
    split_into_groups(result, *input, remainder, {groups, count});
  });
}

}  // extern "C"

#endif
