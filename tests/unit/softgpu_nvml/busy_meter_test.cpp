// How busy devices are, of counters that are made up.
#include "softgpu/nvml/busy_meter.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace softgpu::nvml {
namespace {

usage::Page process(std::uint32_t pid) {
  usage::Page page{};
  page.pid = pid;
  page.start_time = pid;
  page.devices = 2;
  page.seats = 2;
  page.device[0].contexts = 1;
  return page;
}

TEST(BusyMeter, ASeatThatRunsAllTheTimeIsItsShareOfTheWorkers) {
  usage::Page page = process(7);
  page.seat[0] = {.since_ns = 1, .device = 0};  // since the machine was started
  BusyMeter meter;
  const BusyMeter::Reading reading = meter.read(0, [&] { return std::vector{page}; });
  EXPECT_NEAR(reading.kernels(), 50, 2);
  EXPECT_EQ(reading.copies(), 0u);
  ASSERT_EQ(reading.processes.size(), 1u);
  EXPECT_EQ(reading.processes[0].pid, 7u);
}

TEST(BusyMeter, AnIdleProcessIsListedAndIsNotBusy) {
  BusyMeter meter;
  const BusyMeter::Reading reading = meter.read(0, [] { return std::vector{process(7)}; });
  EXPECT_EQ(reading.kernels(), 0u);
  EXPECT_EQ(reading.processes.size(), 1u);
}

TEST(BusyMeter, AProcessWithoutAContextIsNotListed) {
  BusyMeter meter;
  EXPECT_TRUE(meter.read(1, [] { return std::vector{process(7)}; }).processes.empty());
}

TEST(BusyMeter, ManyProcessesAreNoMoreThanAll) {
  usage::Page first = process(1), second = process(2);
  for (usage::Page* page : {&first, &second})
    for (unsigned seat : {0, 1}) page->seat[seat] = {.since_ns = 1, .device = 0};
  BusyMeter meter;
  EXPECT_EQ(meter.read(0, [&] { return std::vector{first, second}; }).kernels(), 100u);
}

TEST(BusyMeter, WhoLooksAgainAtOnceGetsTheSame) {
  int looks = 0;
  const auto look = [&] {
    ++looks;
    return std::vector{process(7)};
  };
  BusyMeter meter;
  const std::uint64_t first = meter.read(0, look).timestamp_us;
  EXPECT_EQ(meter.read(0, look).timestamp_us, first);
  EXPECT_EQ(looks, 2);
  std::this_thread::sleep_for(std::chrono::milliseconds(120));
  EXPECT_GT(meter.read(0, look).timestamp_us, first);
}

}  // namespace
}  // namespace softgpu::nvml
