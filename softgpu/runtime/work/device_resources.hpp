// What a CUdevResource stands for.
//
// Programs copy these structs around and never give them back, and neither descriptors. So both are interned: the same
// multiprocessors always get the same number, and a program that divides its device for ever needs no more memory.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <span>

#include "softgpu/runtime/base/multiprocessors.hpp"

namespace softgpu::runtime {

class Device;

struct MultiprocessorResource {
  unsigned device = 0;
  MultiprocessorSet multiprocessors;
  PartitionRules rules;
  std::uint64_t division = 0;  // that it is a part of; 0: none, it was asked for
};

// Thread-safe.
class ResourceBook {
 public:
  // All of a device.
  static MultiprocessorResource whole(const Device& device);

  // A struct without multiprocessors is one of CU_DEV_RESOURCE_TYPE_INVALID. How finely a part of a division can be
  // divided is left out: only the context that is made of it can be.
  CUdevResource describe(const MultiprocessorResource& resource);
  // Throws CUDA_ERROR_INVALID_RESOURCE_TYPE for what are no multiprocessors, and
  // CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION for what describe() has not made.
  MultiprocessorResource read(const CUdevResource& resource) const;
  std::uint64_t new_division();

  // For all of them together, which may overlap. Throws CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION for those of two
  // devices.
  CUdevResourceDesc make_descriptor(std::span<const CUdevResource> resources);
  // Throws CUDA_ERROR_INVALID_VALUE for what is no descriptor.
  MultiprocessorResource read(CUdevResourceDesc descriptor) const;

 private:
  std::uint32_t number_of(const MultiprocessorSet& multiprocessors);  // under mutex_

  mutable std::mutex mutex_;
  std::map<MultiprocessorSet, std::uint32_t> numbers_;
  std::deque<MultiprocessorSet> sets_;  // by number
  struct DescriptorKey {
    unsigned device;
    std::uint32_t set;
    unsigned smallest, alignment;
    auto operator<=>(const DescriptorKey&) const = default;
  };
  // The address of an entry is the descriptor.
  std::map<DescriptorKey, MultiprocessorResource> descriptors_;
  std::uint64_t divisions_ = 0;
};

}  // namespace softgpu::runtime
