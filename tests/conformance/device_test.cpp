#include <algorithm>
#include <cstring>
#include <string>

#include "conformance/driver.hpp"

namespace conformance {
namespace {

class Device : public DriverTest {
 protected:
  int attribute(CUdevice_attribute which) {
    int value = -1;
    EXPECT_SUCCESS(CU(cuDeviceGetAttribute)(&value, which, device_)) << which;
    return value;
  }
};

TEST_F(Device, ThereIsAtLeastOneAndNoNegativeOne) {
  int count = 0;
  ASSERT_SUCCESS(CU(cuDeviceGetCount)(&count));
  EXPECT_GE(count, 1);
  CUdevice device = 0;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_DEVICE, CU(cuDeviceGet)(&device, count));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_DEVICE, CU(cuDeviceGet)(&device, -1));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuDeviceGetCount)(nullptr));
}

TEST_F(Device, NameIsCutToTheRoomThereIs) {
  char name[256] = "", start[6] = "";
  ASSERT_SUCCESS(CU(cuDeviceGetName)(name, sizeof name, device_));
  EXPECT_GT(std::strlen(name), 5u);
  ASSERT_SUCCESS(CU(cuDeviceGetName)(start, sizeof start, device_));
  EXPECT_EQ(std::string(name).substr(0, 5), start);
}

TEST_F(Device, LimitsAreThoseOfTheProgrammingModel) {
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE), 32);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 1024);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X), 1024);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z), 64);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X), 2147483647);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y), 65535);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK), 49152);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY), 65536);
  EXPECT_GE(attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT), 1);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING), 1);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED), 1);
}

TEST_F(Device, EveryAttributeOfTheHeaderHasAValue) {
  int version = 0, value = 0;
  ASSERT_SUCCESS(CU(cuDriverGetVersion)(&version));
  if (version < CUDA_VERSION) GTEST_SKIP() << "the driver is older than the header";
  for (int i = 1; i < CU_DEVICE_ATTRIBUTE_MAX; ++i)
    EXPECT_SUCCESS(CU(cuDeviceGetAttribute)(&value, static_cast<CUdevice_attribute>(i), device_)) << i;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuDeviceGetAttribute)(&value, CU_DEVICE_ATTRIBUTE_MAX, device_));
}

TEST_F(Device, IsFoundByItsBusId) {
  char id[32] = "";
  ASSERT_SUCCESS(CU(cuDeviceGetPCIBusId)(id, sizeof id, device_));
  CUdevice found = -1;
  ASSERT_SUCCESS(CU(cuDeviceGetByPCIBusId)(&found, id));
  EXPECT_EQ(found, device_);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuDeviceGetByPCIBusId)(&found, nullptr));
}

TEST_F(Device, UuidsDiffer) {
  int count = 0;
  ASSERT_SUCCESS(CU(cuDeviceGetCount)(&count));
  CUuuid first{}, other{};
  ASSERT_SUCCESS(CU(cuDeviceGetUuid)(&first, 0));
  for (int i = 1; i < count; ++i) {
    ASSERT_SUCCESS(CU(cuDeviceGetUuid)(&other, i));
    EXPECT_NE(std::memcmp(&first, &other, sizeof first), 0);
  }
}

TEST_F(Device, MemoryIsWhatTheContextReports) {
  size_t total = 0, free = 0, of_context = 0;
  ASSERT_SUCCESS(CU(cuDeviceTotalMem)(&total, device_));
  ASSERT_SUCCESS(CU(cuMemGetInfo)(&free, &of_context));
  EXPECT_EQ(total, of_context);
  EXPECT_LE(free, total);
}

}  // namespace
}  // namespace conformance
