#include <gtest/gtest.h>

#include <utility>

#include "softgpu/runtime/memory/context_memory.hpp"
#include "softgpu/runtime/memory/memory_operations.hpp"
#include "softgpu/runtime/work/context.hpp"
#include "unit/softgpu_runtime/services.hpp"

namespace softgpu::runtime {
namespace {

class AllocateTest : public testing::Test {
 protected:
  Services services_;
  MemoryServices& memory_ = services_.memory;
  const std::shared_ptr<Context> context_ = Context::create(services_.work, services_.devices.at(0), 0, false);
};

TEST_F(AllocateTest, AsksOthersToGiveMemoryBackWhenThereIsNoMore) {
  const CUdeviceptr held = allocate_device(memory_, *context_, kDeviceBytes);
  bool asked = false;
  memory_.reclaimers.emplace_back([&] {
    if (!std::exchange(asked, true)) free_device(memory_, held);
  });
  const CUdeviceptr next = allocate_device(memory_, *context_, kDeviceBytes);
  EXPECT_TRUE(asked);
  EXPECT_THROW(allocate_device(memory_, *context_, kDeviceBytes), memory::OutOfMemory);  // nothing left to give back
  free_device(memory_, next);
}

TEST_F(AllocateTest, MemoryOfAContextGoesWithIt) {
  const auto other = Context::create(services_.work, services_.devices.at(0), 0, false);
  const CUdeviceptr mine = allocate_device(memory_, *context_, 4096);
  const CUdeviceptr others = allocate_device(memory_, *other, 4096);
  release_memory_of(memory_, *context_);
  EXPECT_FALSE(memory_.allocations.find(to_pointer(mine)));
  EXPECT_TRUE(memory_.allocations.find(to_pointer(others)));
  free_device(memory_, others);
  EXPECT_EQ(services_.devices.at(0).heap()->used(), 0u);
}

}  // namespace
}  // namespace softgpu::runtime
