// Checkpoints of other processes, as <cuda.h> documents them.
#include "conformance/checkpoint.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace conformance {
namespace {

class Checkpoint : public DriverTest {
 protected:
  // Nothing comes from the target for a while.
  static bool is_silent(Target& target) { return !target.child().channel().has_something(300); }
};

TEST_F(Checkpoint, AProcessRunsAtFirstAndHasARestoreThread) {
  Target target;
  EXPECT_EQ(state_of(target.pid()), CU_PROCESS_STATE_RUNNING);
  int thread = 0;
  ASSERT_SUCCESS(CU(cuCheckpointProcessGetRestoreThreadId)(target.pid(), &thread));
  struct stat status;
  EXPECT_EQ(stat(("/proc/" + std::to_string(target.pid()) + "/task/" + std::to_string(thread)).c_str(), &status), 0);
  EXPECT_EQ(target.leave(), 0);
}

TEST_F(Checkpoint, BringsEverythingBack) {
  Target target;
  const int pid = target.pid();
  ASSERT_TRUE(target.get(Ask::check));
  for (int round = 0; round < 3; ++round) {
    ASSERT_SUCCESS(lock(pid));
    EXPECT_EQ(state_of(pid), CU_PROCESS_STATE_LOCKED);
    ASSERT_SUCCESS(checkpoint(pid));
    EXPECT_EQ(state_of(pid), CU_PROCESS_STATE_CHECKPOINTED);
    ASSERT_SUCCESS(restore(pid));
    EXPECT_EQ(state_of(pid), CU_PROCESS_STATE_LOCKED);
    ASSERT_SUCCESS(unlock(pid));
    EXPECT_EQ(state_of(pid), CU_PROCESS_STATE_RUNNING);
    EXPECT_TRUE(target.get(Ask::check)) << "round " << round;
  }
  EXPECT_EQ(target.leave(), 0);
}

// NVIDIA's driver answers what needs no device all the while, as cuStreamQuery and cuMemGetInfo do.
TEST_F(Checkpoint, ALockedProcessWaitsInItsNextCallOfTheDevice) {
  Target target;
  ASSERT_SUCCESS(lock(target.pid()));
  target.ask(Ask::allocate);
  EXPECT_TRUE(is_silent(target));
  ASSERT_SUCCESS(checkpoint(target.pid()));
  ASSERT_SUCCESS(restore(target.pid()));
  EXPECT_TRUE(is_silent(target));
  ASSERT_SUCCESS(unlock(target.pid()));
  EXPECT_TRUE(target.answer());
  EXPECT_TRUE(target.get(Ask::check));
}

TEST_F(Checkpoint, LockingWaitsForWorkAndGivesUpInTime) {
  Target target;
  ASSERT_TRUE(target.get(Ask::hold));
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_READY, lock(target.pid(), 200));
  EXPECT_EQ(state_of(target.pid()), CU_PROCESS_STATE_RUNNING);
  target.get<std::size_t>(Ask::free_memory);  // and its calls are served
  ASSERT_TRUE(target.get(Ask::let_go));
  ASSERT_SUCCESS(lock(target.pid()));
  ASSERT_SUCCESS(unlock(target.pid()));
  EXPECT_TRUE(target.get(Ask::wait));
}

TEST_F(Checkpoint, ACheckpointedProcessHasNoDeviceMemory) {
  Target target;
  const auto before = target.get<std::size_t>(Ask::free_memory);
  std::size_t ours_before = 0, ours = 0, total = 0;
  ASSERT_SUCCESS(CU(cuMemGetInfo)(&ours_before, &total));
  [[maybe_unused]] const std::size_t resident = target.resident();
  ASSERT_SUCCESS(lock(target.pid()));
  ASSERT_SUCCESS(checkpoint(target.pid()));
  constexpr std::size_t kLeast = 3 * (std::size_t{4} << 20);
  if (is_softgpu()) {  // whose processes see their own memory in cuMemGetInfo, and whose device memory is the host's
#ifndef __SANITIZE_THREAD__  // which has memory of its own for every word that is read or written
    constexpr std::size_t for_itself = std::size_t{2} << 20;
    EXPECT_LE(target.resident() + kLeast, resident + for_itself);
#endif
  } else {
    ASSERT_SUCCESS(CU(cuMemGetInfo)(&ours, &total));
    EXPECT_GE(ours, ours_before + kLeast);
  }
  ASSERT_SUCCESS(restore(target.pid()));
  ASSERT_SUCCESS(unlock(target.pid()));
  const auto after = target.get<std::size_t>(Ask::free_memory);
  EXPECT_TRUE(after == before || !is_softgpu());  // of a GPU others use memory, too
  EXPECT_TRUE(target.get(Ask::check));
}

TEST_F(Checkpoint, OtherWaysBetweenStatesAreRefused) {
  Target target;
  const int pid = target.pid();
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_STATE, checkpoint(pid));
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_STATE, restore(pid));
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_STATE, unlock(pid));
  ASSERT_SUCCESS(lock(pid));
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_STATE, lock(pid));
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_STATE, restore(pid));
  ASSERT_SUCCESS(checkpoint(pid));
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_STATE, lock(pid));
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_STATE, checkpoint(pid));
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_STATE, unlock(pid));
  ASSERT_SUCCESS(restore(pid));
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_STATE, restore(pid));
  ASSERT_SUCCESS(unlock(pid));
  EXPECT_EQ(state_of(pid), CU_PROCESS_STATE_RUNNING);
  EXPECT_TRUE(target.get(Ask::check));
}

TEST_F(Checkpoint, AProcessThatIsGoneIsSaidSo) {
  CUprocessState state{};
  const pid_t child = fork();
  if (child == 0) _exit(0);
  siginfo_t info{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);  // it waits for its parent
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_INITIALIZED, CU(cuCheckpointProcessGetState)(child, &state));
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_CUDA_ERROR(CUDA_ERROR_OPERATING_SYSTEM, CU(cuCheckpointProcessGetState)(child, &state));
  EXPECT_CUDA_ERROR(CUDA_ERROR_OPERATING_SYSTEM, lock(child));
}

TEST_F(Checkpoint, BadArgumentsAreRefused) {
  CUprocessState state{};
  int thread = 0;
  for (const int pid : {0, -1}) {
    EXPECT_CUDA_ERROR(CUDA_ERROR_OPERATING_SYSTEM, CU(cuCheckpointProcessGetState)(pid, &state));
    EXPECT_CUDA_ERROR(CUDA_ERROR_OPERATING_SYSTEM, CU(cuCheckpointProcessGetRestoreThreadId)(pid, &thread));
    EXPECT_CUDA_ERROR(CUDA_ERROR_OPERATING_SYSTEM, lock(pid));
    EXPECT_CUDA_ERROR(CUDA_ERROR_OPERATING_SYSTEM, checkpoint(pid));
    EXPECT_CUDA_ERROR(CUDA_ERROR_OPERATING_SYSTEM, restore(pid));
    EXPECT_CUDA_ERROR(CUDA_ERROR_OPERATING_SYSTEM, unlock(pid));
  }
  Target target;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuCheckpointProcessGetState)(target.pid(), nullptr));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuCheckpointProcessGetRestoreThreadId)(target.pid(), nullptr));
  CUcheckpointLockArgs arguments{};
  arguments.reserved1[6] = 1;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuCheckpointProcessLock)(target.pid(), &arguments));
  EXPECT_EQ(state_of(target.pid()), CU_PROCESS_STATE_RUNNING);
}

TEST_F(Checkpoint, PairsMustNameEveryDeviceAndAPlaceForIt) {
  Target target;
  const int pid = target.pid();
  const CUuuid uuid = target.get<CUuuid>(Ask::uuid);
  ASSERT_SUCCESS(lock(pid));
  ASSERT_SUCCESS(checkpoint(pid));
  CUcheckpointGpuPair pair{};
  CUcheckpointRestoreArgs arguments{};
  arguments.gpuPairs = &pair;
  arguments.gpuPairsCount = 1;
  pair = {CUuuid{}, uuid};  // no device of the process
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuCheckpointProcessRestore)(pid, &arguments));
  pair = {uuid, CUuuid{}};  // no device at all
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuCheckpointProcessRestore)(pid, &arguments));
  EXPECT_EQ(state_of(pid), CU_PROCESS_STATE_CHECKPOINTED);
  ASSERT_SUCCESS(restore(pid));
  ASSERT_SUCCESS(unlock(pid));
  EXPECT_TRUE(target.get(Ask::check));
}

}  // namespace
}  // namespace conformance
