// What programs set for a stream beside its order. Most of it is for a GPU's caches and fabric: kept and reported.
#pragma once

#include <cuda.h>

#include <map>
#include <mutex>

namespace softgpu::runtime {

// Thread-safe.
class StreamAttributes {
 public:
  explicit StreamAttributes(int priority) { values_[CU_LAUNCH_ATTRIBUTE_PRIORITY].priority = priority; }

  // Both throw CUDA_ERROR_INVALID_VALUE; set() also for values that are out of range.
  CUstreamAttrValue get(CUstreamAttrID attribute) const;
  void set(CUstreamAttrID attribute, const CUstreamAttrValue& value);
  void copy_from(const StreamAttributes& other);

  int priority() const { return get(CU_LAUNCH_ATTRIBUTE_PRIORITY).priority; }

 private:
  mutable std::mutex mutex_;
  std::map<CUstreamAttrID, CUstreamAttrValue> values_;  // what is not there has its default
};

// The value that a priority outside of the range stands for.
int clamped_priority(int priority);

}  // namespace softgpu::runtime
