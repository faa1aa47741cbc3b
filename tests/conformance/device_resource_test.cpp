// How a device's multiprocessors are divided: what comes out, compared with the documented rules, and what is refused.
#include <algorithm>
#include <random>
#include <vector>

#include "conformance/driver.hpp"

namespace conformance {
namespace {

class DeviceResource : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    ASSERT_SUCCESS(CU(cuDeviceGetDevResource)(device_, &all_, CU_DEV_RESOURCE_TYPE_SM));
  }
  CUresult split(std::vector<CUdevResource>& groups, unsigned& count, unsigned least, unsigned flags = 0) {
    return CU(cuDevSmResourceSplitByCount)(groups.data(), &count, &all_, &rest_, flags, least);
  }

  CUdevResource all_{}, rest_{};
};

// What cuDevSmResourceSplitByCount documents: equal groups, each of the smallest size at least and a multiple of the
// alignment, as many as fit and are asked for; and what it does besides: one group of everything, when that is as much
// as is asked for but no multiple.
struct Model {
  unsigned count = 0, size = 0;

  // A GPU's clusters of multiprocessors have different numbers of them, so that fewer groups may fit: an H200 with 132
  // has 15 groups of 8.
  bool allows(unsigned made) const {
    return made == count || (!is_softgpu() && made < count && (made + 1) * size * 10 > count * size * 9);
  }
};
Model model(const CUdevSmResource& all, unsigned smallest, unsigned alignment, unsigned most, unsigned least) {
  if (least > all.smCount) return {};
  const unsigned wanted = std::max(least, smallest);
  const unsigned size = std::min(all.smCount, (wanted + alignment - 1) / alignment * alignment);
  return {std::min(most, all.smCount / size), size};
}

TEST_F(DeviceResource, IsAllOfADevice) {
  int multiprocessors = 0;
  ASSERT_SUCCESS(CU(cuDeviceGetAttribute)(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device_));
  EXPECT_EQ(all_.type, CU_DEV_RESOURCE_TYPE_SM);
  EXPECT_EQ(all_.sm.smCount, static_cast<unsigned>(multiprocessors));
  EXPECT_GE(all_.sm.minSmPartitionSize, 1U);
  EXPECT_GE(all_.sm.smCoscheduledAlignment, 1U);
  CUdevResource of_context{};
  ASSERT_SUCCESS(CU(cuCtxGetDevResource)(context_, &of_context, CU_DEV_RESOURCE_TYPE_SM));
  EXPECT_EQ(of_context.sm.smCount, all_.sm.smCount);
}

TEST_F(DeviceResource, HasTheGranularityOfItsComputeCapability) {
  int major = 0;
  ASSERT_SUCCESS(CU(cuDeviceGetAttribute)(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device_));
  if (major < 9 || all_.sm.smCount < 16)
    GTEST_SKIP() << "for devices of compute capability 9.0 with room for two groups";
  EXPECT_EQ(all_.sm.minSmPartitionSize, 8U);
  EXPECT_EQ(all_.sm.smCoscheduledAlignment, 8U);
}

TEST_F(DeviceResource, DividesIntoEqualGroupsAndARest) {
  const unsigned smallest = all_.sm.minSmPartitionSize;
  if (all_.sm.smCount < 2 * smallest) GTEST_SKIP() << "too few multiprocessors for two groups";
  std::vector<CUdevResource> groups(2);
  unsigned count = 2;
  ASSERT_SUCCESS(split(groups, count, smallest));
  ASSERT_EQ(count, 2U);
  for (const CUdevResource& group : groups) {
    EXPECT_EQ(group.type, CU_DEV_RESOURCE_TYPE_SM);
    EXPECT_EQ(group.sm.smCount, smallest);
  }
  EXPECT_EQ(rest_.sm.smCount, all_.sm.smCount - 2 * smallest);
  EXPECT_EQ(rest_.type, rest_.sm.smCount == 0 ? CU_DEV_RESOURCE_TYPE_INVALID : CU_DEV_RESOURCE_TYPE_SM);
}

TEST_F(DeviceResource, TellsHowManyGroupsThereWouldBe) {
  unsigned count = 0;
  ASSERT_SUCCESS(CU(cuDevSmResourceSplitByCount)(nullptr, &count, &all_, nullptr, 0, 0));
  const Model expected = model(all_.sm, all_.sm.minSmPartitionSize, all_.sm.smCoscheduledAlignment, ~0U, 0);
  EXPECT_TRUE(expected.allows(count)) << count << " groups, and not " << expected.count;
}

// 500 requests; which one failed is said by its number, as the seed is fixed.
TEST_F(DeviceResource, DividesAsDocumentedWhateverIsAskedFor) {
  std::mt19937 numbers(20260101);
  const auto random = [&](unsigned below) { return static_cast<unsigned>(numbers() % below); };
  for (int request = 0; request < 500; ++request) {
    const unsigned most = 1 + random(20), least = random(all_.sm.smCount + 5);
    const bool fine = random(3) == 0;
    const unsigned unit = std::min(2U, all_.sm.smCount);
    const Model expected =
        fine ? model(all_.sm, unit, unit, most, least)
             : model(all_.sm, all_.sm.minSmPartitionSize, all_.sm.smCoscheduledAlignment, most, least);
    SCOPED_TRACE("request " + std::to_string(request) + ": " + std::to_string(most) + " groups of " +
                 std::to_string(least) + (fine ? ", fine" : ""));
    std::vector<CUdevResource> groups(most);
    unsigned count = most;
    const CUresult result = split(groups, count, least, fine ? CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING : 0);
    if (expected.count == 0) {
      ASSERT_EQ(name_of(result), "CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION");
      continue;
    }
    ASSERT_SUCCESS(result);
    ASSERT_TRUE(expected.allows(count)) << count << " groups, and not " << expected.count;
    for (unsigned i = 0; i < count; ++i) ASSERT_EQ(groups[i].sm.smCount, expected.size);
    ASSERT_EQ(rest_.sm.smCount, all_.sm.smCount - count * expected.size);
  }
}

// The examples of NVIDIA's programming guide, for a device of 132 multiprocessors of compute capability 9.0.
TEST_F(DeviceResource, DividesAsTheProgrammingGuideShows) {
  if (all_.sm.smCount != 132 || all_.sm.smCoscheduledAlignment != 8) GTEST_SKIP() << "for devices like an H100";
  struct Example {
    unsigned groups, least, flags, made, size, rest;
  };
  for (const Example& e :
       {Example{2, 72, 0, 1, 72, 60}, Example{6, 11, 0, 6, 16, 36},
        Example{6, 11, CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING, 6, 12, 60}, Example{2, 7, 0, 2, 8, 116}}) {
    std::vector<CUdevResource> groups(e.groups);
    unsigned count = e.groups;
    ASSERT_SUCCESS(split(groups, count, e.least, e.flags));
    EXPECT_EQ(count, e.made);
    EXPECT_EQ(groups[0].sm.smCount, e.size);
    EXPECT_EQ(rest_.sm.smCount, e.rest);
  }
}

TEST_F(DeviceResource, IsNotDividedByWhatDoesNotFit) {
  std::vector<CUdevResource> groups(1);
  unsigned count = 1;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION, split(groups, count, all_.sm.smCount + 1));
  constexpr unsigned kBoth =
      CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING | CU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, split(groups, count, 0, kBoth));
  EXPECT_SUCCESS(split(groups, count, 0, 0x80));  // flags that there are not are ignored
  count = 0;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, split(groups, count, 0));
  count = 1;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    CU(cuDevSmResourceSplitByCount)(groups.data(), nullptr, &all_, &rest_, 0, 0));
  CUdevResource nothing{};
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_RESOURCE_TYPE,
                    CU(cuDevSmResourceSplitByCount)(groups.data(), &count, &nothing, &rest_, 0, 0));
}

TEST_F(DeviceResource, IsOfATypeThatThereIs) {
  CUdevResource resource{};
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_RESOURCE_TYPE,
                    CU(cuDeviceGetDevResource)(device_, &resource, CU_DEV_RESOURCE_TYPE_INVALID));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_DEVICE, CU(cuDeviceGetDevResource)(1000, &resource, CU_DEV_RESOURCE_TYPE_SM));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuDeviceGetDevResource)(device_, nullptr, CU_DEV_RESOURCE_TYPE_SM));
}

TEST_F(DeviceResource, GroupsCanNotBeDividedAgain) {
  std::vector<CUdevResource> groups(1);
  unsigned count = 1;
  ASSERT_SUCCESS(split(groups, count, 0));
  CUdevResource again{};
  count = 1;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
                    CU(cuDevSmResourceSplitByCount)(&again, &count, groups.data(), nullptr, 0, 0));
}

TEST_F(DeviceResource, DescriptorsMayBeOfTwoDivisions) {
  std::vector<CUdevResource> first(1), second(1);
  unsigned count = 1;
  ASSERT_SUCCESS(split(first, count, 0));
  count = 1;
  ASSERT_SUCCESS(split(second, count, 0));
  CUdevResourceDesc descriptor = nullptr;
  std::vector<CUdevResource> both = {first[0], second[0]};
  EXPECT_SUCCESS(CU(cuDevResourceGenerateDesc)(&descriptor, both.data(), 2));
  EXPECT_NE(descriptor, nullptr);
  if (is_softgpu()) {  // NVIDIA's driver ends in a bad access
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuDevResourceGenerateDesc)(&descriptor, both.data(), 0));
  }
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuDevResourceGenerateDesc)(nullptr, both.data(), 1));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuDevResourceGenerateDesc)(&descriptor, nullptr, 1));
  CUdevResource nothing{};
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_RESOURCE_TYPE, CU(cuDevResourceGenerateDesc)(&descriptor, &nothing, 1));
}

TEST_F(DeviceResource, GroupsLeaveOutHowTheyCouldBeDivided) {
  std::vector<CUdevResource> groups(1);
  unsigned count = 1;
  ASSERT_SUCCESS(split(groups, count, 0));
  EXPECT_EQ(groups[0].sm.minSmPartitionSize, 0U);
  EXPECT_EQ(groups[0].sm.smCoscheduledAlignment, 0U);
  EXPECT_EQ(rest_.sm.minSmPartitionSize, 0U);
  EXPECT_EQ(rest_.sm.smCoscheduledAlignment, 0U);
}

TEST_F(DeviceResource, IsRefusedWhenItWasChanged) {
  std::vector<CUdevResource> groups(1);
  unsigned count = 1;
  ASSERT_SUCCESS(split(groups, count, 0));
  const auto refused = [&](const CUdevResource& original, auto change) {
    CUdevResource changed = original;
    change(changed);
    CUdevResourceDesc descriptor = nullptr;
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
                      CU(cuDevResourceGenerateDesc)(&descriptor, &changed, 1));
    CUdevResource again{};
    unsigned one = 1;
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
                      CU(cuDevSmResourceSplitByCount)(&again, &one, &changed, nullptr, 0, 0));
  };
  for (const CUdevResource& original : {all_, groups[0]}) {
    refused(original, [](CUdevResource& resource) { resource.sm.minSmPartitionSize ^= 8; });
    refused(original, [](CUdevResource& resource) { resource.sm.smCoscheduledAlignment ^= 8; });
    refused(original, [](CUdevResource& resource) { resource.sm.smCount += 1; });
    refused(original, [](CUdevResource& resource) { resource._oversize[12] = 1; });
  }
}

}  // namespace
}  // namespace conformance
