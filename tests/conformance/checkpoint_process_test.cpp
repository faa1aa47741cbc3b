// Checkpoints when processes die, stop, fork, end or are somebody else's. How softgpu bears it: of NVIDIA's driver it
// is not documented, and such a process may be lost there.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "conformance/checkpoint.hpp"
#include "conformance/gate.hpp"

namespace conformance {
namespace {

using std::chrono::milliseconds;

class CheckpointProcesses : public DriverTest {
 protected:
  void SetUp() override {
    if (!is_softgpu()) GTEST_SKIP() << "softgpu's own";
    DriverTest::SetUp();
  }
  void TearDown() override {
    if (is_softgpu()) DriverTest::TearDown();
  }
};

// For children that are not to be the controlled ones.
class CheckpointChild : public ChildProcess {};

bool becomes(int pid, CUprocessState wanted) {
  for (int i = 0; i < 200 && state_of(pid) != wanted; ++i) std::this_thread::sleep_for(milliseconds(10));
  return state_of(pid) == wanted;
}

TEST_F(CheckpointProcesses, AProcessWithoutTheDriverIsSaidSo) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[1]);
    char end = 0;
    _exit(static_cast<int>(read(ends[0], &end, 1)));
  }
  CUprocessState state{};
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_INITIALIZED, CU(cuCheckpointProcessGetState)(child, &state));
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_INITIALIZED, lock(child));
  close(ends[0]);
  close(ends[1]);
  waitpid(child, nullptr, 0);
}

TEST_F(CheckpointProcesses, AnotherUsersProcessIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  int ends[2], ready[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[1]);
    char end = 0;
    constexpr uid_t kNobody = 65534;
    if (setuid(kNobody) != 0 || write(ready[1], "r", 1) != 1) _exit(1);
    _exit(static_cast<int>(read(ends[0], &end, 1)));
  }
  char said = 0;
  ASSERT_EQ(read(ready[0], &said, 1), 1);
  CUprocessState state{};
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_PERMITTED, CU(cuCheckpointProcessGetState)(child, &state));
  for (const int end : {ends[0], ends[1], ready[0], ready[1]}) close(end);
  waitpid(child, nullptr, 0);
}

TEST_F(CheckpointProcesses, AStoppedProcessIsNotWaitedForForEver) {
  Target target;
  ::kill(target.pid(), SIGSTOP);
  ASSERT_EQ(waitpid(target.pid(), nullptr, WUNTRACED), target.pid());  // until all of its threads have stopped
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_CUDA_ERROR(CUDA_ERROR_TIMEOUT, CU(cuCheckpointProcessLock)(target.pid(), nullptr));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  ::kill(target.pid(), SIGCONT);
  EXPECT_TRUE(target.get(Ask::check));  // nobody waited for the lock any more
  EXPECT_EQ(state_of(target.pid()), CU_PROCESS_STATE_RUNNING);
}

TEST_F(CheckpointProcesses, AProcessThatIsKilledEndsTheWait) {
  Target target;
  ASSERT_TRUE(target.get(Ask::hold));
  std::thread killer([&] {
    std::this_thread::sleep_for(milliseconds(300));
    ::kill(target.pid(), SIGKILL);
  });
  EXPECT_CUDA_ERROR(CUDA_ERROR_OPERATING_SYSTEM, CU(cuCheckpointProcessLock)(target.pid(), nullptr));
  killer.join();
}

TEST_F(CheckpointChild, DISABLED_Locks) {
  const int pid = parent().receive<int>();
  parent().signal();
  CU(cuCheckpointProcessLock)(pid, nullptr);
  parent().await();
}

TEST_F(CheckpointProcesses, ALockIsGivenUpWhenItsControllerDiesWaiting) {
  Target target;
  ASSERT_TRUE(target.get(Ask::hold));
  Child controller("CheckpointChild.DISABLED_Locks");
  controller.channel().send(target.pid());
  controller.channel().await();
  std::this_thread::sleep_for(milliseconds(200));
  target.ask(Ask::free_memory);
  EXPECT_FALSE(target.child().channel().has_something(200));
  controller.kill();
  EXPECT_GT(target.answer<std::size_t>(), 0u);  // with the kernel still running
  EXPECT_EQ(state_of(target.pid()), CU_PROCESS_STATE_RUNNING);
  EXPECT_TRUE(target.get(Ask::let_go));
}

TEST_F(CheckpointProcesses, ALockStaysWhenItsControllerDiesAndOthersCanGoOn) {
  Target target;
  Child controller("CheckpointChild.DISABLED_Locks");
  controller.channel().send(target.pid());
  ASSERT_TRUE(becomes(target.pid(), CU_PROCESS_STATE_LOCKED));
  controller.kill();
  EXPECT_EQ(state_of(target.pid()), CU_PROCESS_STATE_LOCKED);
  ASSERT_SUCCESS(checkpoint(target.pid()));
  ASSERT_SUCCESS(restore(target.pid()));
  ASSERT_SUCCESS(unlock(target.pid()));
  EXPECT_TRUE(target.get(Ask::check));
}

TEST_F(CheckpointProcesses, OfTwoWhoWaitForTheLockOneGetsIt) {
  Target target;
  ASSERT_TRUE(target.get(Ask::hold));
  CUresult results[2];
  std::thread first([&] { results[0] = lock(target.pid()); }), second([&] { results[1] = lock(target.pid()); });
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_EQ(state_of(target.pid()), CU_PROCESS_STATE_RUNNING);  // and questions are answered
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_STATE, unlock(target.pid()));
  EXPECT_TRUE(target.get(Ask::let_go));
  first.join();
  second.join();
  EXPECT_EQ((results[0] == CUDA_SUCCESS) + (results[1] == CUDA_SUCCESS), 1);
  EXPECT_EQ((results[0] == CUDA_ERROR_ILLEGAL_STATE) + (results[1] == CUDA_ERROR_ILLEGAL_STATE), 1);
  ASSERT_SUCCESS(unlock(target.pid()));
}

TEST_F(CheckpointProcesses, AProcessCanCheckpointItself) {
  const TestModule module(kKernels);
  const DeviceMemory memory(sizeof(int));
  int value = 7;
  ASSERT_SUCCESS(CU(cuMemcpyHtoD)(memory.get(), &value, sizeof value));
  const int self = getpid();
  ASSERT_SUCCESS(lock(self));
  std::atomic<bool> done = false;
  std::thread other([&] {
    EXPECT_SUCCESS(CU(cuCtxSetCurrent)(context_));
    EXPECT_SUCCESS(launch(module.function("increment"), 1, 1, nullptr, memory.get(), 1));
    EXPECT_SUCCESS(CU(cuCtxSynchronize)());
    done = true;
  });
  ASSERT_SUCCESS(checkpoint(self));
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_FALSE(done);
  ASSERT_SUCCESS(restore(self));
  ASSERT_SUCCESS(unlock(self));
  other.join();
  ASSERT_SUCCESS(CU(cuMemcpyDtoH)(&value, memory.get(), sizeof value));
  EXPECT_EQ(value, 8);
}

TEST_F(CheckpointProcesses, AHostFunctionCanNotLockItsOwnProcess) {
  const TestStream stream;
  CUresult result = CUDA_SUCCESS;
  const auto locks = [](void* to) { *static_cast<CUresult*>(to) = lock(getpid(), 100); };
  ASSERT_SUCCESS(CU(cuLaunchHostFunc)(stream.get(), locks, &result));
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_EQ(name_of(result), "CUDA_ERROR_NOT_PERMITTED");
}

TEST_F(CheckpointProcesses, SharedMemoryKeepsAProcessFromBeingCheckpointed) {
  Target target;
  ASSERT_TRUE(target.get(Ask::share));
  ASSERT_SUCCESS(lock(target.pid()));
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_SUPPORTED, checkpoint(target.pid()));
  EXPECT_EQ(state_of(target.pid()), CU_PROCESS_STATE_LOCKED);
  ASSERT_SUCCESS(unlock(target.pid()));
  EXPECT_TRUE(target.get(Ask::check));
}

// Files of the process, those without a name among them, may not be longer meanwhile.
class FileLimit {
 public:
  FileLimit(int pid, std::size_t bytes) : pid_(pid) {
    EXPECT_EQ(prlimit(pid, RLIMIT_FSIZE, nullptr, &before_), 0);
    const rlimit limited{bytes, before_.rlim_max};
    EXPECT_EQ(prlimit(pid, RLIMIT_FSIZE, &limited, nullptr), 0);
  }
  ~FileLimit() { EXPECT_EQ(prlimit(pid_, RLIMIT_FSIZE, &before_, nullptr), 0); }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;

 private:
  const int pid_;
  rlimit before_{};
};

TEST_F(CheckpointProcesses, WhatCanNotBeBroughtBackIsFailed) {
  Target target;
  const int pid = target.pid();
  ASSERT_SUCCESS(lock(pid));
  ASSERT_SUCCESS(checkpoint(pid));
  target.ask(Ask::free_memory);
  {
    const FileLimit limit(pid, 1 << 20);  // too little for memory of cuMemCreate
    EXPECT_CUDA_ERROR(CUDA_ERROR_OUT_OF_MEMORY, restore(pid));
  }
  EXPECT_EQ(state_of(pid), CU_PROCESS_STATE_FAILED);
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_STATE, lock(pid));
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_STATE, checkpoint(pid));
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_STATE, restore(pid));
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_STATE, unlock(pid));
  EXPECT_EQ(target.answer<std::size_t>(), 0u);  // its calls fail, and wait for nobody
}

TEST_F(CheckpointProcesses, WithoutRoomForTheContentsTheyStay) {
  Target target;
  ASSERT_SUCCESS(lock(target.pid()));
  {
    const FileLimit limit(target.pid(), std::size_t{5} << 20);  // one kind of memory fits, and not the next
    EXPECT_CUDA_ERROR(CUDA_ERROR_OUT_OF_MEMORY, checkpoint(target.pid()));
  }
  EXPECT_EQ(state_of(target.pid()), CU_PROCESS_STATE_LOCKED);
  ASSERT_SUCCESS(unlock(target.pid()));
  EXPECT_TRUE(target.get(Ask::check));
}

TEST_F(CheckpointProcesses, SignalsEndAProcessThatWaits) {
  Target target;
  ASSERT_SUCCESS(lock(target.pid()));
  target.ask(Ask::free_memory);
  EXPECT_FALSE(target.child().channel().has_something(100));
  ::kill(target.pid(), SIGTERM);
  const int status = target.child().wait();
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

// What programs release at their end.
struct ReleasesAtExit {
  CUdeviceptr memory = 0;
  ~ReleasesAtExit() { CU(cuMemFree)(memory); }
};

TEST_F(CheckpointChild, DISABLED_EndsLocked) {
  static ReleasesAtExit released;
  ASSERT_SUCCESS(CU(cuMemAlloc)(&released.memory, 1 << 20));
  ASSERT_SUCCESS(CU(cuMemsetD8)(released.memory, 1, 1 << 20));
  std::thread([] {
    CU(cuCtxSynchronize)();
    for (;;) CU(cuCtxSynchronize)();  // held, and no hindrance
  }).detach();
  parent().signal();
  parent().await();
  std::exit(0);
}

TEST_F(CheckpointProcesses, AnExitDoesNotWaitForTheUnlock) {
  for (const bool checkpointed : {false, true}) {
    Child child("CheckpointChild.DISABLED_EndsLocked");
    child.channel().await();
    ASSERT_SUCCESS(lock(child.id()));
    if (checkpointed) {
      ASSERT_SUCCESS(checkpoint(child.id()));
    }
    child.channel().signal();
    EXPECT_EQ(child.wait(), 0);
  }
}

TEST_F(CheckpointChild, DISABLED_ForksLocked) {
  parent().signal();
  parent().await();
  const pid_t child = fork();
  if (child == 0) {  // it has no driver, and nothing to wait for
    CUprocessState state{};
    const bool refused = CU(cuCtxSynchronize)() == CUDA_ERROR_NOT_INITIALIZED &&
                         CU(cuCheckpointProcessGetState)(getpid(), &state) == CUDA_ERROR_NOT_INITIALIZED &&
                         CU(cuCheckpointProcessGetState)(getppid(), &state) == CUDA_SUCCESS &&
                         state == CU_PROCESS_STATE_LOCKED;
    std::exit(refused ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  parent().send(status);
}

TEST_F(CheckpointProcesses, AForkWhileLockedGoesOn) {
  Child child("CheckpointChild.DISABLED_ForksLocked");
  child.channel().await();
  ASSERT_SUCCESS(lock(child.id()));
  child.channel().signal();
  EXPECT_EQ(child.channel().receive<int>(), 0);
  EXPECT_EQ(state_of(child.id()), CU_PROCESS_STATE_LOCKED);  // the child's end was not its own
  ASSERT_SUCCESS(unlock(child.id()));
  EXPECT_EQ(child.wait(), 0);
}

class CheckpointDevices : public CheckpointProcesses {
 protected:
  static CUuuid uuid_of(int device) {
    CUuuid uuid{};
    EXPECT_SUCCESS(CU(cuDeviceGetUuid)(&uuid, 0));
    uuid.bytes[15] = static_cast<char>(device);  // this process has one device
    return uuid;
  }
  static CUresult restore_on(int pid, std::vector<CUcheckpointGpuPair> pairs) {
    CUcheckpointRestoreArgs arguments{};
    arguments.gpuPairs = pairs.data();
    arguments.gpuPairsCount = static_cast<unsigned>(pairs.size());
    return CU(cuCheckpointProcessRestore)(pid, &arguments);
  }
  static bool is_on(Target& target, int device) {
    const CUuuid found = target.get<CUuuid>(Ask::uuid), wanted = uuid_of(device);
    return std::memcmp(&found, &wanted, sizeof found) == 0;
  }
};

TEST_F(CheckpointDevices, AProcessGoesOnOnAnother) {
  Target target({"SOFTGPU_DEVICES=2"});
  const int pid = target.pid();
  const CUuuid first = uuid_of(0), second = uuid_of(1);
  EXPECT_TRUE(is_on(target, 0));
  for (const int device : {1, 0}) {
    ASSERT_SUCCESS(lock(pid));
    ASSERT_SUCCESS(checkpoint(pid));
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, restore_on(pid, {{first, second}}));
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, restore_on(pid, {{first, second}, {second, second}}));
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, restore_on(pid, {{first, second}, {first, first}}));
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, restore_on(pid, {{first, second}, {second, uuid_of(2)}}));
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                      restore_on(pid, {{first, second}, {second, first}, {uuid_of(2), uuid_of(2)}}));
    ASSERT_SUCCESS(restore_on(pid, {{first, second}, {second, first}}));
    ASSERT_SUCCESS(unlock(pid));
    EXPECT_TRUE(is_on(target, device));
    EXPECT_TRUE(target.get(Ask::check));
  }
}

TEST_F(CheckpointDevices, AnotherMustBeLargeEnough) {
  Target target({"SOFTGPU_DEVICES=2", "SOFTGPU_MEMORY=256M,8M"});
  const int pid = target.pid();
  const CUuuid first = uuid_of(0), second = uuid_of(1);
  ASSERT_SUCCESS(lock(pid));
  ASSERT_SUCCESS(checkpoint(pid));
  EXPECT_CUDA_ERROR(CUDA_ERROR_OUT_OF_MEMORY, restore_on(pid, {{first, second}, {second, first}}));
  EXPECT_EQ(state_of(pid), CU_PROCESS_STATE_CHECKPOINTED);
  ASSERT_SUCCESS(restore_on(pid, {{first, first}, {second, second}}));
  ASSERT_SUCCESS(unlock(pid));
  EXPECT_TRUE(target.get(Ask::check));
}

}  // namespace
}  // namespace conformance
