// A device that runs out of memory, which takes long with a real one: softgpu gets little of it, in a process of its
// own.
#include <cstdlib>
#include <cuprum/driver.hpp>

#include "api/fixture.hpp"
#include "support/own_process.hpp"

namespace cuprum::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::size_t megabyte = 1 << 20;

TEST(SmallMemory, IsTestedWithADeviceOf128Megabytes) {
  if (driver::info().kind != driver::Choice::softgpu) GTEST_SKIP() << "only softgpu's memory can be chosen";
  if (std::getenv("SOFTGPU_MEMORY")) GTEST_SKIP() << "it has been chosen already";
  EXPECT_EQ(own_process::run("SmallMemoryTest.*", {"SOFTGPU_MEMORY=128M"}), 0);
}

class SmallMemoryTest : public ApiTest {
 protected:
  void SetUp() override {
    if (total() > 256 * megabyte) GTEST_SKIP() << "needs a small device";
    device.sync();
    DeviceMemoryResource(device).trim();  // which keeps what other tests freed
  }

  static std::size_t total() { return info().second; }
  static std::size_t free() { return info().first; }
  static std::pair<std::size_t, std::size_t> info() {
    std::size_t free = 0;
    std::size_t total = 0;
    driver::call<&driver::Api::cuMemGetInfo>(&free, &total);
    return {free, total};
  }

  /// Allocates until there is nothing left; the text of the error.
  std::string exhaust(const MemoryResource& resource, std::vector<Buffer>& buffers) {
    return error_of<OutOfMemory>([&] {
      for (;;) buffers.push_back(resource.allocate(16 * megabyte, stream));
    });
  }

  Stream stream = device.create_stream();
};

TEST_F(SmallMemoryTest, TheDefaultPoolTellsWhatIsFree) {
  std::vector<Buffer> buffers;
  EXPECT_THAT(exhaust(device.memory_resource(), buffers),
              AllOf(HasSubstr("allocating 16777216 bytes"), HasSubstr("it has no limit of its own"),
                    HasSubstr(" of the device's 134217728 bytes are free")));
  EXPECT_GE(buffers.size(), 4u);
}

TEST_F(SmallMemoryTest, AfterFreeingTheProgramGoesOn) {
  for (int round = 0; round < 3; ++round) {
    std::vector<Buffer> buffers;
    exhaust(device.memory_resource(), buffers);
    buffers.pop_back();
    Buffer again = device.allocate(16 * megabyte, stream);
    again.fill<int>(round, stream);
    EXPECT_EQ(download<int>(again, stream).back(), round);
  }
}

TEST_F(SmallMemoryTest, WhatAPoolKeepsUnusedIsThereForOthers) {
  std::vector<Buffer> buffers;
  DeviceMemoryResource hoarder(device, {});
  exhaust(hoarder, buffers);
  buffers.clear();
  stream.sync();
  EXPECT_GT(hoarder.attributes().reserved_mem_current(), 64 * megabyte);
  VirtualMemoryResource other(device);
  EXPECT_EQ(other.allocate(100 * megabyte, stream).size(), 100 * megabyte);
}

TEST_F(SmallMemoryTest, VirtualMemoryThatCanNotGrowStaysAsItIs) {
  VirtualMemoryResource resource(device);
  Buffer buffer = resource.allocate(64 * megabyte, stream);
  buffer.fill<int>(5, stream);
  const std::size_t before = free();
  EXPECT_THAT(error_of<OutOfMemory>([&] { resource.modify_allocation(buffer, 192 * megabyte); }),
              HasSubstr(" of the device's 134217728 bytes are free"));
  EXPECT_EQ(free(), before);
  EXPECT_EQ(buffer.size(), 64 * megabyte);
  EXPECT_EQ(download<int>(buffer, stream).back(), 5);
  resource.modify_allocation(buffer, 96 * megabyte);
  EXPECT_EQ(buffer.size(), 96 * megabyte);
}

TEST_F(SmallMemoryTest, AVirtualResourceIsUsableAgain) {
  VirtualMemoryResource resource(device);
  for (int round = 0; round < 2; ++round) {
    std::vector<Buffer> buffers;
    EXPECT_THAT(exhaust(resource, buffers), HasSubstr("cuMemCreate"));
    EXPECT_GE(buffers.size(), 4u);
  }
}

}  // namespace
}  // namespace cuprum::tests
