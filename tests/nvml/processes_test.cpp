// Processes that use the devices: what they hold, how busy they are, how they end.
#include <unistd.h>

#include <chrono>
#include <thread>
#include <vector>

#include "conformance/child.hpp"
#include "nvml/library.hpp"

namespace nvml_test {
namespace {

using conformance::Child;
using conformance::ChildProcess;
using conformance::parent;

constexpr std::size_t kBytes = 32 << 20;

constexpr const char* kKernels = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry until(.param .u64 flag) {
  .reg .u64 %rd<2>; .reg .u32 %r<2>; .reg .pred %p<2>;
  ld.param.u64 %rd1, [flag];
again:
  ld.volatile.global.u32 %r1, [%rd1];
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra again;
  ret;
}
.visible .entry count(.param .u64 rounds) {
  .reg .u64 %rd<3>; .reg .u32 %r<2>; .reg .pred %p<3>;
  ld.param.u64 %rd1, [rounds];
  mov.u64 %rd2, 0;
  mov.u32 %r1, 1;
again:
  add.u64 %rd2, %rd2, 1;
  mad.lo.u32 %r1, %r1, 1664525, 1013904223;
  setp.lt.u64 %p1, %rd2, %rd1;
  @%p1 bra again;
  setp.eq.u32 %p2, %r1, 77;
  @%p2 trap;
  ret;
}
.visible .entry stop(.param .u64 nothing) {
  trap;
  ret;
}
.visible .entry fail(.param .u64 address) {
  .reg .u64 %rd<2>; .reg .u32 %r<2>;
  ld.param.u64 %rd1, [address];
  ld.global.u32 %r1, [%rd1];
  add.u32 %r1, %r1, 1;
  st.global.u32 [%rd1], %r1;
  ret;
}
)";

CUfunction kernel(const char* name) {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  EXPECT_SUCCESS(CU(cuModuleLoadData)(&module, kKernels));
  EXPECT_SUCCESS(CU(cuModuleGetFunction)(&function, module, name));
  return function;
}

void launch(CUfunction function, unsigned long long argument, unsigned blocks = 1) {
  void* arguments[] = {&argument};
  EXPECT_SUCCESS(CU(cuLaunchKernel)(function, blocks, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr));
}

struct Processes : NvmlTest {
  std::vector<ProcessInfo> on(unsigned index) {
    std::vector<ProcessInfo> found(16);
    auto count = static_cast<unsigned>(found.size());
    EXPECT_EQ(call("nvmlDeviceGetComputeRunningProcesses_v3", device(index), &count, found.data()), Return::success);
    found.resize(count);
    return found;
  }
  unsigned long long used(unsigned index) {
    Memory memory{};
    EXPECT_EQ(call("nvmlDeviceGetMemoryInfo", device(index), &memory), Return::success);
    EXPECT_EQ(memory.free + memory.used, memory.total);
    return memory.used;
  }
  Utilization busy(unsigned index = 0) {
    Utilization use{};
    EXPECT_EQ(call("nvmlDeviceGetUtilizationRates", device(index), &use), Return::success);
    return use;
  }
};

// Says who it is, and keeps memory until it is told to go.
TEST_F(ChildProcess, DISABLED_KeepsMemory) {
  const conformance::DeviceMemory memory(kBytes);
  parent().send(getpid());
  parent().await();
}

TEST_F(Processes, AreSeenWithTheirMemory) {
  EXPECT_TRUE(on(0).empty());
  Child child("ChildProcess.DISABLED_KeepsMemory");
  const auto pid = child.channel().receive<pid_t>();
  const std::vector<ProcessInfo> found = on(0);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].pid, static_cast<unsigned>(pid));
  EXPECT_GE(found[0].used_memory, kBytes);
  EXPECT_EQ(found[0].used_memory, used(0));
  EXPECT_TRUE(on(1).empty());
  EXPECT_EQ(used(1), 0u);
  child.channel().signal();
  EXPECT_EQ(child.wait(), 0);
  EXPECT_TRUE(on(0).empty());
  EXPECT_EQ(used(0), 0u);
}

TEST_F(Processes, ThatAreKilledLeaveNothing) {
  Child child("ChildProcess.DISABLED_KeepsMemory");
  child.channel().receive<pid_t>();
  EXPECT_EQ(on(0).size(), 1u);
  child.kill();
  EXPECT_TRUE(on(0).empty());
  EXPECT_EQ(used(0), 0u);
}

TEST_F(Processes, AreAllCountedTogether) {
  Child first("ChildProcess.DISABLED_KeepsMemory"), second("ChildProcess.DISABLED_KeepsMemory");
  first.channel().receive<pid_t>();
  second.channel().receive<pid_t>();
  EXPECT_EQ(on(0).size(), 2u);
  EXPECT_GE(used(0), 2 * kBytes);
  unsigned count = 1;  // too few: it says how many there are
  ProcessInfo one{};
  EXPECT_EQ(call("nvmlDeviceGetComputeRunningProcesses_v3", device(), &count, &one), Return::insufficient_size);
  EXPECT_EQ(count, 2u);
  auto list = versioned<ProcessDetailList>(1);
  std::vector<ProcessDetail> details(2);
  list.count = 2;
  list.processes = details.data();
  EXPECT_EQ(call("nvmlDeviceGetRunningProcessDetailList", device(), &list), Return::success);
  EXPECT_EQ(list.count, 2u);
  EXPECT_GE(details[1].used_memory, kBytes);
}

// Together they would use more than there is, of what each may use alone.
TEST_F(Processes, TogetherUseNoMoreThanThereIs) {
  std::vector<std::unique_ptr<Child>> children;
  for (int i = 0; i < 10; ++i) children.push_back(std::make_unique<Child>("ChildProcess.DISABLED_KeepsMemory"));
  for (const auto& child : children) child->channel().receive<pid_t>();
  EXPECT_EQ(used(0), 256ull << 20);
}

// One that has initialised the driver and no context is not using a device.
TEST(DriverOnly, DISABLED_Initialises) {
  EXPECT_SUCCESS(CU(cuInit)(0));
  parent().signal();
  parent().await();
}

TEST_F(Processes, WithoutAContextAreNotListed) {
  Child child("DriverOnly.DISABLED_Initialises");
  child.channel().await();
  EXPECT_TRUE(on(0).empty());
}

// A pool of another device gives memory there, and makes no context on it.
TEST_F(ChildProcess, DISABLED_KeepsMemoryOfAPool) {
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 1};
  CUmemoryPool pool = nullptr;
  CUdeviceptr address = 0;
  ASSERT_SUCCESS(CU(cuMemPoolCreate)(&pool, &properties));
  ASSERT_SUCCESS(CU(cuMemAllocFromPoolAsync)(&address, kBytes, pool, nullptr));
  ASSERT_SUCCESS(CU(cuCtxSynchronize)());
  parent().send(getpid());
  parent().await();
  ASSERT_SUCCESS(CU(cuMemFreeAsync)(address, nullptr));
  ASSERT_SUCCESS(CU(cuCtxSynchronize)());
  ASSERT_SUCCESS(CU(cuMemPoolDestroy)(pool));
}

TEST_F(Processes, WithMemoryAndNoContextAreListed) {
  Child child("ChildProcess.DISABLED_KeepsMemoryOfAPool");
  const auto pid = child.channel().receive<pid_t>();
  const std::vector<ProcessInfo> found = on(1);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].pid, static_cast<unsigned>(pid));
  EXPECT_EQ(found[0].used_memory, used(1));
  child.channel().signal();
  EXPECT_EQ(child.wait(), 0);
}

TEST_F(ChildProcess, DISABLED_BecomesAnotherProgram) {
  const conformance::DeviceMemory memory(kBytes);
  parent().signal();
  parent().await();
  execl("/bin/sleep", "sleep", "60", nullptr);
}

TEST_F(Processes, ThatBecameOtherProgramsAreNotListed) {
  Child child("ChildProcess.DISABLED_BecomesAnotherProgram");
  child.channel().await();
  EXPECT_EQ(on(0).size(), 1u);
  child.channel().signal();
  for (int i = 0; i < 100 && !on(0).empty(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_TRUE(on(0).empty());
  EXPECT_EQ(used(0), 0u);
  EXPECT_EQ(::kill(child.id(), 0), 0);  // it runs
  child.kill();
}

TEST_F(ChildProcess, DISABLED_KeepsAllWorkersBusy) {
  const CUfunction count = kernel("count");
  parent().send(getpid());
  for (;;) {
    launch(count, 1'000'000'000, 16);
    ASSERT_SUCCESS(CU(cuCtxSynchronize)());
  }
}

TEST_F(Processes, UtilizationIsThatOfTheWorkers) {
  EXPECT_EQ(busy().gpu, 0u);
  Child child("ChildProcess.DISABLED_KeepsAllWorkersBusy");
  const auto pid = child.channel().receive<pid_t>();
  // The kernel has to be compiled first, which takes a while on a machine that has other things to do.
  unsigned percent = 0;
  for (int i = 0; i < 100 && percent < 60; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    percent = busy().gpu;
  }
  EXPECT_GE(percent, 60u);
  std::vector<ProcessUtilization> found(4);
  unsigned count = 4;
  ASSERT_EQ(call("nvmlDeviceGetProcessUtilization", device(), found.data(), &count, 0ull), Return::success);
  ASSERT_EQ(count, 1u);
  EXPECT_EQ(found[0].pid, static_cast<unsigned>(pid));
  EXPECT_GE(found[0].sm, 60u);
  constexpr unsigned long long kLater = ~0ull;
  EXPECT_EQ(call("nvmlDeviceGetProcessUtilization", device(), found.data(), &count, kLater), Return::not_found);
  child.kill();
  std::this_thread::sleep_for(std::chrono::milliseconds(150));
  EXPECT_EQ(busy().gpu, 0u);
}

TEST_F(ChildProcess, DISABLED_WasBusy) {
  launch(kernel("count"), 100'000'000, 16);
  ASSERT_SUCCESS(CU(cuCtxSynchronize)());
  CUuuid uuids[2];
  for (const int device : {0, 1}) ASSERT_SUCCESS(CU(cuDeviceGetUuid)(&uuids[device], device));
  for (const CUuuid& uuid : uuids) parent().send(uuid);
  parent().await();
}

TEST_F(Processes, ADeviceIsNotBusyWithWhatWasDoneOnAnother) {
  Child child("ChildProcess.DISABLED_WasBusy");
  const auto first = child.channel().receive<CUuuid>(), second = child.channel().receive<CUuuid>();
  EXPECT_EQ(busy(1).gpu, 0u);
  CUcheckpointGpuPair pairs[] = {{first, second}, {second, first}};
  CUcheckpointRestoreArgs arguments{};
  arguments.gpuPairs = pairs;
  arguments.gpuPairsCount = 2;
  ASSERT_SUCCESS(CU(cuCheckpointProcessLock)(child.id(), nullptr));
  ASSERT_SUCCESS(CU(cuCheckpointProcessCheckpoint)(child.id(), nullptr));
  ASSERT_SUCCESS(CU(cuCheckpointProcessRestore)(child.id(), &arguments));
  ASSERT_SUCCESS(CU(cuCheckpointProcessUnlock)(child.id(), nullptr));
  std::this_thread::sleep_for(std::chrono::milliseconds(150));
  EXPECT_EQ(on(1).size(), 1u);
  EXPECT_EQ(busy(1).gpu, 0u);
  child.channel().signal();
  EXPECT_EQ(child.wait(), 0);
}

// A single block of a kernel that does not end keeps one of the two workers.
TEST_F(ChildProcess, DISABLED_RunsOneLongBlock) {
  const conformance::DeviceMemory flag(4);
  ASSERT_SUCCESS(CU(cuMemsetD32)(flag.get(), 0, 1));
  ASSERT_SUCCESS(CU(cuCtxSynchronize)());
  launch(kernel("count"), 20'000'000'000);
  parent().signal();
  parent().await();
  _exit(0);
}

TEST_F(Processes, AKernelThatHasNotEndedCounts) {
  Child child("ChildProcess.DISABLED_RunsOneLongBlock");
  child.channel().await();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  unsigned percent = 0;
  for (int i = 0; i < 100 && (percent < 40 || percent > 60); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    percent = busy().gpu;
  }
  EXPECT_NEAR(percent, 50, 10);
  child.kill();
}

TEST_F(ChildProcess, DISABLED_Copies) {
  const conformance::DeviceMemory from(kBytes), to(kBytes);
  parent().signal();
  for (;;) {
    ASSERT_SUCCESS(CU(cuMemcpyDtoD)(to.get(), from.get(), kBytes));
    ASSERT_SUCCESS(CU(cuCtxSynchronize)());
  }
}

TEST_F(Processes, CopiesAreUseOfTheMemory) {
  Child child("ChildProcess.DISABLED_Copies");
  child.channel().await();
  // A copy is counted when it is done, which takes a while on a machine that has other things to do.
  Utilization use{};
  for (int i = 0; i < 50 && use.memory < 30; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    use = busy();
    EXPECT_EQ(use.gpu, 0u);
  }
  EXPECT_GE(use.memory, 30u);
  child.kill();
}

struct Events : Processes {
  void SetUp() override {
    Processes::SetUp();
    ASSERT_EQ(call("nvmlEventSetCreate", &set), Return::success);
  }
  void TearDown() override {
    EXPECT_EQ(call("nvmlEventSetFree", set), Return::success);
    Processes::TearDown();
  }
  void* set = nullptr;
  EventData data{};
};

TEST_F(ChildProcess, DISABLED_Faults) {
  parent().await();
  launch(kernel("fail"), 16);
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, CU(cuCtxSynchronize)());
  parent().await();
  _exit(0);
}

TEST_F(Events, TellOfKernelsThatFault) {
  Child child("ChildProcess.DISABLED_Faults");
  ASSERT_EQ(call("nvmlDeviceRegisterEvents", device(), 8ull, set), Return::success);
  EXPECT_EQ(call("nvmlEventSetWait_v2", set, &data, 50u), Return::timeout);
  child.channel().signal();
  ASSERT_EQ(call("nvmlEventSetWait_v2", set, &data, 30000u), Return::success);
  EXPECT_EQ(data.device, device());
  EXPECT_EQ(data.type, 8u);
  EXPECT_EQ(data.data, 31u);                                                 // what NVIDIA's driver calls a page fault
  EXPECT_EQ(call("nvmlEventSetWait_v2", set, &data, 50u), Return::timeout);  // once
  child.channel().signal();
}

// At once, and without the handlers for exit().
TEST_F(ChildProcess, DISABLED_FaultsAndEnds) {
  launch(kernel("fail"), 16);
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, CU(cuCtxSynchronize)());
  _exit(0);
}
TEST_F(ChildProcess, DISABLED_TrapsAndEnds) {
  launch(kernel("stop"), 0);
  EXPECT_CUDA_ERROR(CUDA_ERROR_LAUNCH_FAILED, CU(cuCtxSynchronize)());
  _exit(0);
}

TEST_F(Events, WaitForSomebodyToAskWhenTheProcessHasEnded) {
  ASSERT_EQ(call("nvmlDeviceRegisterEvents", device(), 8ull, set), Return::success);
  for (const char* const name : {"FaultsAndEnds", "TrapsAndEnds", "FaultsAndEnds"})
    EXPECT_EQ(Child(std::string("ChildProcess.DISABLED_") + name).wait(), 0);
  for (const unsigned long long xid : {31ull, 43ull, 31ull}) {
    ASSERT_EQ(call("nvmlEventSetWait_v2", set, &data, 0u), Return::success);
    EXPECT_EQ(data.device, device());
    EXPECT_EQ(data.data, xid);
  }
  EXPECT_EQ(call("nvmlEventSetWait_v2", set, &data, 0u), Return::timeout);
}

TEST_F(Events, OfOtherDevicesAndOfBeforeAreNotTold) {
  EXPECT_EQ(Child("ChildProcess.DISABLED_FaultsAndEnds").wait(), 0);
  ASSERT_EQ(call("nvmlDeviceRegisterEvents", device(1), 8ull, set), Return::success);
  EXPECT_EQ(Child("ChildProcess.DISABLED_FaultsAndEnds").wait(), 0);
  ASSERT_EQ(call("nvmlDeviceRegisterEvents", device(0), 8ull, set), Return::success);
  EXPECT_EQ(call("nvmlEventSetWait_v2", set, &data, 0u), Return::timeout);
  EXPECT_EQ(Child("ChildProcess.DISABLED_FaultsAndEnds").wait(), 0);
  EXPECT_EQ(call("nvmlEventSetWait_v2", set, &data, 0u), Return::success);
}

TEST_F(Events, OtherKindsAreNotSupported) {
  unsigned long long types = 0;
  EXPECT_EQ(call("nvmlDeviceGetSupportedEventTypes", device(), &types), Return::success);
  EXPECT_EQ(types, 8u);
  EXPECT_EQ(call("nvmlDeviceRegisterEvents", device(), 1ull, set), Return::not_supported);
  EXPECT_EQ(call("nvmlDeviceRegisterEvents", device(), 0ull, set), Return::success);
}

TEST_F(Events, WaitingTakesTheTimeThatIsGiven) {
  ASSERT_EQ(call("nvmlDeviceRegisterEvents", device(), 8ull, set), Return::success);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(call("nvmlEventSetWait_v2", set, &data, 200u), Return::timeout);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(200));
}

TEST_F(NvmlTest, SystemEventsNeverHappen) {
  auto made = versioned<SystemEventSetRequest>(1);
  ASSERT_EQ(call("nvmlSystemEventSetCreate", &made), Return::success);
  auto wanted = versioned<SystemRegisterRequest>(1);
  wanted.types = 1;
  wanted.set = made.set;
  EXPECT_EQ(call("nvmlSystemRegisterEvents", &wanted), Return::success);
  auto request = versioned<SystemWaitRequest>(1);
  char room[64];
  request.timeout_ms = 20;
  request.set = made.set;
  request.data = room;
  request.capacity = 1;
  EXPECT_EQ(call("nvmlSystemEventSetWait", &request), Return::timeout);
  EXPECT_EQ(call("nvmlSystemEventSetFree", &made), Return::success);
  EXPECT_EQ(call("nvmlSystemEventSetFree", &made), Return::invalid_argument);
}

}  // namespace
}  // namespace nvml_test
