// Builders that are split and joined: what they are when something fails, and when the capture has ended without them.
#include <atomic>
#include <thread>

#include "api/captured_log.hpp"
#include "api/failing_api.hpp"
#include "api/graph/fixture.hpp"

namespace cuprum::tests {
namespace {

using ::testing::HasSubstr;

class GraphSplitTest : public GraphTest {
 protected:
  GraphSplitTest() : kernel_(kernel("add")) {
    // What is looked up once is looked up now.
    launch(stream, one, kernel_, data, 0);
    stream.sync();
  }
  void add_to(const GraphBuilder& builder, int amount, std::size_t index) const {
    launch(builder, one, kernel_, cell(index), amount);
  }
  GraphBuilder begin() const { return device.create_graph_builder().begin_building(); }

  /// Runs work(0), work(1)… beside each other.
  template <typename Work>
  void in_threads(std::size_t threads, const Work& work) {
    std::vector<std::thread> running;
    for (std::size_t i = 0; i < threads; ++i) {
      running.emplace_back([this, &work, i] {
        device.set_current();
        work(i);
      });
    }
    for (std::thread& thread : running) thread.join();
  }

  /// Nothing is queued by it any more, and nothing runs.
  void expect_left_over(const GraphBuilder& part) {
    const auto refused = [&](auto&& call) { return error_of<InvalidArgument>(call); };
    EXPECT_THAT(refused([&] { add_to(part, 1, 5); }), HasSubstr("has ended"));
    EXPECT_THAT(refused([&] { data.fill<int>(1, part); }), HasSubstr("has ended"));
    EXPECT_THAT(refused([&] { (void)part.split(2); }), HasSubstr("has ended"));
    EXPECT_THAT(refused([&] { part.begin_building(); }), HasSubstr("has ended"));
    EXPECT_THAT(refused([&] { part.callback([this] { cells[5] = 1; }); }), HasSubstr("nothing is captured"));
    EXPECT_THAT(refused([&] { (void)GraphBuilder::join(part, begin()); }), HasSubstr("is not building"));
    EXPECT_FALSE(part.is_building());
    EXPECT_TRUE(part.is_join_required());
    part.stream().sync();
    EXPECT_EQ(cells[5], 0);
  }

 private:
  Kernel kernel_;
};

TEST_F(GraphSplitTest, APartThatWasNotJoinedQueuesNothingWhenTheCaptureHasBroken) {
  const GraphBuilder builder = begin();
  const std::vector<GraphBuilder> parts = builder.split(2);
  add_to(parts[1], 1, 1);
  EXPECT_THROW(builder.end_building(), DriverError);
  expect_left_over(parts[1]);
  builder.begin_building();  // another capture is not its
  expect_left_over(parts[1]);
  const std::vector<GraphBuilder> others = builder.split(2);
  add_to(others[1], 2, 1);
  run(GraphBuilder::join(others).end_building().complete());
  EXPECT_EQ(cells[1], 2);
}

TEST_F(GraphSplitTest, APartThatEventsHaveJoinedQueuesNothingWhenTheCaptureHasEnded) {
  const GraphBuilder builder = begin();
  const std::vector<GraphBuilder> parts = builder.split(2);
  add_to(parts[1], 1, 1);
  builder.stream().wait(parts[1].stream());
  builder.end_building();
  expect_left_over(parts[1]);
  run(builder.complete());
  EXPECT_EQ(cells[1], 1);
}

TEST_F(GraphSplitTest, APartQueuesNothingWhenTheCaptureWasGivenUp) {
  GraphBuilder builder = begin();
  const std::vector<GraphBuilder> parts = builder.split(2);
  builder.close();
  expect_left_over(parts[1]);
}

// Each into its own part: of what they add the library keeps note in one place.
TEST_F(GraphSplitTest, ThreadsCaptureIntoPartsOfOneSplit) {
  constexpr std::size_t threads = 4;
  constexpr int rounds = 60;
  GraphDefinition child;
  child.empty();
  for (int repeat = 0; repeat < 5; ++repeat) {
    std::atomic<int> calls = 0;
    std::fill(cells.begin(), cells.end(), 0);
    const GraphBuilder builder = begin();
    const std::vector<GraphBuilder> parts = builder.split(threads);
    in_threads(threads, [&](std::size_t i) {
      for (int round = 0; round < rounds; ++round) {
        parts[i].callback([&] { ++calls; });
        parts[i].embed(child);
        const std::vector<GraphBuilder> more = parts[i].split(2);
        const GraphBuilder body = more[1].if_then(more[1].create_condition(1)).begin_building();
        add_to(body, 1, i);
        body.end_building();
        GraphBuilder::join(more);
      }
    });
    run(GraphBuilder::join(parts).end_building().complete());
    EXPECT_EQ(calls, static_cast<int>(threads) * rounds);
    EXPECT_THAT(cells.first(threads), ::testing::Each(rounds));
  }
}

// The graph keeps the buffers; conditions in bodies are the whole graph's.
TEST_F(GraphSplitTest, ThreadsLaunchIntoPartsAndAddConditionsToBodies) {
  if (!device.properties().memory_pools_supported()) GTEST_SKIP() << "the device has no memory pools";
  constexpr std::size_t threads = 4;
  constexpr int rounds = 20;
  GraphMemoryResource memory(device);
  for (int repeat = 0; repeat < 100; ++repeat) {
    data.fill<int>(0, stream);
    stream.sync();
    const GraphBuilder builder = begin();
    const std::vector<GraphBuilder> parts = builder.split(threads);
    in_threads(threads, [&](std::size_t i) {
      const Buffer target = data.slice(i * sizeof(int), sizeof(int));
      for (int round = 0; round < rounds; ++round) {
        launch(parts[i], one, kernel("add"), target, 1);
        Buffer scratch = memory.allocate(64, parts[i]);
        scratch.close(parts[i]);
        const GraphBuilder body = parts[i].if_then(parts[i].create_condition(1)).begin_building();
        const GraphBuilder inner = body.if_then(body.create_condition(1)).begin_building();
        add_to(inner, 1, i);
        inner.end_building();
        body.end_building();
      }
    });
    run(GraphBuilder::join(parts).end_building().complete());
    EXPECT_THAT(cells.first(threads), ::testing::Each(2 * rounds));
  }
  memory.trim();
}

TEST_F(GraphSplitTest, PartsOfDifferentCapturesAreNotJoined) {
  const GraphBuilder first = begin(), second = begin();
  const std::vector<GraphBuilder> of_first = first.split(2), of_second = second.split(2);
  add_to(of_first[1], 1, 1);
  add_to(of_second[1], 2, 2);
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)GraphBuilder::join(first, of_first[1], of_second[1]); }),
              HasSubstr("another capture"));
  run(GraphBuilder::join(of_first).end_building().complete());
  run(GraphBuilder::join(of_second).end_building().complete());
  EXPECT_EQ(cells[1], 1);
  EXPECT_EQ(cells[2], 2);
}

TEST_F(GraphSplitTest, AJoinThatFailsClosesNone) {
  const CapturedLog of_releases;  // which fail, too
  FailingApi failing;
  const GraphBuilder builder = begin();
  const std::vector<GraphBuilder> parts = builder.split(4);
  for (std::size_t i = 1; i < 4; ++i) add_to(parts[i], static_cast<int>(i), i);
  int failures = 0;
  for (bool has_failed = true; has_failed; failures += has_failed) {
    failing.fail_nth(failures + 1, CUDA_ERROR_UNKNOWN);
    try {
      GraphBuilder::join(parts);
      has_failed = false;
    } catch (const DriverError&) {
      for (const GraphBuilder& part : parts) ASSERT_TRUE(part.is_building());
    }
  }
  failing.stop();
  EXPECT_GE(failures, 3);
  run(builder.end_building().complete());
  EXPECT_THAT(cells.first(4), ::testing::ElementsAre(0, 1, 2, 3));
}

TEST_F(GraphSplitTest, ASplitThatFailsLeavesTheCaptureAsItWas) {
  const CapturedLog of_releases;  // which fail, too
  FailingApi failing;
  int failures = 0;
  for (bool has_failed = true; has_failed; failures += has_failed) {
    const GraphBuilder builder = begin();
    add_to(builder, 1, 0);
    failing.fail_nth(failures + 1, CUDA_ERROR_UNKNOWN);
    try {
      const std::vector<GraphBuilder> parts = builder.split(4);
      failing.stop();
      GraphBuilder::join(parts);
      has_failed = false;
    } catch (const DriverError&) {
      failing.stop();
    }
    add_to(builder, 1, 0);
    run(builder.end_building().complete());
    EXPECT_EQ(cells[0], 2 * failures + 2);
  }
  EXPECT_GE(failures, 6);
}

}  // namespace
}  // namespace cuprum::tests
