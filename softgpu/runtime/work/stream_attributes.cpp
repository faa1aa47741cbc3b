#include "softgpu/runtime/work/stream_attributes.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "softgpu/runtime/base/error.hpp"
#include "softgpu/runtime/base/profile.hpp"

namespace softgpu::runtime {
namespace {

struct StreamAttribute {
  CUstreamAttrID which;
  void (*set_default)(CUstreamAttrValue& value);
  bool (*accepts)(const CUstreamAttrValue& value);
};

bool is_domain(int domain) {
  return domain == CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT || domain == CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE;
}

constexpr std::array kStreamAttributes = {
    StreamAttribute{CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, [](CUstreamAttrValue&) {},
                    [](const CUstreamAttrValue& value) {
                      const CUaccessPolicyWindow& window = value.accessPolicyWindow;
                      return window.num_bytes == 0 && window.hitRatio >= 0 &&
                             window.hitRatio <= 1;  // there is no such cache
                    }},
    StreamAttribute{
        CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY,
        [](CUstreamAttrValue& value) { std::memset(&value.syncPolicy, 0xff, sizeof value.syncPolicy); },  // none
        [](const CUstreamAttrValue& value) {
          return value.syncPolicy >= CU_SYNC_POLICY_AUTO && value.syncPolicy <= CU_SYNC_POLICY_BLOCKING_SYNC;
        }},
    StreamAttribute{CU_LAUNCH_ATTRIBUTE_PRIORITY, [](CUstreamAttrValue&) {},
                    [](const CUstreamAttrValue&) { return true; }},
    StreamAttribute{CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP,
                    [](CUstreamAttrValue& value) { value.memSyncDomainMap.remote = 1; },
                    [](const CUstreamAttrValue&) { return true; }},
    StreamAttribute{CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, [](CUstreamAttrValue&) {},
                    [](const CUstreamAttrValue& value) { return is_domain(value.memSyncDomain); }},
};

const StreamAttribute& row_of(CUstreamAttrID which) {
  for (const StreamAttribute& attribute : kStreamAttributes)
    if (attribute.which == which) return attribute;
  throw Failure(CUDA_ERROR_INVALID_VALUE, "no such attribute of a stream");
}

}  // namespace

CUstreamAttrValue StreamAttributes::get(CUstreamAttrID which) const {
  const StreamAttribute& attribute = row_of(which);
  const std::scoped_lock lock(mutex_);
  if (const auto it = values_.find(which); it != values_.end()) return it->second;
  CUstreamAttrValue value;
  std::memset(&value, 0, sizeof value);
  attribute.set_default(value);
  return value;
}

void StreamAttributes::set(CUstreamAttrID which, const CUstreamAttrValue& value) {
  require(row_of(which).accepts(value), CUDA_ERROR_INVALID_VALUE, "the attribute can't have this value");
  CUstreamAttrValue accepted = value;
  if (which == CU_LAUNCH_ATTRIBUTE_PRIORITY) accepted.priority = clamped_priority(value.priority);
  const std::scoped_lock lock(mutex_);
  values_[which] = accepted;
}

void StreamAttributes::copy_from(const StreamAttributes& other) {
  if (&other == this) return;
  const std::scoped_lock lock(mutex_, other.mutex_);
  values_ = other.values_;
}

int clamped_priority(int priority) { return std::clamp(priority, kGreatestPriority, kLeastPriority); }

}  // namespace softgpu::runtime
