// Clusters: their blocks run together and see each other's shared memory.
#include <vector>

#include "unit/softgpu_exec/launch.hpp"

extern "C" void softgpu_rt_cluster_arrive(void* gang);

namespace softgpu::exec {
namespace {

std::uint32_t rank_of(const abi::Block& block) {
  const abi::Dim3 &i = block.index, &n = block.cluster;
  return i.x % n.x + n.x * (i.y % n.y + n.y * (i.z % n.z));
}

std::uint32_t* shared_of(const abi::Block& block, std::uint32_t rank) {
  const auto distance = (static_cast<std::ptrdiff_t>(rank) - rank_of(block)) << abi::kClusterStrideBits;
  return reinterpret_cast<std::uint32_t*>(block.shared + distance);
}

bool wait_for_cluster(Frame& gang) {
  gang.gang->reason = abi::Suspend::cluster_barrier;
  return true;
}

bool sync_cluster(Frame& gang) {
  softgpu_rt_cluster_arrive(gang.gang);
  return wait_for_cluster(gang);
}

class ClustersOn : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Workers, ClustersOn, testing::Values(1, 3));

// In each round every gang adds a one to the cell of every block of its cluster.
struct Rounds {
  static constexpr int kRounds = 5;
  std::atomic<int> wrong{0}, ended{0};

  static bool step(Frame& gang) {
    const abi::Block& block = gang.block();
    const std::uint32_t blocks = block.cluster.x * block.cluster.y * block.cluster.z;
    Rounds& self = argument<Rounds>(block);
    if (gang.state == 0) {
      shared_of(block, rank_of(block))[0] = 0;
      return sync_cluster(gang);
    }
    if (gang.state % 2 == 1) {
      for (std::uint32_t rank = 0; rank < blocks; ++rank) shared_of(block, rank)[0] += 1;
    } else {
      const std::uint32_t gangs = blocks * ((block.size.x + 7) / 8);
      self.wrong += shared_of(block, rank_of(block))[0] != gangs * static_cast<std::uint32_t>(gang.state / 2);
    }
    if (gang.state < 2 * kRounds) return sync_cluster(gang);
    ++self.ended;
    return gang.end();
  }
};

TEST_P(ClustersOn, MeetAtTheirBarrier) {
  Pool pool({.workers = GetParam()});
  for (const abi::Dim3 cluster : {abi::Dim3{1, 1, 1}, abi::Dim3{2, 1, 1}, abi::Dim3{2, 3, 2}, abi::Dim3{16, 1, 1}}) {
    Rounds rounds;
    GridLaunch launch =
        launch_of(Gangs<Rounds::step>::code(), {2 * cluster.x, 2 * cluster.y, cluster.z}, {20}, &rounds);
    launch.cluster = cluster;
    launch.static_shared_bytes = 4;
    EXPECT_EQ(run(pool, std::move(launch)), Outcome::completed);
    EXPECT_EQ(rounds.wrong.load(), 0);
    EXPECT_EQ(rounds.ended.load(), static_cast<int>(4 * cluster.x * cluster.y * cluster.z * 3));
  }
}

// Gangs that have ended are not waited for, whether they have arrived before or not.
bool leave_in_part_step(Frame& gang) {
  const std::uint32_t rank = rank_of(gang.block());
  if (gang.state == 0 && rank == 0) return gang.end();
  if (gang.state == 0 && rank == 1) {
    softgpu_rt_cluster_arrive(gang.gang);
    return gang.end();
  }
  if (gang.state < 3) return sync_cluster(gang);
  ++argument<std::atomic<int>>(gang.block());
  return gang.end();
}

TEST_P(ClustersOn, DoNotWaitForThreadsThatHaveEnded) {
  Pool pool({.workers = GetParam()});
  std::atomic<int> ended = 0;
  GridLaunch launch = launch_of(Gangs<leave_in_part_step>::code(), {8}, {16}, &ended);
  launch.cluster = {4};
  EXPECT_EQ(run(pool, std::move(launch)), Outcome::completed);
  EXPECT_EQ(ended.load(), 2 * 2 * 2);
}

// Block 0 waits at the cluster's barrier for block 1, whose first gang waits at a barrier for its second.
bool deadlock_step(Frame& gang) {
  if (gang.state > 0) return gang.end();
  if (rank_of(gang.block()) == 1 && gang.is_first()) return gang.barrier(5, 64);
  return sync_cluster(gang);
}

TEST_P(ClustersOn, SayWhoWaitsForWhomWhenNobodyCanGoOn) {
  Pool pool({.workers = GetParam()});
  GridLaunch launch = launch_of(Gangs<deadlock_step>::code(), {2}, {16});
  launch.cluster = {2};
  testing::internal::CaptureStderr();
  EXPECT_EQ(run(pool, std::move(launch)), Outcome::barrier_deadlock);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("block (0,0,0): all remaining threads wait and none can go on: 16 threads wait for "
                      "the rest of the cluster"),
            std::string::npos)
      << said;
  EXPECT_NE(
      said.find("block (1,0,0): all remaining threads wait and none can go on: 8 threads wait at a barrier, 8 threads "
                "wait for the rest of the cluster to arrive at its barrier; barrier 5 has 8 of 64 threads"),
      std::string::npos)
      << said;
}

}  // namespace
}  // namespace softgpu::exec
