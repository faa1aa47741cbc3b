// The conditions under which threads run in step (docs/design/simt.md), each on both of its sides.
#include <gtest/gtest.h>

#include <stdexcept>

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "softgpu/simt/marks.hpp"
#include "softgpu/simt/spin_loops.hpp"
#include "unit/softgpu_simt/kernel_text.hpp"

namespace softgpu::simt::test {
namespace {

constexpr unsigned kAlone = 1, kWarp = 32;

// How wide the gangs of a kernel with this body are.
unsigned width_of(const std::string& body, abi::Dim3 block = {64, 1, 1}) {
  return run(kernel(1, body), {.width = 0, .block = block, .compile_only = true}).width;
}

bool in_step(const std::string& body) { return width_of(body) > kAlone; }

// if (tx < 7) { inside } behind
std::string when_low(const std::string& inside, const std::string& behind,
                     const std::string& condition = "ult i32 %tx, 7") {
  return "  %low = icmp " + condition + "\n  br i1 %low, label %then, label %join\nthen:\n" + inside +
         "  br label %join\njoin:\n" + behind + "  ret void\n";
}

const std::string kStore = "  store i32 1, ptr %a0\n";
const std::string kBarrier = "  call void @softgpu.barrier_sync(i32 0, i32 0)\n";
const std::string kVote = "  %v = call i32 @softgpu.vote_ballot(i1 true, i32 -1)\n  store i32 %v, ptr %a0\n";

// ---- Spinning ----------------------------------------------------------------------------------

std::string loop_on(const std::string& read, const std::string& behind = "") {
  return "  br label %again\nagain:\n" + read +
         "  %more = icmp eq i32 %v, 0\n  br i1 %more, label %again, label %end\nend:\n" + behind + "  ret void\n";
}

// if (tx < 7) while (*flag == 0); behind
std::string low_lanes_spin(const std::string& behind) {
  return "  %low = icmp ult i32 %tx, 7\n  br i1 %low, label %again, label %join\nagain:\n"
         "  %v = load volatile i32, ptr %a0\n  %more = icmp eq i32 %v, 0\n"
         "  br i1 %more, label %again, label %join\njoin:\n" +
         behind + "  ret void\n";
}

TEST(Lockstep, LanesThatAllSpinTogetherDoSoInStep) {
  for (const char* read : {"  %v = load volatile i32, ptr %a0\n", "  %v = load atomic i32, ptr %a0 acquire, align 4\n",
                           "  %v = atomicrmw or ptr %a0, i32 0 monotonic\n",
                           "  %count = atomicrmw add ptr %a0, i32 2 monotonic\n  %v = and i32 %count, 1\n",
                           "  fence seq_cst\n  %v = load i32, ptr %a0\n"}) {
    const Ran ran = run(kernel(1, loop_on(read)), {.width = 0, .block = {64, 1, 1}, .compile_only = true});
    EXPECT_TRUE(ran.suspends) << read;
    EXPECT_GT(ran.width, 1U) << read;
  }
}

TEST(Lockstep, ALoopMayWaitByWhatABranchDecides) {
  const std::string body =
      "  br label %again\nagain:\n  %v = load volatile i32, ptr %a0\n  %set = icmp ne i32 %v, 0\n"
      "  br i1 %set, label %yes, label %no\nyes:\n  store i32 %tx, ptr %params\n  br label %next\n"
      "no:\n  store i32 1, ptr %params\n  br label %next\n"
      "next:\n  %more = phi i1 [ false, %yes ], [ true, %no ]\n  br i1 %more, label %again, label %end\nend:\n  ret "
      "void\n";
  EXPECT_TRUE(run(kernel(1, body), {.width = 0, .block = {64, 1, 1}, .compile_only = true}).suspends);
}

// The blocks of a kernel in which it is noted that threads have got on.
std::vector<std::string> ends_of_waiting(const std::string& body) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  const auto module = llvm::parseAssemblyString(
      "declare i32 @softgpu.tid_x()\ndefine void @kernel(ptr %a0) {\n  %tx = call i32 @softgpu.tid_x()\n" + body +
          "}\n",
      problem, context);
  if (!module) throw std::runtime_error(problem.getMessage().str());
  llvm::Function& kernel = *module->getFunction("kernel");
  mark_spin_loops(kernel);
  mark_ends_of_spin_loops(kernel);
  std::vector<std::string> blocks;
  for (const llvm::BasicBlock& block : kernel)
    for (const llvm::Instruction& instruction : block)
      if (mark_of(&instruction) == abi::Mark::spun) blocks.push_back(block.getName().str());
  return blocks;
}

// do { while (*a0 == 0); } while (as `outer` says);
TEST(Lockstep, WhoLeavesASpinLoopHasGotOnUnlessItIsWithinAnother) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(ends_of_waiting(loop_on("  %v = load volatile i32, ptr %a0\n")), Names{"end"});
  EXPECT_EQ(ends_of_waiting(loop_on("  %v = add i32 %tx, 1\n")), Names{});
  const auto nested = [](const std::string& outer) {
    return "  br label %first\nfirst:\n  %i = phi i32 [ 0, %0 ], [ %next, %second ]\n  br label %again\nagain:\n"
           "  %v = load volatile i32, ptr %a0\n  %more = icmp eq i32 %v, 0\n"
           "  br i1 %more, label %again, label %second\nsecond:\n  %next = add i32 %i, 1\n" +
           outer + "  br i1 %other, label %first, label %end\nend:\n  ret void\n";
  };
  EXPECT_EQ(ends_of_waiting(nested("  %other = icmp ult i32 %next, %tx\n")), Names{"second"}) << "rounds of a lock";
  EXPECT_EQ(ends_of_waiting(nested("  %w = load volatile i32, ptr %a0\n  %other = icmp ult i32 %w, 7\n")),
            Names{"end"});
}

TEST(Lockstep, ALoopThatGetsOnByItselfIsNoSpinning) {
  for (const char* read :
       {"  %count = atomicrmw add ptr %a0, i32 1 monotonic\n  %is_beyond = icmp ugt i32 %count, 100\n"
        "  %v = zext i1 %is_beyond to i32\n",
        "  %v = load i32, ptr %a0\n  store i32 %tx, ptr %a0\n"})
    EXPECT_FALSE(run(kernel(1, loop_on(read)), {.width = 0, .block = {64, 1, 1}, .compile_only = true}).suspends)
        << read;
}

// do { operation } while (the count is below the limit); suspends: it is taken for one that waits.
bool counting_waits(const std::string& operation, const std::string& limit = "100", const std::string& asked = "ult") {
  const std::string body =
      "  %n = trunc i64 %p1 to i32\n  br label %again\nagain:\n  %k = phi i32 [ 0, %entry ], [ %l, %again ]\n"
      "  %l = add i32 %k, 1\n  %count = atomicrmw " +
      operation + " monotonic\n  %more = icmp " + asked + " i32 %count, " + limit +
      "\n  br i1 %more, label %again, label %end\nend:\n  ret void\n";
  return run(kernel(2, body), {.width = 8, .block = {64, 1, 1}, .compile_only = true}).suspends;
}

TEST(Lockstep, ACountGetsToItsLimitIfWhatIsAddedIsNeverZero) {
  EXPECT_FALSE(counting_waits("add ptr %a0, i32 7"));
  EXPECT_FALSE(counting_waits("add ptr %a0, i32 1", "%n"));
  EXPECT_FALSE(counting_waits("add ptr %a0, i32 %nx", "%n"));
  EXPECT_TRUE(counting_waits("add ptr %a0, i32 0"));
  EXPECT_TRUE(counting_waits("add ptr %a0, i32 %n"));
  EXPECT_TRUE(counting_waits("add ptr %a0, i32 1", "%k")) << "the limit runs away";
  EXPECT_TRUE(counting_waits("add ptr %a0, i32 1", "100", "ne"));
}

TEST(Lockstep, ACountThatStartsAgainGetsToALimitWithinItsBound) {
  for (const std::string operation : {"uinc_wrap", "udec_wrap"}) {
    EXPECT_FALSE(counting_waits(operation + " ptr %a0, i32 100")) << operation;
    EXPECT_FALSE(counting_waits(operation + " ptr %a0, i32 %n", "%n")) << operation;
    EXPECT_TRUE(counting_waits(operation + " ptr %a0, i32 99")) << operation;
    EXPECT_TRUE(counting_waits(operation + " ptr %a0, i32 100", "100", "ule")) << operation;
    EXPECT_TRUE(counting_waits(operation + " ptr %a0, i32 %n")) << operation;
  }
  EXPECT_FALSE(counting_waits("uinc_wrap ptr %a0, i32 -1", "%n"));
}

TEST(Lockstep, ACountThatIsTakenBackMayNeverGetToItsLimit) {
  const auto waits = [](const std::string& taking_back) {
    const std::string count = "  %place = load ptr, ptr %a0\n  %count = atomicrmw add ptr %place, i32 1 monotonic\n" +
                              taking_back +
                              "  %is_beyond = icmp ugt i32 %count, 100\n  %v = zext i1 %is_beyond to i32\n";
    return run(kernel(2, loop_on(count)), {.width = 8, .block = {64, 1, 1}, .compile_only = true}).suspends;
  };
  EXPECT_FALSE(waits(""));
  EXPECT_TRUE(waits("  %taken = atomicrmw sub ptr %place, i32 1 monotonic\n"));
  const std::string subtract = "  %taken = atomicrmw sub ptr %same, i32 1 monotonic\n";
  EXPECT_TRUE(waits("  %same = load ptr, ptr %a0\n" + subtract)) << "the pointer is read again";
  EXPECT_FALSE(waits("  %same = load ptr, ptr %a1\n" + subtract)) << "it is another one";
  EXPECT_TRUE(waits("  store volatile i32 0, ptr %place\n"));
}

// do { *a1 = a count; v = *from } while (v is `asked`)
bool counting_through_memory_waits(const std::string& from, const std::string& operation, const std::string& asked) {
  const std::string body =
      "  %n = trunc i64 %p1 to i32\n  %next = getelementptr i32, ptr %a1, i32 1\n  br label %again\nagain:\n"
      "  %count = atomicrmw " +
      operation + " monotonic\n  store i32 %count, ptr %a1\n  %v = load i32, ptr " + from +
      "\n  %odd = and i32 %v, 1\n" + "  %other = and i32 %v, 6\n  store i32 %other, ptr %params\n  %more = icmp " +
      asked + "\n  br i1 %more, label %again, label %end\nend:\n  ret void\n";
  return run(kernel(2, body), {.width = 8, .block = {64, 1, 1}, .compile_only = true}).suspends;
}

TEST(Lockstep, ACountIsFollowedThroughMemory) {
  EXPECT_FALSE(counting_through_memory_waits("%a1", "add ptr %a0, i32 1", "ult i32 %v, %n")) << "a work queue";
  EXPECT_TRUE(counting_through_memory_waits("%a1", "add ptr %a0, i32 2", "eq i32 %odd, 0"));
  EXPECT_FALSE(counting_through_memory_waits("%next", "add ptr %a0, i32 2", "eq i32 %odd, 0")) << "apart from it";
  EXPECT_TRUE(counting_through_memory_waits("%a1", "uinc_wrap ptr %a0, i32 8", "eq i32 %odd, 0"));
}

// do { a1[what `place` makes of a count] = tx; v = *from } while (v == 0)
bool writing_where_counts_say_waits(const std::string& place, const std::string& from = "%a1") {
  const std::string body =
      "  br label %again\nagain:\n  %count = atomicrmw add ptr %a0, i32 2 monotonic\n" + place +
      "  %p = getelementptr i32, ptr %a1, i32 %where\n  store i32 %tx, ptr %p\n  %v = load i32, ptr " + from +
      "\n  %more = icmp eq i32 %v, 0\n  br i1 %more, label %again, label %end\nend:\n  ret void\n";
  return run(kernel(3, body), {.width = 8, .block = {64, 1, 1}, .compile_only = true}).suspends;
}

TEST(Lockstep, WhereACountIsWrittenToMayDecide) {
  EXPECT_FALSE(writing_where_counts_say_waits("  %where = shl i32 %count, 2\n")) << "places in turn";
  EXPECT_TRUE(writing_where_counts_say_waits("  %where = and i32 %count, 1\n"));
  EXPECT_FALSE(writing_where_counts_say_waits("  %where = and i32 %count, 1\n", "%a2")) << "another object";
}

TEST(Lockstep, ASumOfFloatingPointNumbersMayStayAsItIs) {
  const std::string sum =
      "  %sum = atomicrmw fadd ptr %a0, float 1.0 monotonic\n  %is_beyond = fcmp ogt float %sum, 100.0\n"
      "  %v = zext i1 %is_beyond to i32\n";
  EXPECT_TRUE(run(kernel(1, loop_on(sum)), {.width = 8, .block = {64, 1, 1}, .compile_only = true}).suspends);
}

// while (what is found at places that change is not 99)
bool search_waits(const std::string& read, unsigned width = 8) {
  const std::string body =
      "  br label %again\nagain:\n  %k = phi i32 [ %tx, %entry ], [ %l, %again ]\n"
      "  %found = phi i32 [ %tx, %entry ], [ %v, %again ]\n  %l = add i32 %k, 1\n"
      "  %place = and i32 %k, 31\n  %p = getelementptr i32, ptr %a0, i32 %place\n"
      "  %hash = and i32 %found, 31\n  %h = getelementptr i32, ptr %a0, i32 %hash\n" +
      read + "  %more = icmp ne i32 %v, 99\n  br i1 %more, label %again, label %end\nend:\n  ret void\n";
  return run(kernel(1, body), {.width = width, .block = {64, 1, 1}, .compile_only = true}).suspends;
}

TEST(Lockstep, WhatIsFoundThatSaysWhatGoesWhereIsProgress) {
  EXPECT_FALSE(search_waits("  %v = atomicrmw xchg ptr %h, i32 %found monotonic\n"));
  EXPECT_TRUE(search_waits("  %v = atomicrmw xchg ptr %p, i32 %found monotonic\n"));
  EXPECT_TRUE(search_waits("  %v = atomicrmw xchg ptr %p, i32 %place monotonic\n"));
  EXPECT_TRUE(search_waits("  %v = atomicrmw umax ptr %p, i32 %place monotonic\n"));
}

TEST(Lockstep, AFenceLetsAPlainLoadFindNewsWherever) {
  EXPECT_FALSE(search_waits("  %v = load i32, ptr %p\n"));
  EXPECT_TRUE(search_waits("  %v = load i32, ptr %p\n  fence acq_rel\n"));
  EXPECT_TRUE(search_waits("  %v = load i32, ptr %p\n  store i32 %k, ptr %params\n  fence acq_rel\n"));
}

TEST(Lockstep, SingleThreadsLetOthersRunInEveryLoopThatLooksAtThem) {
  const std::string exchange = "  %v = atomicrmw xchg ptr %h, i32 %found monotonic\n";
  EXPECT_TRUE(search_waits(exchange, kAlone));
  EXPECT_FALSE(search_waits("  %v = load i32, ptr %p\n", kAlone));
  const std::string histogram =
      "  br label %again\nagain:\n  %k = phi i32 [ 0, %entry ], [ %l, %again ]\n  %l = add i32 %k, 1\n"
      "  %old = atomicrmw add ptr %a0, i32 %k monotonic\n  %more = icmp ult i32 %l, %nx\n"
      "  br i1 %more, label %again, label %end\nend:\n  ret void\n";
  EXPECT_FALSE(run(kernel(1, histogram), {.width = kAlone, .block = {64, 1, 1}, .compile_only = true}).suspends)
      << "its end does not depend on what others do";
}

TEST(Lockstep, LanesThatLeftASpinMayNotHoldBackWhatTheOthersWaitFor) {
  EXPECT_FALSE(in_step(low_lanes_spin(kStore)));
  EXPECT_FALSE(in_step(low_lanes_spin("  call void @softgpu.barrier_arrive(i32 1, i32 64)\n")));
  EXPECT_TRUE(in_step(low_lanes_spin("")));
}

TEST(Lockstep, LanesThatLeftASpinForABarrierHoldNothingBack) {
  EXPECT_TRUE(in_step(low_lanes_spin(kBarrier + kStore)));
  EXPECT_FALSE(in_step(low_lanes_spin(kStore + kBarrier)));
  EXPECT_FALSE(in_step(low_lanes_spin("  call void @softgpu.barrier_sync_unaligned(i32 1, i32 64)\n" + kStore)))
      << "they may pass it without those that spin";
  EXPECT_TRUE(in_step(low_lanes_spin("  call void @softgpu.barrier_sync_unaligned(i32 0, i32 0)\n" + kStore)))
      << "it is for all threads";
}

// ---- The warp ----------------------------------------------------------------------------------

TEST(Lockstep, WhereAllLanesAreTheWarpMeets) { EXPECT_EQ(width_of(kVote + "  ret void\n"), kWarp); }

TEST(Lockstep, WhereSomeLanesAreElsewhereAndMayComeTheWarpDoesNotMeet) {
  EXPECT_EQ(width_of(when_low(kVote, "  call void @softgpu.warp_sync(i32 -1)\n")), kAlone);
  EXPECT_EQ(width_of(when_low(kVote, kStore)), kWarp) << "the others will never come";
}

TEST(Lockstep, LanesThatHaveExitedAreNotWaitedFor) {
  const std::string body = "  %low = icmp ult i32 %tx, 7\n  br i1 %low, label %leave, label %stay\nleave:\n" + kStore +
                           "  call void @softgpu.exit()\n  unreachable\nstay:\n" + kVote + "  ret void\n";
  EXPECT_EQ(width_of(body), kWarp);
}

TEST(Lockstep, WholeWarpsTakeABranchTogether) {
  const std::string body = when_low(kVote, "  call void @softgpu.warp_sync(i32 -1)\n", "ult i32 %tx, 32");
  EXPECT_EQ(width_of(body), kWarp);
  EXPECT_EQ(width_of(body, {6, 8, 1}), kAlone) << "threads of a warp differ in x there";
  EXPECT_EQ(width_of(when_low(kVote, "  call void @softgpu.warp_sync(i32 -1)\n", "ult i32 %tx, 33")), kAlone);
}

TEST(Lockstep, MembersThatWereFoundActiveAreHere) {
  const std::string sync = "  call void @softgpu.warp_sync(i32 -1)\n";
  EXPECT_EQ(width_of(when_low("  %m = call i32 @softgpu.activemask()\n"
                              "  %v = call i32 @softgpu.vote_ballot(i1 true, i32 %m)\n  store i32 %v, ptr %a0\n",
                              sync)),
            kWarp);
  EXPECT_EQ(
      width_of("  %m = call i32 @softgpu.activemask()\n" +
               when_low("  %v = call i32 @softgpu.vote_ballot(i1 true, i32 %m)\n  store i32 %v, ptr %a0\n", sync)),
      kAlone)
      << "asked for by more lanes";
}

TEST(Lockstep, MembersByABallotOnTheBranchAreHere) {
  const auto body = [](const std::string& condition) {
    return "  %is = icmp ult i32 %tx, 7\n  %other = icmp ult i32 %tx, 9\n"
           "  %m = call i32 @softgpu.vote_ballot(i1 %is, i32 -1)\n  br i1 " +
           condition +
           ", label %then, label %join\nthen:\n  %v = call i32 @softgpu.redux_add(i32 %tx, i32 %m)\n"
           "  store i32 %v, ptr %a0\n  br label %join\njoin:\n  call void @softgpu.warp_sync(i32 -1)\n  ret void\n";
  };
  EXPECT_EQ(width_of(body("%is")), kWarp);
  EXPECT_EQ(width_of(body("%other")), kAlone);
}

TEST(Lockstep, VolatileSharedMemoryThatIsReadAndWrittenTakesTheWholeWarp) {
  const std::string shared = "  %s = call ptr @softgpu.shared()\n  %at = getelementptr i32, ptr %s, i64 %i64\n";
  const std::string read = "  %v = load volatile i32, ptr %at\n", write = "  store volatile i32 %tx, ptr %at\n";
  EXPECT_EQ(width_of(shared + write + read + "  ret void\n"), kWarp);
  EXPECT_LT(width_of(shared + write + "  ret void\n"), kWarp);
}

// ---- Barriers ----------------------------------------------------------------------------------

TEST(Lockstep, BarriersThatWarpsMayEnterInPiecesAreEnteredAsAWhole) {
  for (const char* barrier : {"  call void @softgpu.barrier_sync_unaligned(i32 0, i32 0)\n",
                              "  call void @softgpu.cluster_wait_unaligned()\n",
                              "  %p = call i1 @softgpu.barrier_red_or_unaligned(i32 0, i32 0, i1 true)\n"}) {
    EXPECT_TRUE(in_step(std::string(barrier) + "  ret void\n")) << barrier;
    EXPECT_FALSE(in_step(when_low(barrier, kBarrier))) << barrier;
  }
}

}  // namespace
}  // namespace softgpu::simt::test
