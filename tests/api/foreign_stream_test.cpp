// Streams of other libraries, by whatever they offer.
#include <cuprum/driver.hpp>

#include "api/fixture.hpp"
#include "api/gate.hpp"

namespace cuprum::tests {
namespace {

using ::testing::HasSubstr;

struct WithCudaStream {
  CUstream raw;
  CUstream cuda_stream() const { return raw; }
};
struct WithConversion {
  CUstream raw;
  operator CUstream() const { return raw; }
};
struct WithStream {
  CUstream raw;
  CUstream stream() const { return raw; }
};
struct WithHandle {
  CUstream raw;
  CUstream handle() const { return raw; }
};
struct WithValue {
  CUstream raw;
  CUstream value() const { return raw; }
};
struct WithGet {
  CUstream raw;
  CUstream get() const { return raw; }
};
struct WithTwo {  // the name made for it comes first
  CUstream raw;
  CUstream cuda_stream() const { return raw; }
  CUstream get() const { return nullptr; }
};

struct OtherHandle {
  CUevent handle() const { return nullptr; }
};

static_assert(IsStreamType<CUstream> && IsStreamType<WithCudaStream> && IsStreamType<const WithConversion&>);
static_assert(IsStreamType<std::shared_ptr<WithStream>> && IsStreamType<std::unique_ptr<WithGet>>);
static_assert(!IsStreamType<Stream> && !IsStreamType<std::nullptr_t> && !IsStreamType<int> && !IsStreamType<void*>);
static_assert(!IsStreamType<OtherHandle> && !IsStreamType<StreamOptions> && !IsStreamType<CUevent>);

template <typename Foreign>
class ForeignStreamTest : public ApiTest {
 protected:
  Stream stream = device.create_stream();
};

using Foreigners =
    ::testing::Types<WithCudaStream, WithConversion, WithStream, WithHandle, WithValue, WithGet, WithTwo>;
TYPED_TEST_SUITE(ForeignStreamTest, Foreigners);

TYPED_TEST(ForeignStreamTest, CanBeWrapped) {
  const TypeParam foreign{this->stream.handle()};
  EXPECT_EQ(Stream::from_foreign(foreign), this->stream);
  EXPECT_EQ(this->device.create_stream(foreign), this->stream);
  EXPECT_EQ(this->device.create_stream(std::make_shared<TypeParam>(foreign)), this->stream);
}

TYPED_TEST(ForeignStreamTest, CanBeWaitedFor) {
  Gate gate(this->stream);
  Stream waiting = this->device.create_stream();
  waiting.wait(TypeParam{this->stream.handle()});
  EXPECT_FALSE(waiting.is_done());
  gate.open();
  waiting.sync();
  EXPECT_TRUE(this->stream.is_done());
}

/// Owns a stream, as classes of other libraries do.
struct Owning {
  explicit Owning(int* alive) : alive_(alive) {
    driver::call<&driver::Api::cuStreamCreate>(&raw, static_cast<unsigned>(CU_STREAM_NON_BLOCKING));
    ++*alive_;
  }
  Owning(Owning&& other) noexcept : raw(std::exchange(other.raw, nullptr)), alive_(other.alive_) {}
  ~Owning() {
    if (!raw) return;
    driver::api().cuStreamDestroy(raw);
    --*alive_;
  }
  CUstream cuda_stream() const { return raw; }

  CUstream raw = nullptr;
  int* alive_;
};

class OwningForeignStreamTest : public ApiTest {
 protected:
  int alive = 0;
};

TEST_F(OwningForeignStreamTest, IsKeptWhenItIsMovedIn) {
  Stream stream = device.create_stream(Owning(&alive));
  EXPECT_EQ(alive, 1);
  stream.sync();
  Buffer buffer = device.allocate(16, stream);
  stream.close();
  EXPECT_EQ(alive, 1) << "the buffer is yet to be freed on it";
  buffer.close();
  EXPECT_EQ(alive, 0);
}

TEST_F(OwningForeignStreamTest, IsKeptByASharedPointer) {
  auto foreign = std::make_shared<Owning>(&alive);
  Stream stream = Stream::from_foreign(foreign);
  EXPECT_EQ(foreign.use_count(), 2);
  foreign.reset();
  EXPECT_EQ(alive, 1);
  stream.sync();
  stream.close();
  EXPECT_EQ(alive, 0);
}

TEST_F(OwningForeignStreamTest, IsKeptByAUniquePointer) {
  auto foreign = std::make_unique<Owning>(&alive);
  Stream stream = Stream::from_foreign(std::move(foreign));
  EXPECT_EQ(alive, 1);
  stream.sync();
  stream.close();
  EXPECT_EQ(alive, 0);
}

TEST_F(OwningForeignStreamTest, ClosingAWrapperLeavesARawStreamAlone) {
  const Owning foreign(&alive);
  Stream stream = device.create_stream(foreign.raw);
  stream.close();
  Stream::from_handle(foreign.raw).sync();
}

TEST_F(OwningForeignStreamTest, WhatIsNoStreamIsRefused) {
  CUstream dead = nullptr;
  {
    const Owning foreign(&alive);
    dead = foreign.raw;
  }
  if (driver::info().kind != driver::Choice::softgpu) GTEST_SKIP() << "NVIDIA's driver does not check handles";
  EXPECT_THAT(error_of<DriverError>([&] { Stream::from_handle(dead); }), HasSubstr("wrapping stream 0x"));
}

/// One handle that stands for one stream after another, as that of a stream that was destroyed may; counts how often
/// the driver is asked for its context.
class ReusedHandle {
 public:
  explicit ReusedHandle(const Stream& first) : before_(&driver::api()), table_(*before_) {
    real_ = before_;
    stream_ = first.handle();
    table_.cuStreamGetCtx.function = [](CUstream stream, CUcontext* context) {
      ++questions_;
      return real_->cuStreamGetCtx(behind(stream), context);
    };
    table_.cuLaunchKernelEx.function = [](const CUlaunchConfig* config, CUfunction function, void** arguments,
                                          void** extra) {
      CUlaunchConfig real = *config;
      real.hStream = behind(config->hStream);
      return real_->cuLaunchKernelEx(&real, function, arguments, extra);
    };
    driver::replace_api(table_);
    questions_ = 0;
  }
  ~ReusedHandle() { driver::replace_api(*before_); }
  ReusedHandle(const ReusedHandle&) = delete;
  ReusedHandle& operator=(const ReusedHandle&) = delete;

  static CUstream handle() { return reinterpret_cast<CUstream>(&handle_); }
  static void now_stands_for(const Stream& stream) { stream_ = stream.handle(); }
  static int questions() { return questions_; }

 private:
  static CUstream behind(CUstream stream) { return stream == handle() ? stream_ : stream; }

  static inline char handle_ = 0;
  static inline const driver::Api* real_ = nullptr;
  static inline CUstream stream_ = nullptr;
  static inline int questions_ = 0;
  const driver::Api* const before_;
  driver::Api table_;
};

class RememberedForeignStreamTest : public ApiTest {
 protected:
  Stream stream = device.create_stream();
  Kernel store = compile(R"(extern "C" __global__ void store(int* place, int value) { *place = value; })", "store");
  Buffer place = device.allocate(sizeof(int), stream);

  void store_through(const ReusedHandle& foreign, int value) {
    launch(foreign.handle(), {.grid = 1, .block = 1}, store, place, value);
  }
  int stored() { return download<int>(place, stream).front(); }
};

TEST_F(RememberedForeignStreamTest, ManyLaunchesAskTheDriverOnceForItsContext) {
  const ReusedHandle foreign(stream);
  for (int value = 1; value <= 10; ++value) store_through(foreign, value);
  EXPECT_EQ(foreign.questions(), 1);
  EXPECT_EQ(stored(), 10);
}

TEST_F(RememberedForeignStreamTest, ItsHandleMayBecomeThatOfAStreamInAnotherContext) {
  const ReusedHandle foreign(stream);
  store_through(foreign, 1);
  stream.sync();
  Context other = device.create_context();
  Stream in_other = other.create_stream();
  foreign.now_stands_for(in_other);
  store_through(foreign, 2);
  in_other.sync();
  EXPECT_EQ(stored(), 2);
}

TEST_F(RememberedForeignStreamTest, ARefusalOfTheLaunchIsStillTold) {
  const ReusedHandle foreign(stream);
  store_through(foreign, 1);
  EXPECT_THROW(launch(foreign.handle(), {.grid = 1, .block = 1 << 20}, store, place, 2), InvalidArgument);
}

}  // namespace
}  // namespace cuprum::tests
