// What the devices are: what libcuda.so.1 says of them, too.
#include <sched.h>
#include <unistd.h>

#include <cstring>

#include "conformance/driver.hpp"
#include "nvml/library.hpp"

namespace nvml_test {
namespace {

std::string text_of(const char* function, DeviceHandle* device) {
  char text[256] = "";
  EXPECT_EQ(call(function, device, text, 256u), Return::success) << function;
  return text;
}

std::string hexadecimal(const CUuuid& uuid) {
  std::string text;
  for (const char byte : uuid.bytes) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(byte));
    text += digits;
  }
  return text;
}

TEST_F(NvmlTest, ShowsTheDevicesOfTheDriver) {
  ASSERT_EQ(CU(cuInit)(0), CUDA_SUCCESS);
  int devices = 0;
  unsigned count = 0;
  ASSERT_EQ(CU(cuDeviceGetCount)(&devices), CUDA_SUCCESS);
  ASSERT_EQ(call("nvmlDeviceGetCount_v2", &count), Return::success);
  ASSERT_EQ(static_cast<int>(count), devices);
  for (unsigned i = 0; i < count; ++i) {
    char name[256];
    ASSERT_EQ(CU(cuDeviceGetName)(name, sizeof name, static_cast<int>(i)), CUDA_SUCCESS);
    EXPECT_EQ(text_of("nvmlDeviceGetName", device(i)), name);

    CUuuid uuid;
    ASSERT_EQ(CU(cuDeviceGetUuid)(&uuid, static_cast<int>(i)), CUDA_SUCCESS);
    std::string found = text_of("nvmlDeviceGetUUID", device(i));
    EXPECT_TRUE(found.starts_with("GPU-"));
    std::erase(found, '-');
    EXPECT_EQ(found.substr(3), hexadecimal(uuid));

    char bus_id[32];
    PciInfo place{};
    ASSERT_EQ(CU(cuDeviceGetPCIBusId)(bus_id, sizeof bus_id, static_cast<int>(i)), CUDA_SUCCESS);
    ASSERT_EQ(call("nvmlDeviceGetPciInfo_v3", device(i), &place), Return::success);
    EXPECT_EQ(std::string("0000") + bus_id, place.bus_id);
    EXPECT_STREQ(bus_id, place.legacy_bus_id);

    std::size_t bytes = 0;
    Memory memory{};
    ASSERT_EQ(CU(cuDeviceTotalMem)(&bytes, static_cast<int>(i)), CUDA_SUCCESS);
    ASSERT_EQ(call("nvmlDeviceGetMemoryInfo", device(i), &memory), Return::success);
    EXPECT_EQ(memory.total, bytes);

    int major = 0, minor = 0;
    ASSERT_EQ(call("nvmlDeviceGetCudaComputeCapability", device(i), &major, &minor), Return::success);
    EXPECT_EQ(major, 9);
    EXPECT_EQ(minor, 0);
  }
}

TEST_F(NvmlTest, FindsDevicesByTheirNames) {
  for (unsigned i : {0u, 1u}) {
    const std::string uuid = text_of("nvmlDeviceGetUUID", device(i));
    DeviceHandle* found = nullptr;
    EXPECT_EQ(call("nvmlDeviceGetHandleByUUID", uuid.c_str(), &found), Return::success);
    EXPECT_EQ(found, device(i));
    found = nullptr;
    EXPECT_EQ(call("nvmlDeviceGetHandleByUUID", uuid.c_str() + 4, &found), Return::success);
    EXPECT_EQ(found, device(i));
    const std::string number = std::to_string(i + 1);
    for (const std::string& bus_id :
         {"00000000:0" + number + ":00.0", "0000:0" + number + ":00.0", "0" + number + ":00.0"}) {
      found = nullptr;
      EXPECT_EQ(call("nvmlDeviceGetHandleByPciBusId_v2", bus_id.c_str(), &found), Return::success) << bus_id;
      EXPECT_EQ(found, device(i));
    }
    unsigned index = 9;
    EXPECT_EQ(call("nvmlDeviceGetIndex", device(i), &index), Return::success);
    EXPECT_EQ(index, i);
  }
  DeviceHandle* found = nullptr;
  for (const char* wrong : {"", "GPU-", "nonsense", "00000000:09:00.0", "0000:01:00.1"}) {
    EXPECT_EQ(call("nvmlDeviceGetHandleByUUID", wrong, &found), Return::not_found) << wrong;
    EXPECT_EQ(call("nvmlDeviceGetHandleByPciBusId_v2", wrong, &found), Return::not_found) << wrong;
    EXPECT_EQ(call("nvmlDeviceGetHandleBySerial", wrong, &found), Return::not_found) << wrong;
  }
}

TEST_F(NvmlTest, FindsDevicesByTheBytesOfTheirUuid) {
  ASSERT_EQ(CU(cuInit)(0), CUDA_SUCCESS);
  CUuuid uuid;
  ASSERT_EQ(CU(cuDeviceGetUuid)(&uuid, 1), CUDA_SUCCESS);
  auto wanted = versioned<Uuid>(1);
  wanted.type = 2;
  std::memcpy(wanted.value.bytes, uuid.bytes, 16);
  DeviceHandle* found = nullptr;
  EXPECT_EQ(call("nvmlDeviceGetHandleByUUIDV", &wanted, &found), Return::success);
  EXPECT_EQ(found, device(1));
}

TEST_F(NvmlTest, VersionsAreNumbers) {
  char driver[80] = "", library[80] = "";
  int cuda = 0;
  EXPECT_EQ(call("nvmlSystemGetDriverVersion", driver, 80u), Return::success);
  EXPECT_EQ(call("nvmlSystemGetNVMLVersion", library, 80u), Return::success);
  EXPECT_EQ(call("nvmlSystemGetCudaDriverVersion_v2", &cuda), Return::success);
  int major = 0, minor = 0, patch = 0;
  EXPECT_EQ(std::sscanf(driver, "%d.%d.%d", &major, &minor, &patch), 3) << driver;
  EXPECT_GE(major, 525);
  EXPECT_EQ(std::to_string(cuda / 1000) + "." + driver, library);
  auto branch = versioned<DriverBranch>(1);
  EXPECT_EQ(call("nvmlSystemGetDriverBranch", &branch, 80u), Return::success);
  EXPECT_STREQ(branch.branch, "softgpu");
}

TEST_F(NvmlTest, DevicesAreTheSameSilicon) {
  int level = -1, status = -1;
  EXPECT_EQ(call("nvmlDeviceGetTopologyCommonAncestor", device(0), device(1), &level), Return::success);
  EXPECT_EQ(level, 0);
  EXPECT_EQ(call("nvmlDeviceGetP2PStatus", device(0), device(1), 0, &status), Return::success);
  EXPECT_EQ(status, 0);
  unsigned count = 0;
  EXPECT_EQ(call("nvmlDeviceGetTopologyNearestGpus", device(0), 0, &count, static_cast<DeviceHandle**>(nullptr)),
            Return::success);
  ASSERT_EQ(count, 1u);
  DeviceHandle* other = nullptr;
  EXPECT_EQ(call("nvmlDeviceGetTopologyNearestGpus", device(0), 0, &count, &other), Return::success);
  EXPECT_EQ(other, device(1));
}

TEST_F(NvmlTest, AffinityIsTheCoresOfTheProcess) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  ASSERT_EQ(sched_getaffinity(0, sizeof cores, &cores), 0);
  unsigned long bits[16] = {};
  ASSERT_EQ(call("nvmlDeviceGetCpuAffinity", device(), 16u, bits), Return::success);
  for (unsigned i = 0; i < 16 * 64; ++i) EXPECT_EQ(bits[i / 64] >> i % 64 & 1, CPU_ISSET(i, &cores) ? 1u : 0u) << i;
  ASSERT_EQ(call("nvmlDeviceGetMemoryAffinity", device(), 1u, bits, 0u), Return::success);
  EXPECT_NE(bits[0], 0u);
}

TEST_F(NvmlTest, EachFieldHasItsOwnCode) {
  FieldValue fields[2] = {};
  fields[0].field = 91;  // how many NVLinks there are
  fields[1].field = 83;  // energy
  ASSERT_EQ(call("nvmlDeviceGetFieldValues", device(), 2, fields), Return::success);
  EXPECT_EQ(fields[0].result, Return::success);
  EXPECT_EQ(fields[0].value.number, 0u);
  EXPECT_EQ(fields[1].result, Return::not_supported);
}

TEST_F(NvmlTest, ProcessesHaveNames) {
  char name[1024] = "";
  EXPECT_EQ(call("nvmlSystemGetProcessName", static_cast<unsigned>(getpid()), name, 1024u), Return::success);
  EXPECT_NE(std::string(name).find("nvml_test"), std::string::npos) << name;
  EXPECT_EQ(call("nvmlSystemGetProcessName", 0xFFFFFFFu, name, 1024u), Return::not_found);
}

}  // namespace
}  // namespace nvml_test
