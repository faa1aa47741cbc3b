// Clusters: who is who, the barrier, and the shared memory of the other blocks.
#include "ptx/run_kernel.hpp"

namespace ptx_test {
namespace {

using U = std::uint32_t;

class Cluster : public PtxTest {
 protected:
  void SetUp() override {
    PtxTest::SetUp();
    int supported = 0;
    ASSERT_SUCCESS(CU(cuDeviceGetAttribute)(&supported, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, device_));
    if (supported == 0) GTEST_SKIP() << "the device has no clusters";
  }
};

constexpr const char* kSync = "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;\n";
constexpr const char* kShared = ".shared .align 8 .b32 cell[64];\n";

// %r30 becomes the rank of the next block of the cluster, and %r29 that of this one.
constexpr const char* kNextRank =
    "mov.u32 %r29, %cluster_ctarank; mov.u32 %r28, %cluster_nctarank; add.u32 %r30, %r29, 1; rem.u32 %r30, %r30, "
    "%r28;\n";
// %r27 becomes the offset of the thread's own element of an array of words.
constexpr const char* kOwnOffset = "shl.b32 %r27, %t, 2;\n";

// What each thread of `clusters` clusters of `blocks` blocks of `threads` threads stored.
std::vector<U> run_clusters(const std::string& statements, unsigned clusters, unsigned blocks, unsigned threads) {
  return run_kernel(kernel_text(own_element() + statements, kShared), std::vector<U>(clusters * blocks * threads),
                    {.grid_x = clusters * blocks, .block_x = threads, .cluster_x = blocks});
}

TEST_F(Cluster, RegistersTellTheBlockAndItsCluster) {
  // One thread a block; a grid of 4 x 4 x 2 blocks in clusters of 2 x 4 x 1.
  const Shape shape{
      .grid_x = 4, .grid_y = 4, .grid_z = 2, .block_x = 1, .cluster_x = 2, .cluster_y = 4, .cluster_z = 1};
  const auto expect = [&](const std::string& name, auto value) {
    const auto result = run_kernel(
        kernel_text("mov.u32 %r0, %ctaid.z; mov.u32 %r1, %ctaid.y; shl.b32 %r0, %r0, 2; add.u32 %r0, %r0, %r1; shl.b32 "
                    "%r0, %r0, 2; add.u32 %r0, %r0, %block; mul.wide.u32 %d0, %r0, 4; add.u64 %d0, %data, %d0; mov.u32 "
                    "%r1, " +
                    name + "; st.global.u32 [%d0], %r1;"),
        std::vector<U>(32), shape);
    EXPECT_EQ(result, each_thread(32, [&](unsigned i) { return value(i % 4, i / 4 % 4, i / 16); })) << name;
  };
  expect("%clusterid.x", [](U x, U, U) { return x / 2; });
  expect("%clusterid.y", [](U, U y, U) { return y / 4; });
  expect("%clusterid.z", [](U, U, U z) { return z; });
  expect("%nclusterid.x", [](U, U, U) { return 2; });
  expect("%nclusterid.y", [](U, U, U) { return 1; });
  expect("%nclusterid.z", [](U, U, U) { return 2; });
  expect("%cluster_ctaid.x", [](U x, U, U) { return x % 2; });
  expect("%cluster_ctaid.y", [](U, U y, U) { return y; });
  expect("%cluster_ctaid.z", [](U, U, U) { return 0; });
  expect("%cluster_nctaid.x", [](U, U, U) { return 2; });
  expect("%cluster_nctaid.y", [](U, U, U) { return 4; });
  expect("%cluster_nctaid.z", [](U, U, U) { return 1; });
  expect("%cluster_ctarank", [](U x, U y, U) { return x % 2 + 2 * y; });
  expect("%cluster_nctarank", [](U, U, U) { return 8; });
  expect("%nctaid.x", [](U, U, U) { return 4; });
}

TEST_F(Cluster, IsExplicitWhenTheLaunchNamesIt) {
  const std::string text =
      kernel_text("mov.pred %p0, %is_explicit_cluster; selp.u32 %r0, 1, 0, %p0; st.global.u32 [%data], %r0;");
  EXPECT_EQ(run_kernel(text, std::vector<U>{7}, {.grid_x = 2, .block_x = 1, .cluster_x = 2}), std::vector<U>{1});
  EXPECT_EQ(run_kernel(text, std::vector<U>{7}, {.grid_x = 2, .block_x = 1}), std::vector<U>{0});
}

TEST_F(Cluster, ThreadsReadTheSharedMemoryOfAnotherBlock) {
  const std::string body = std::string(kNextRank) + kOwnOffset +
                           "mov.u32 %r0, cell; add.u32 %r0, %r0, %r27; mad.lo.u32 %r1, %block, 1000, %t; st.shared.u32 "
                           "[%r0], %r1;\n" +
                           kSync + "mapa.shared::cluster.u32 %r2, %r0, %r30; ld.shared::cluster.u32 %r3, [%r2];\n" +
                           kSync + store("%r3");
  EXPECT_EQ(run_clusters(body, 3, 4, 48), each_thread(3 * 4 * 48, [](unsigned i) {
              const unsigned block = i / 48;
              return (block / 4 * 4 + (block + 1) % 4) * 1000 + i % 48;
            }));
}

TEST_F(Cluster, ThreadsWriteThroughGenericAddresses) {
  const std::string body =
      std::string(kNextRank) + kSync +
      "mov.u64 %d0, cell; cvta.shared.u64 %d0, %d0; mapa.u64 %d1, %d0, %r30; mul.wide.u32 %d2, %t, "
      "4; add.u64 %d1, %d1, %d2; mad.lo.u32 %r1, %block, 100, %t; st.u32 [%d1], %r1;\n" +
      kSync + kOwnOffset + "mov.u32 %r0, cell; add.u32 %r0, %r0, %r27; ld.shared.u32 %r2, [%r0];\n" + store("%r2");
  EXPECT_EQ(run_clusters(body, 2, 2, 33), each_thread(2 * 2 * 33, [](unsigned i) {
              const unsigned block = i / 33;
              return (block ^ 1) * 100 + i % 33;
            }));
}

// Every thread of the cluster adds to a counter in block 0, with and without the old value, in both spaces.
TEST_F(Cluster, AtomicsMeetInOneBlock) {
  const std::string body = std::string(
                               "setp.eq.u32 %p0, %t, 0; @%p0 st.shared.u32 [cell], 0; @%p0 st.shared.u32 "
                               "[cell+4], 0;\n") +
                           kSync +
                           "mapa.shared::cluster.u32 %r0, cell, 0; atom.shared::cluster.add.u32 %r1, [%r0], 1; "
                           "red.relaxed.cluster.shared::cluster.add.u32 [%r0], 2;\n"
                           "mapa.shared::cluster.u64 %d0, cell+4, 0; cvta.shared::cluster.u64 %d1, %d0; "
                           "red.cluster.max.u32 [%d1], %r31;\n" +
                           kSync + "ld.shared::cluster.v2.u32 {%r2, %r3}, [%r0]; add.u32 %r2, %r2, %r3;\n" + kSync +
                           store("%r2");
  EXPECT_EQ(run_clusters(body, 2, 8, 40),
            each_thread(2 * 8 * 40, [](unsigned i) { return 3 * 320 + (i / 320 + 1) * 320 - 1; }));
}

TEST_F(Cluster, AddressesTellTheirBlock) {
  const std::string body =
      std::string(kNextRank) + kSync +
      "mapa.shared::cluster.u32 %r0, cell+8, %r30; getctarank.shared::cluster.u32 %r1, %r0;\n"
      "getctarank.shared::cluster.u32 %r2, cell;\n"
      "mov.u64 %d0, cell; cvta.shared.u64 %d0, %d0; mapa.u64 %d1, %d0, %r30; getctarank.u64 %r3, "
      "%d1; getctarank.u64 %r4, %d0;\n"
      "mov.u32 %r5, 0; isspacep.shared::cluster %p0, %d1; @%p0 or.b32 %r5, %r5, 1; "
      "isspacep.shared::cta %p0, %d1; @%p0 or.b32 %r5, %r5, 2; isspacep.global %p0, %d1; @%p0 or.b32 "
      "%r5, %r5, 4;\n"
      "isspacep.shared::cluster %p0, %d0; @%p0 or.b32 %r5, %r5, 8; isspacep.shared %p0, %d0; @%p0 "
      "or.b32 %r5, %r5, 16; isspacep.shared::cluster %p0, %data; @%p0 or.b32 %r5, %r5, 32;\n"
      "cvta.to.shared::cluster.u64 %d2, %d1; cvt.u32.u64 %r6, %d2; getctarank.shared::cluster.u32 "
      "%r6, %r6;\n"
      "shl.b32 %r1, %r1, 4; or.b32 %r1, %r1, %r2; shl.b32 %r1, %r1, 4; or.b32 %r1, %r1, %r3; shl.b32 "
      "%r1, %r1, 4; or.b32 %r1, %r1, %r4; shl.b32 %r1, %r1, 4; or.b32 %r1, %r1, %r6; shl.b32 %r1, "
      "%r1, 8; or.b32 %r1, %r1, %r5;\n" +
      kSync + store("%r1");
  EXPECT_EQ(run_clusters(body, 1, 3, 1), each_thread(3, [](unsigned own) {
              const unsigned next = (own + 1) % 3;
              return ((next << 16 | own << 12 | next << 8 | own << 4 | next) << 8) | 1 | 8 | 16;
            }));
}

// An address in the cluster's space means the same to all of its blocks.
TEST_F(Cluster, AddressesCanBeHandedOn) {
  const std::string body =
      std::string(kNextRank) +
      "mapa.shared::cluster.u32 %r0, cell, %r29; add.u32 %r1, %r29, 50; st.shared.u32 [cell], %r1;\n"
      "mapa.shared::cluster.u32 %r2, cell+4, %r30;\n" +
      kSync + "st.shared::cluster.u32 [%r2], %r0;\n" + kSync +
      "ld.shared.u32 %r3, [cell+4]; ld.shared::cluster.u32 %r4, [%r3];\n" + kSync + store("%r4");
  EXPECT_EQ(run_clusters(body, 1, 4, 1), (std::vector<U>{53, 50, 51, 52}));
}

TEST_F(Cluster, BarrierCountsTheThreadsThatHaveNotExited) {
  // The last block leaves at once, and half of each other one.
  const std::string body =
      std::string(kNextRank) + "setp.eq.u32 %p0, %r29, 2; @%p0 exit; setp.ge.u32 %p0, %t, 32; @%p0 exit;\n" + kSync +
      "st.shared.u32 [cell], %block;\n" + kSync +
      "mapa.shared::cluster.u32 %r0, cell, 1; ld.shared::cluster.u32 %r1, [%r0];\n" + kSync + store("%r1");
  EXPECT_EQ(run_clusters(body, 1, 3, 64), each_thread(192, [](unsigned i) { return i < 128 && i % 64 < 32 ? 1 : 0; }));
}

// Without .aligned the threads of a warp arrive one by one. An H200 waits for ever when they do by two instructions.
TEST_F(Cluster, ThreadsOfAWarpArriveApart) {
  if (!conformance::is_softgpu()) GTEST_SKIP() << "a GPU may wait for ever";
  const std::string body = std::string(
                               "and.b32 %r0, %t, 1; setp.eq.u32 %p0, %r0, 0; @%p0 bra EVEN;\n"
                               "st.shared.u32 [cell], 3; barrier.cluster.arrive; bra WAIT;\n"
                               "EVEN: nanosleep.u32 100; barrier.cluster.arrive.relaxed;\n"
                               "WAIT: barrier.cluster.wait;\n"
                               "mapa.shared::cluster.u32 %r1, cell, 1; ld.shared::cluster.u32 %r2, [%r1]; "
                               "barrier.cluster.arrive; barrier.cluster.wait;\n") +
                           store("%r2");
  EXPECT_EQ(run_clusters(body, 1, 2, 32), std::vector<U>(64, 3));
}

TEST_F(Cluster, WorkBetweenArrivingAndWaitingIsNotWaitedFor) {
  const std::string body =
      std::string(kNextRank) +
      "st.shared.u32 [cell], %r29; barrier.cluster.arrive.aligned; bar.sync 0; barrier.cluster.wait.aligned; "
      "mapa.shared::cluster.u32 %r0, cell, %r30; ld.shared::cluster.u32 %r1, [%r0]; "
      "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n" +
      store("%r1");
  EXPECT_EQ(run_clusters(body, 2, 2, 96), each_thread(2 * 2 * 96, [](unsigned i) { return i / 96 % 2 ^ 1; }));
}

// Block 1 spins on a flag in its own shared memory, which block 0 sets.
TEST_F(Cluster, BlocksRunTogether) {
  const std::string body =
      std::string(kNextRank) + "st.shared.u32 [cell], 0;\n" + kSync +
      "mapa.shared::cluster.u32 %r0, cell, %r30; setp.eq.u32 %p0, %r29, 0; @%p0 bra SET;\n"
      "SPIN: ld.acquire.cluster.shared.u32 %r1, [cell]; setp.eq.u32 %p1, %r1, 0; @%p1 bra SPIN; bra DONE;\n"
      "SET: mov.u32 %r1, 9; st.release.cluster.shared::cluster.u32 [%r0], %r1;\n"
      "DONE: " +
      kSync + store("%r1");
  EXPECT_EQ(run_clusters(body, 2, 2, 1), std::vector<U>(4, 9));
}

TEST_F(Cluster, ABlockAloneIsAClusterOfItsOwn) {
  const std::string body = std::string(kShared) + "";
  const std::string statements = std::string("st.shared.u32 [cell], %t;\n") + kSync +
                                 "mapa.shared::cluster.u32 %r0, cell, 0; st.shared::cluster.u32 [%r0], 5; "
                                 "ld.shared.u32 %r1, [cell];\n" +
                                 store("%r1");
  EXPECT_EQ(run_threads(statements, 1, body), std::vector<U>{5});
}

}  // namespace
}  // namespace ptx_test
