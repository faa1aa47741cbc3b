#include "softgpu/runtime/work/op.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace softgpu::runtime {
namespace {

// Notes that it started, and ends when told to.
class TestOp final : public Op {
 public:
  explicit TestOp(int number = 0, std::vector<int>* order = nullptr) : number_(number), order_(order) { ++alive; }
  ~TestOp() override { --alive; }
  bool started() const { return started_; }
  void end() { finish(); }
  static inline int alive = 0;

 protected:
  void run() override {
    started_ = true;
    if (order_ != nullptr) order_->push_back(number_);
  }

 private:
  const int number_;
  std::vector<int>* const order_;
  bool started_ = false;
};

TestOp& as_test(const OpRef& op) { return static_cast<TestOp&>(*op); }

TEST(Op, StartsAtOnceWithoutPredecessors) {
  const OpRef op(new TestOp);
  op->submit();
  EXPECT_TRUE(as_test(op).started());
  EXPECT_FALSE(op->done());
  as_test(op).end();
  EXPECT_TRUE(op->done());
}

TEST(Op, StartsWhenAllPredecessorsAreDone) {
  const OpRef a(new TestOp), b(new TestOp), after(new TestOp);
  a->submit();
  b->submit();
  after->put_after(*a);
  after->put_after(*b);
  after->submit();
  as_test(a).end();
  EXPECT_FALSE(as_test(after).started());
  as_test(b).end();
  EXPECT_TRUE(as_test(after).started());
  as_test(after).end();
}

TEST(Op, DonePredecessorsDoNotCount) {
  const OpRef before(new TestOp), after(new TestOp);
  before->submit();
  as_test(before).end();
  after->put_after(*before);
  after->submit();
  EXPECT_TRUE(as_test(after).started());
  as_test(after).end();
}

TEST(Op, MarkersAreReachedInOrder) {
  const OpRef before(new TestOp), first(new MarkerOp), second(new MarkerOp);
  before->submit();
  first->put_after(*before);
  first->submit();
  second->put_after(*first);
  second->submit();
  EXPECT_FALSE(first->done());
  as_test(before).end();
  EXPECT_TRUE(second->done());
  EXPECT_LE(first->completed_at(), second->completed_at());
}

TEST(Op, LongChainsNeedNoStack) {
  const OpRef before(new TestOp);
  before->submit();
  OpRef last = before;
  for (int i = 0; i < 1000000; ++i) {
    OpRef next(new MarkerOp);
    next->put_after(*last);
    next->submit();
    last = std::move(next);
  }
  as_test(before).end();
  EXPECT_TRUE(last->done());
}

TEST(Op, NothingIsKeptOfWhatIsDone) {
  TestOp::alive = 0;
  {
    OpRef last(new TestOp);
    last->submit();
    for (int i = 0; i < 100; ++i) {
      OpRef next(new TestOp);
      next->put_after(*last);
      next->submit();
      as_test(last).end();
      last = std::move(next);
      EXPECT_EQ(TestOp::alive, 1);
    }
    as_test(last).end();
  }
  EXPECT_EQ(TestOp::alive, 0);
}

// Can't be started.
class ThrowingOp final : public Op {
 public:
  const std::string& reason() const { return reason_; }

 protected:
  void run() override { throw std::runtime_error("no threads"); }
  void give_up(const char* why) noexcept override {
    reason_ = why;
    finish();
  }

 private:
  std::string reason_;
};

TEST(Op, OneThatCantBeStartedGivesUpAndLetsOthersGoOn) {
  const OpRef before(new TestOp), failing(new ThrowingOp), after(new TestOp);
  before->submit();
  failing->put_after(*before);
  failing->submit();
  after->put_after(*failing);
  after->submit();
  EXPECT_NO_THROW(as_test(before).end());
  EXPECT_EQ(static_cast<ThrowingOp&>(*failing).reason(), "no threads");
  EXPECT_TRUE(failing->done());
  EXPECT_TRUE(as_test(after).started());
  as_test(after).end();
  // The thread goes on as if nothing had happened: what becomes ready is started at once.
  const OpRef later(new TestOp);
  later->submit();
  EXPECT_TRUE(as_test(later).started());
  as_test(later).end();
}

}  // namespace
}  // namespace softgpu::runtime
