#include "softgpu/runtime/work/context.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "softgpu/runtime/base/error.hpp"
#include "softgpu/runtime/work/event.hpp"
#include "softgpu/runtime/work/primary_context.hpp"
#include "softgpu/runtime/work/stream_work.hpp"
#include "unit/softgpu_runtime/services.hpp"

namespace softgpu::runtime {
namespace {

using namespace std::chrono_literals;

class ContextTest : public testing::Test {
 protected:
  Services services_;
  WorkServices& work_ = services_.work;
  const std::shared_ptr<Context> context_ = Context::create(work_, services_.devices.at(0), 0, false);
};

TEST_F(ContextTest, OthersGiveUpWhatTheyHoldOnceTheWorkIsDone) {
  std::vector<std::string> order;
  for (const char* holder : {"modules", "memory"})
    work_.at_context_end.emplace_back([&, holder](Context& context) {
      EXPECT_EQ(&context, context_.get());
      order.emplace_back(holder);
    });
  enqueue_work(context_->legacy_stream(), kInlineBytes + 1, [&] {
    std::this_thread::sleep_for(20ms);
    order.emplace_back("work");
  });
  context_->destroy(false);
  EXPECT_EQ(order, (std::vector<std::string>{"work", "modules", "memory"}));
}

TEST_F(ContextTest, LosesTheHandlesOfItsStreamsAndEvents) {
  const auto other = Context::create(work_, services_.devices.at(1), 0, false);
  work_.at_context_end.emplace_back([&](Context& context) { drop_events_of(work_, context); });
  const CUstream stream = work_.streams.add(std::make_shared<Stream>(*context_, StreamKind::blocking, 0));
  const CUevent mine = work_.events.add(std::make_shared<Event>(context_, 0u));
  const CUevent others = work_.events.add(std::make_shared<Event>(other, 0u));
  context_->destroy(false);
  EXPECT_EQ(work_.streams.find(stream), nullptr);
  EXPECT_EQ(work_.events.find(mine), nullptr);
  EXPECT_NE(work_.events.find(others), nullptr);
  work_.events.remove(others);
}

TEST_F(ContextTest, LegacyStreamComesAfterBlockingOnes) {
  std::vector<int> order;
  Stream blocking(*context_, StreamKind::blocking, 0);
  enqueue_work(blocking, kInlineBytes + 1, [&] {
    std::this_thread::sleep_for(20ms);
    order.push_back(1);
  });
  enqueue_work(context_->legacy_stream(), 1, [&] { order.push_back(2); });
  context_->wait_idle();
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST_F(ContextTest, PrimaryOneKeepsItsHandleFromUseToUse) {
  PrimaryContext primary(work_, services_.devices.at(1));
  const CUcontext handle = primary.retain();
  const auto first = work_.contexts.find(handle);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(&first->device(), &services_.devices.at(1));
  primary.release();
  EXPECT_TRUE(first->destroyed());
  EXPECT_EQ(work_.contexts.find(handle), nullptr);
  EXPECT_EQ(primary.retain(), handle);
  EXPECT_NE(work_.contexts.find(handle), first);
  primary.release();
  EXPECT_THROW(primary.release(), Failure);
}

}  // namespace
}  // namespace softgpu::runtime
