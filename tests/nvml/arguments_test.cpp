// What every function does with arguments that can't be.
#include <span>
#include <thread>
#include <vector>

#include "nvml/library.hpp"

namespace nvml_test {
namespace {

constexpr const char* kOfDevices[] = {
#define SOFTGPU_NVML_OF_DEVICE(name) #name,
#define SOFTGPU_NVML_OF_OTHERS(name)
#include "softgpu/nvml/unsupported.def"
};
constexpr const char* kOfOthers[] = {
#define SOFTGPU_NVML_OF_DEVICE(name)
#define SOFTGPU_NVML_OF_OTHERS(name) #name,
#include "softgpu/nvml/unsupported.def"
};

// Functions that have an answer, and take a device and one place for it.
constexpr const char* kAnswering[] = {
    "nvmlDeviceGetIndex",
    "nvmlDeviceGetBrand",
    "nvmlDeviceGetArchitecture",
    "nvmlDeviceGetPciInfo_v3",
    "nvmlDeviceGetPciInfo_v2",
    "nvmlDeviceGetDisplayMode",
    "nvmlDeviceGetDisplayActive",
    "nvmlDeviceGetPersistenceMode",
    "nvmlDeviceGetMultiGpuBoard",
    "nvmlDeviceIsMigDeviceHandle",
    "nvmlDeviceGetNumFans",
    "nvmlDeviceGetComputeMode",
    "nvmlDeviceGetMemoryInfo",
    "nvmlDeviceGetUtilizationRates",
    "nvmlDeviceGetSupportedEventTypes",
};

// Those with structs that say their version.
constexpr const char* kVersioned[] = {"nvmlDeviceGetPciInfoExt",
                                      "nvmlDeviceGetMemoryInfo_v2",
                                      "nvmlDeviceGetTemperatureV",
                                      "nvmlDeviceGetAddressingMode",
                                      "nvmlDeviceGetRunningProcessDetailList",
                                      "nvmlDeviceGetProcessesUtilizationInfo"};

struct Room {
  alignas(16) unsigned char bytes[512];
};

TEST(Uninitialized, IsWhatEveryFunctionSays) {
  Room room{};
  for (const auto names : {std::span<const char* const>(kOfDevices), std::span<const char* const>(kOfOthers),
                           std::span<const char* const>(kAnswering), std::span<const char* const>(kVersioned)})
    for (const char* name : names)
      EXPECT_EQ(call(name, static_cast<void*>(nullptr), &room), Return::uninitialized) << name;
  EXPECT_EQ(call("nvmlShutdown"), Return::uninitialized);
  unsigned count = 0;
  EXPECT_EQ(call("nvmlDeviceGetCount_v2", &count), Return::uninitialized);
  EXPECT_EQ(call("nvmlDeviceGetHandleByUUID", static_cast<const char*>(nullptr), &room), Return::uninitialized);
}

TEST_F(NvmlTest, HandlesThatAreNoneAreRefused) {
  Room room{};
  DeviceHandle mine{};
  auto* const inside = reinterpret_cast<DeviceHandle*>(reinterpret_cast<char*>(device()) + 1);
  for (DeviceHandle* handle : {static_cast<DeviceHandle*>(nullptr), &mine, inside, device(1) + 1})
    for (const auto names : {std::span<const char* const>(kOfDevices), std::span<const char* const>(kAnswering),
                             std::span<const char* const>(kVersioned)})
      for (const char* name : names) EXPECT_EQ(call(name, handle, &room), Return::invalid_argument) << name;
}

TEST_F(NvmlTest, WhatADeviceDoesNotHaveIsNotSupported) {
  for (const char* name : kOfDevices) EXPECT_EQ(call(name, device()), Return::not_supported) << name;
  for (const char* name : kOfOthers) EXPECT_EQ(call(name), Return::not_supported) << name;
}

TEST_F(NvmlTest, PlacesForAnswersMustBeThere) {
  for (const char* name : kAnswering)
    EXPECT_EQ(call(name, device(), static_cast<void*>(nullptr)), Return::invalid_argument) << name;
  for (const char* name : kVersioned)
    EXPECT_EQ(call(name, device(), static_cast<void*>(nullptr)), Return::invalid_argument) << name;
  for (const char* name : {"nvmlDeviceGetName", "nvmlDeviceGetUUID"})
    EXPECT_EQ(call(name, device(), static_cast<char*>(nullptr), 96u), Return::invalid_argument) << name;
  EXPECT_EQ(call("nvmlEventSetCreate", static_cast<void**>(nullptr)), Return::invalid_argument);
}

TEST_F(NvmlTest, StructsOfOtherVersionsAreRefused) {
  Room room{};
  for (const char* name : kVersioned) EXPECT_EQ(call(name, device(), &room), Return::argument_version_mismatch) << name;
}

TEST_F(NvmlTest, TextsThatDoNotFitAreNotCut) {
  char name[4] = "abc";
  EXPECT_EQ(call("nvmlDeviceGetName", device(), name, 4u), Return::insufficient_size);
  EXPECT_STREQ(name, "abc");
}

TEST_F(NvmlTest, NumbersOutOfRangeAreRefused) {
  unsigned number = 0;
  DeviceHandle* found = nullptr;
  EXPECT_EQ(call("nvmlDeviceGetHandleByIndex_v2", 2u, &found), Return::invalid_argument);
  EXPECT_EQ(call("nvmlDeviceGetClockInfo", device(), 4u, &number), Return::invalid_argument);
  EXPECT_EQ(call("nvmlDeviceGetClock", device(), 0u, 4u, &number), Return::invalid_argument);
  EXPECT_EQ(call("nvmlDeviceGetTemperature", device(), 1u, &number), Return::invalid_argument);
  EXPECT_EQ(call("nvmlDeviceGetTemperatureThreshold", device(), 8u, &number), Return::invalid_argument);
  EXPECT_EQ(call("nvmlDeviceGetP2PStatus", device(), device(1), 6, &number), Return::invalid_argument);
  EXPECT_EQ(call("nvmlDeviceGetTopologyNearestGpus", device(), 7, &number, &found), Return::invalid_argument);
  EXPECT_EQ(call("nvmlDeviceSetPersistenceMode", device(), 2), Return::invalid_argument);
  FieldValue field{};
  EXPECT_EQ(call("nvmlDeviceGetFieldValues", device(), 0, &field), Return::invalid_argument);
}

TEST_F(NvmlTest, EventSetsThatAreGoneAreRefused) {
  void* set = nullptr;
  ASSERT_EQ(call("nvmlEventSetCreate", &set), Return::success);
  EXPECT_EQ(call("nvmlEventSetFree", set), Return::success);
  EventData data{};
  EXPECT_EQ(call("nvmlEventSetFree", set), Return::invalid_argument);
  EXPECT_EQ(call("nvmlEventSetWait_v2", set, &data, 0u), Return::invalid_argument);
  EXPECT_EQ(call("nvmlDeviceRegisterEvents", device(), 8ull, set), Return::invalid_argument);
}

TEST_F(NvmlTest, CountsItsUsers) {
  ASSERT_EQ(call("nvmlInitWithFlags", 0u), Return::success);
  EXPECT_EQ(call("nvmlShutdown"), Return::success);
  unsigned count = 0;
  EXPECT_EQ(call("nvmlDeviceGetCount_v2", &count), Return::success);
}

TEST_F(NvmlTest, ThreadsMayStartAndEndItTogether) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([] {
      for (int n = 0; n < 200; ++n) {
        unsigned count = 0;
        EXPECT_EQ(call("nvmlInit_v2"), Return::success);
        EXPECT_EQ(call("nvmlDeviceGetCount_v2", &count), Return::success);
        EXPECT_EQ(call("nvmlShutdown"), Return::success);
      }
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace nvml_test
