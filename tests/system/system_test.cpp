// The devices for those who look at them. On softgpu and on a GPU: what a device does not have, it says so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cuprum/cuprum.hpp>
#include <cuprum/system.hpp>

namespace cuprum {
namespace {

using system::Device;
using testing::HasSubstr;

// What a getter gives, or that it is not supported: nothing else.
template <typename Function>
bool answers(Function get) {
  try {
    get();
    return true;
  } catch (const NotSupported& error) {
    EXPECT_THAT(error.what(), HasSubstr("nvml"));
    return false;
  } catch (const LibraryError& error) {  // what NVIDIA's NVML says of what some devices don't have
    EXPECT_THAT(error.what(), HasSubstr("Invalid Argument"));
    EXPECT_NE(driver::choice(), driver::Choice::softgpu);
    return false;
  }
}

TEST(System, VersionsAreNumbers) {
  EXPECT_GE(system::get_user_mode_driver_version().first, 12);
  const std::vector<int> driver = system::get_kernel_mode_driver_version(), nvml = system::get_nvml_version();
  ASSERT_GE(driver.size(), 2u);
  EXPECT_GE(driver[0], 400);
  ASSERT_EQ(nvml.size(), driver.size() + 1);
  EXPECT_EQ(nvml[0], system::get_user_mode_driver_version().first);
  EXPECT_FALSE(system::get_driver_branch().empty());
}

TEST(System, DevicesAreThoseOfCuda) {
  for (const cuprum::Device& cuda : cuprum::Device::all()) {
    const Device device = Device::from_cuda_device(cuda);
    EXPECT_EQ(device.to_cuda_device(), cuda);
    EXPECT_EQ(device.uuid_without_prefix(), cuda.uuid().to_string());
    EXPECT_EQ(device.name(), cuda.name());
    EXPECT_EQ(device.pci_bus_id().substr(4), cuda.pci_bus_id());
    EXPECT_EQ(device.cuda_compute_capability().first, cuda.compute_capability().major);
  }
}

TEST(System, DevicesAreFoundByEachOfTheirNames) {
  ASSERT_EQ(Device::get_all_devices().size(), system::get_num_devices());
  for (const Device& device : Device::get_all_devices()) {
    EXPECT_EQ(Device::from_index(device.index()), device);
    EXPECT_EQ(Device::from_uuid(device.uuid()), device);
    EXPECT_EQ(Uuid::parse(device.uuid()), device.to_cuda_device().uuid());
    EXPECT_EQ(Device::from_pci_bus_id(device.pci_bus_id()), device);
    EXPECT_EQ(Device::from_handle(device.handle()), device);
  }
}

TEST(System, DevicesThatThereAreNotHaveClearErrors) {
  EXPECT_THROW(Device::from_index(1000), LibraryError);
  EXPECT_THROW(Device::from_uuid("GPU-00000000-0000-0000-0000-000000000000"), LibraryError);
  try {
    Device::from_pci_bus_id("ffffffff:ff:1f.7");
    FAIL();
  } catch (const LibraryError& error) {
    EXPECT_EQ(error.library(), "NVML");
    EXPECT_THAT(error.what(), HasSubstr("nvmlDeviceGetHandleByPciBusId_v2"));
  }
}

struct SystemUse : testing::Test {
  cuprum::Device cuda;
  Stream stream = cuda.create_stream();
  Device device = Device::from_cuda_device(cuda);
};

TEST_F(SystemUse, MemoryInUseIsWhatIsAllocated) {
  const unsigned long long before = device.memory_info().used;
  constexpr std::size_t bytes = 64 << 20;
  Buffer buffer = cuda.allocate(bytes, stream);
  stream.sync();
  const system::MemoryInfo info = device.memory_info();
  EXPECT_GE(info.used, before + bytes / 2);
  EXPECT_EQ(info.free + info.used + info.reserved, info.total);
}

TEST_F(SystemUse, ThisProcessIsSeen) {
  const std::vector<system::ProcessInfo> processes = device.compute_running_processes();
  const auto ours = std::find_if(processes.begin(), processes.end(), [](const system::ProcessInfo& process) {
    return process.pid == static_cast<unsigned>(getpid());
  });
  if (ours == processes.end()) GTEST_SKIP() << "NVML counts processes from outside this container";
  EXPECT_THAT(system::get_process_name(ours->pid), HasSubstr("system_test"));
}

TEST_F(SystemUse, UtilizationIsAPercentage) {
  const system::Utilization use = device.utilization();
  EXPECT_LE(use.gpu, 100u);
  EXPECT_LE(use.memory, 100u);
}

TEST_F(SystemUse, EveryGetterAnswersOrSaysThatItCanNot) {
  using namespace system;
  answers([&] { device.numa_node_id(); });
  answers([&] { device.arch(); });
  answers([&] { device.brand(); });
  answers([&] { device.serial(); });
  answers([&] { device.module_id(); });
  answers([&] { device.minor_number(); });
  answers([&] { device.attributes(); });
  answers([&] { device.is_c2c_enabled(); });
  answers([&] { device.is_persistence_mode_enabled(); });
  answers([&] { device.addressing_mode(); });
  answers([&] { device.is_display_connected(); });
  answers([&] { device.is_display_active(); });
  answers([&] { device.bar1_memory_info(); });
  answers([&] { device.repair_status(); });
  answers([&] { device.is_auto_boosted_clocks_enabled(); });
  answers([&] { device.current_clock_event_reasons(); });
  answers([&] { device.supported_clock_event_reasons(); });
  answers([&] { device.performance_state(); });
  answers([&] { device.supported_pstates(); });
  answers([&] { device.dynamic_pstates_info(); });
  answers([&] { device.cooler(); });
  const bool has_fans = answers([&] { device.num_fans(); });
  for (unsigned fan = 0; has_fans && fan < device.num_fans(); ++fan) {
    answers([&] { device.get_fan(fan).speed(); });
    answers([&] { device.get_fan(fan).speed_rpm(); });
    answers([&] { device.get_fan(fan).target_speed(); });
    answers([&] { device.get_fan(fan).min_max_speed(); });
    answers([&] { device.get_fan(fan).control_policy(); });
  }
  answers([&] { device.temperature().get_sensor(); });
  answers([&] { device.temperature().margin(); });
  answers([&] { device.temperature().get_thermal_settings(ThermalTarget::all); });
  for (const auto& threshold : names<TemperatureThresholds>())
    answers([&] { device.temperature().get_threshold(threshold.value); });
  for (const auto& type : names<ClockType>()) {
    answers([&] { device.get_clock(type.value).get_current_mhz(); });
    answers([&] { device.get_clock(type.value).get_max_mhz(); });
    answers([&] { device.get_clock(type.value).get_max_customer_boost_mhz(); });
  }
  answers([&] { device.pci_info().link_generation(); });
  answers([&] { device.pci_info().max_link_generation(); });
  answers([&] { device.pci_info().max_link_width(); });
  answers([&] { device.pci_info().current_link_generation(); });
  answers([&] { device.pci_info().current_link_width(); });
  answers([&] { device.pci_info().rx_throughput(); });
  answers([&] { device.pci_info().tx_throughput(); });
  answers([&] { device.pci_info().replay_counter(); });
  answers([&] { device.get_nvlinks(); });
  answers([&] { device.mig().mode(); });
  answers([&] { device.mig().get_all_devices(); });
  answers([&] { device.inforom().image_version(); });
  answers([&] { device.inforom().get_version(InforomObject::oem); });
  answers([&] { device.inforom().configuration_checksum(); });
  answers([&] { device.inforom().board_part_number(); });
  answers([&] { device.get_memory_affinity(); });
  answers([&] { device.get_supported_event_types(); });
  EXPECT_FALSE(device.mig().is_mig_device());
}

TEST_F(SystemUse, CoresThatAreNearAreCoresOfTheHost) {
  const std::vector<unsigned> cores = device.get_cpu_affinity();
  ASSERT_FALSE(cores.empty());
  const std::vector<Device> near = Device::get_all_devices_with_cpu_affinity(cores.front());
  EXPECT_NE(std::find(near.begin(), near.end(), device), near.end());
}

TEST_F(SystemUse, FieldsHaveCodesOfTheirOwn) {
  EXPECT_TRUE(device.get_field_values({}).empty());
  const system::FieldValues values = device.get_field_values({{91}, {0xFFFF}});
  ASSERT_EQ(values.size(), 2u);
  EXPECT_EQ(values[1].field_id, 0xFFFFu);
  EXPECT_THROW(values[1].value(), Error);
  EXPECT_THROW(system::validate(values), Error);
}

TEST_F(SystemUse, WaitingForEventsEnds) {
  const system::DeviceEvents events = device.register_events({system::EventType::xid_critical_error});
  EXPECT_FALSE(events.wait(std::chrono::milliseconds(50)));
}

TEST_F(SystemUse, BadArgumentsAreRefusedBeforeNvmlIsAsked) {
  EXPECT_THROW(device.get_clock(system::ClockType::sm).get_offsets(16), InvalidArgument);
  EXPECT_THROW(device.get_clock(system::ClockType::sm).get_min_max_clock_of_pstate_mhz(-1), InvalidArgument);
  if (answers([&] { device.get_nvlink_count(); })) {
    EXPECT_THROW(device.get_nvlink(1000), InvalidArgument);
  }
  if (answers([&] { device.num_fans(); })) {
    EXPECT_THROW(device.get_fan(device.num_fans()), InvalidArgument);
  }
}

// The reason why programs ask NVML first.
TEST(System, LookingAtDevicesDoesNotKeepAProcessFromForking) {
  EXPECT_GE(system::get_num_devices(), 1u);
  const pid_t child = fork();
  if (child == 0) _exit(system::get_num_devices() >= 1 ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(System, EnumerationsHaveNames) {
  EXPECT_EQ(to_string(system::ClockId::customer_boost_max), "customer_boost_max");
  EXPECT_EQ(to_string(system::GpuP2PStatus::chipset_not_supported), "chipset not supported");
  EXPECT_EQ(to_string(static_cast<system::ClockType>(77)), "");
}

}  // namespace
}  // namespace cuprum
