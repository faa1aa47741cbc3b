#include "softgpu/runtime/work/device_resources.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "softgpu/runtime/base/device.hpp"
#include "softgpu/runtime/base/error.hpp"

namespace softgpu::runtime {
namespace {

// What the driver's own part of the struct holds.
struct Inside {
  std::array<char, 8> mark;
  std::uint64_t division;
  std::uint32_t device, set, smallest, alignment;
};
constexpr std::array<char, 8> kMark = {'s', 'o', 'f', 't', 'g', 'p', 'u', '1'};
static_assert(sizeof(Inside) <= sizeof(CUdevResource::_internal_padding));

// What the program sees.
CUdevResource shown(const Inside& inside, unsigned count) {
  CUdevResource resource{};
  std::memcpy(resource._internal_padding, &inside, sizeof inside);
  resource.type = CU_DEV_RESOURCE_TYPE_SM;
  resource.sm.smCount = count;
  const bool is_part = inside.division != 0;
  resource.sm.minSmPartitionSize = is_part ? 0 : inside.smallest;
  resource.sm.smCoscheduledAlignment = is_part ? 0 : inside.alignment;
  return resource;
}

bool is_same(const CUdevResource& a, const CUdevResource& b) {
  return a.type == b.type && std::memcmp(a._internal_padding, b._internal_padding, sizeof a._internal_padding) == 0 &&
         std::memcmp(a._oversize, b._oversize, sizeof a._oversize) == 0;
}

}  // namespace

MultiprocessorResource ResourceBook::whole(const Device& device) {
  const auto count = static_cast<unsigned>(device.multiprocessors());
  return {.device = static_cast<unsigned>(device.ordinal()),
          .multiprocessors = MultiprocessorSet::first(count),
          .rules = partition_rules(device.compute_capability(), count),
          .division = 0};
}

std::uint32_t ResourceBook::number_of(const MultiprocessorSet& multiprocessors) {
  const auto [entry, is_new] = numbers_.try_emplace(multiprocessors, static_cast<std::uint32_t>(sets_.size()));
  if (is_new) sets_.push_back(multiprocessors);
  return entry->second;
}

CUdevResource ResourceBook::describe(const MultiprocessorResource& resource) {
  const unsigned count = resource.multiprocessors.count();
  if (count == 0) return {};
  const std::scoped_lock lock(mutex_);
  const Inside inside{kMark,
                      resource.division,
                      resource.device,
                      number_of(resource.multiprocessors),
                      resource.rules.smallest,
                      resource.rules.alignment};
  return shown(inside, count);
}

MultiprocessorResource ResourceBook::read(const CUdevResource& resource) const {
  require(resource.type == CU_DEV_RESOURCE_TYPE_SM, CUDA_ERROR_INVALID_RESOURCE_TYPE,
          "the resource is none of multiprocessors");
  Inside inside;
  std::memcpy(&inside, resource._internal_padding, sizeof inside);
  const std::scoped_lock lock(mutex_);
  const bool is_known = inside.mark == kMark && inside.set < sets_.size();
  require(is_known && is_same(resource, shown(inside, sets_[inside.set].count())),
          CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION, "the resource was not made by the driver, or was changed since");
  return {.device = inside.device,
          .multiprocessors = sets_[inside.set],
          .rules = {inside.smallest, inside.alignment},
          .division = inside.division};
}

std::uint64_t ResourceBook::new_division() {
  const std::scoped_lock lock(mutex_);
  return ++divisions_;
}

CUdevResourceDesc ResourceBook::make_descriptor(std::span<const CUdevResource> resources) {
  MultiprocessorResource all = read(resources.front());
  for (const CUdevResource& one : resources.subspan(1)) {
    const MultiprocessorResource more = read(one);
    require(more.device == all.device, CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
            "the resources are of different devices");
    all.multiprocessors.add(more.multiprocessors);
    if (more.rules.alignment < all.rules.alignment) all.rules = more.rules;
  }
  all.division = 0;
  const std::scoped_lock lock(mutex_);
  const DescriptorKey key{all.device, number_of(all.multiprocessors), all.rules.smallest, all.rules.alignment};
  return reinterpret_cast<CUdevResourceDesc>(&descriptors_.try_emplace(key, std::move(all)).first->second);
}

MultiprocessorResource ResourceBook::read(CUdevResourceDesc descriptor) const {
  const std::scoped_lock lock(mutex_);
  const auto found = std::find_if(descriptors_.begin(), descriptors_.end(), [&](const auto& entry) {
    return reinterpret_cast<CUdevResourceDesc>(const_cast<MultiprocessorResource*>(&entry.second)) == descriptor;
  });
  require(found != descriptors_.end(), CUDA_ERROR_INVALID_VALUE, "not a descriptor of resources");
  return found->second;
}

}  // namespace softgpu::runtime
