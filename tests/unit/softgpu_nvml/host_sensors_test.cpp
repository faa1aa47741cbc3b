// Sensors of machines that are not this one.
#include "softgpu/nvml/host_sensors.hpp"

#include <gtest/gtest.h>

#include "support/temporary_folder.hpp"

namespace softgpu::nvml {
namespace {

struct HostSensorsTest : testing::Test {
  TemporaryFolder root;
  HostSensors sensors{root.path().string()};
};

TEST_F(HostSensorsTest, AMachineThatTellsNothingHasNone) {
  EXPECT_EQ(sensors.clock_mhz(), std::nullopt);
  EXPECT_EQ(sensors.max_clock_mhz(), std::nullopt);
  EXPECT_EQ(sensors.celsius(), std::nullopt);
  EXPECT_EQ(sensors.celsius_of_slowdown(), std::nullopt);
  EXPECT_EQ(sensors.celsius_of_shutdown(), std::nullopt);
}

TEST_F(HostSensorsTest, TheClockIsThatOfTheFastestCore) {
  root.write("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "1200000\n");
  root.write("sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "3100000\n");
  root.write("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "4000000\n");
  EXPECT_EQ(sensors.clock_mhz(), 3100u);
  EXPECT_EQ(sensors.max_clock_mhz(), 4000u);
}

TEST_F(HostSensorsTest, VirtualMachinesTellTheClockElsewhere) {
  root.write("proc/cpuinfo", "processor\t: 0\ncpu MHz\t\t: 2299.998\n\nprocessor\t: 1\ncpu MHz\t\t: 2400.1\n");
  EXPECT_EQ(sensors.clock_mhz(), 2400u);
}

TEST_F(HostSensorsTest, TemperaturesAreThoseOfTheProcessor) {
  root.write("sys/class/hwmon/hwmon0/name", "nvme\n");
  root.write("sys/class/hwmon/hwmon0/temp1_input", "71000\n");
  root.write("sys/class/hwmon/hwmon1/name", "coretemp\n");
  root.write("sys/class/hwmon/hwmon1/temp1_input", "48500\n");
  root.write("sys/class/hwmon/hwmon1/temp1_max", "80000\n");
  root.write("sys/class/hwmon/hwmon1/temp1_crit", "100000\n");
  EXPECT_EQ(sensors.celsius(), 48);
  EXPECT_EQ(sensors.celsius_of_slowdown(), 80);
  EXPECT_EQ(sensors.celsius_of_shutdown(), 100);
}

TEST_F(HostSensorsTest, AThermalZoneWillDo) {
  root.write("sys/class/thermal/thermal_zone0/type", "acpitz\n");
  root.write("sys/class/thermal/thermal_zone0/temp", "20000\n");
  root.write("sys/class/thermal/thermal_zone1/type", "x86_pkg_temp\n");
  root.write("sys/class/thermal/thermal_zone1/temp", "55000\n");
  EXPECT_EQ(sensors.celsius(), 55);
  EXPECT_EQ(sensors.celsius_of_shutdown(), std::nullopt);
}

TEST_F(HostSensorsTest, FilesWithoutNumbersTellNothing) {
  root.write("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "<unknown>\n");
  root.write("sys/class/hwmon/hwmon0/name", "coretemp\n");
  root.write("sys/class/hwmon/hwmon0/temp1_input", "\n");
  EXPECT_EQ(sensors.clock_mhz(), std::nullopt);
  EXPECT_EQ(sensors.celsius(), std::nullopt);
}

}  // namespace
}  // namespace softgpu::nvml
