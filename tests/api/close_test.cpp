// The rule of close(), for every kind of object: what a closed, an empty and a moved-from handle still can do, and that
// closing is safe while another thread uses the object.
#include <atomic>
#include <functional>
#include <thread>

#include "api/fixture.hpp"
#include "api/printed.hpp"

namespace cuprum::tests {
namespace {

using ::testing::HasSubstr;

class CloseTest : public ApiTest {
 protected:
  Stream stream = device.create_stream();
};

template <typename Handle>
void expect_empty(const Handle& handle, const std::string& kind) {
  EXPECT_EQ(printed(handle), "an empty " + kind);
  EXPECT_EQ(handle, Handle());
  EXPECT_EQ(std::hash<Handle>()(handle), std::hash<Handle>()(Handle()));
  EXPECT_EQ(handle.handle(), decltype(handle.handle()){});
}

/// It equals its copies, whatever else.
template <typename Handle>
void expect_closed(const Handle& handle, const Handle& copy, const std::string& kind) {
  EXPECT_EQ(printed(handle), "a closed " + kind);
  EXPECT_EQ(handle, copy);
  EXPECT_EQ(std::hash<Handle>()(handle), std::hash<Handle>()(copy));
  EXPECT_EQ(handle.handle(), decltype(handle.handle()){});
}

template <typename Handle>
void expect_the_rule(Handle open, const std::string& kind, const std::function<void(const Handle&)>& use) {
  const Handle copy = open;
  EXPECT_NE(open, Handle());
  EXPECT_NE(open.handle(), decltype(open.handle()){});
  use(copy);

  Handle moved = std::move(open);
  EXPECT_EQ(moved, copy);
  expect_empty(open, kind);  // NOLINT(bugprone-use-after-move)
  EXPECT_THAT(error_of<InvalidArgument>([&] { use(open); }), HasSubstr("this " + kind + " is empty"));

  moved.close();
  moved.close();
  for (const Handle& closed : {moved, copy}) {
    expect_closed(closed, moved, kind);
    EXPECT_THAT(error_of<InvalidArgument>([&] { use(closed); }), HasSubstr("this " + kind + " is closed"));
  }
}

TEST_F(CloseTest, LeavesTheSameOfEveryKind) {
  expect_the_rule<Stream>(device.create_stream(), "stream", [](const Stream& used) { used.sync(); });
  expect_the_rule<Event>(stream.record(), "event", [](const Event& used) { used.sync(); });
  expect_the_rule<Buffer>(device.allocate(64, stream), "buffer", [](const Buffer& used) { (void)used.size(); });
  expect_the_rule<Buffer>(device.allocate(64, stream).slice(8, 8), "buffer",
                          [&](const Buffer& used) { used.fill<int>(0, stream); });
  expect_the_rule<Context>(device.create_context(), "context", [](const Context& used) { (void)used.device(); });
}

TEST_F(CloseTest, LeavesNoHandleOfACompilersObject) {
  Program program("__global__ void f() {}");
  EXPECT_NE(program.handle(), nullptr);
  program.close();
  EXPECT_EQ(program.handle(), nullptr);
  EXPECT_EQ(Program().handle(), nullptr);
  EXPECT_THAT(error_of<InvalidArgument>([&] { program.compile(Target::ptx); }), HasSubstr("this program is closed"));
}

TEST_F(CloseTest, OfADefaultStreamIsForOneHandle) {
  Stream closed = Stream::legacy_default();
  const Stream copy = closed;
  closed.close();
  expect_closed(closed, closed, "stream");
  EXPECT_EQ(copy, Stream::legacy_default());
  EXPECT_NE(copy, closed);
  copy.sync();
}

TEST_F(CloseTest, OfAPartLeavesTheWhole) {
  Buffer whole = device.allocate(64, stream);
  Buffer part = whole.slice(0, 16);
  part.close();
  whole.fill<int>(1, stream);
  Buffer another = whole.slice(16, 16);
  Buffer inner = another.slice(4, 4);
  whole.close();
  another.close();
  EXPECT_EQ(live_objects().buffers, 2u);  // the memory, and the part that keeps it
  EXPECT_EQ(download<int>(inner, stream).front(), 1);
  inner.close();
  EXPECT_EQ(live_objects().buffers, 0u);
}

// Calls `use` on several threads until it says that the object is closed, which happens while they are at it.
template <typename Close, typename Use>
void close_while_used(Close&& close, Use&& use) {
  constexpr int threads = 3;
  std::atomic<int> started = 0;
  std::vector<std::jthread> users;
  for (int i = 0; i < threads; ++i) {
    users.emplace_back([&] {
      for (int calls = 0;; ++calls) {
        try {
          use();
        } catch (const InvalidArgument& error) {
          EXPECT_THAT(error.what(), HasSubstr("is closed"));
          if (calls == 0) ++started;
          return;
        }
        if (calls == 0) ++started;
      }
    });
  }
  while (started < threads) std::this_thread::yield();
  close();
}

TEST_F(CloseTest, IsSafeWhileAStreamIsUsed) {
  Stream used = device.create_stream();
  close_while_used([&] { used.close(); },
                   [&] {
                     used.record();
                     (void)used.is_done();
                   });
}

TEST_F(CloseTest, IsSafeWhileAnEventIsUsed) {
  Event used = stream.record();
  close_while_used([&] { used.close(); },
                   [&] {
                     (void)used.is_done();
                     (void)used.handle();
                     stream.wait(used);
                   });
}

TEST_F(CloseTest, IsSafeWhileABufferIsUsed) {
  Buffer used = PinnedMemoryResource().allocate(64, stream);
  const std::vector<int> values(16, 3);
  close_while_used([&] { used.close(); },
                   [&] {
                     used.copy_from(std::span(values), stream);
                     used.slice(0, 4).as_span<int>();
                     (void)printed(used);
                   });
}

TEST_F(CloseTest, IsSafeWhileAKernelIsLaunchedWithABuffer) {
  const Kernel scale = compile(scale_source, "scale");
  Buffer used = upload(std::vector<float>(16, 1.0f), stream);
  close_while_used([&] { used.close(); },
                   [&] { launch(stream, {.grid = 1, .block = 16}, scale, used, 1.0f, std::size_t{16}); });
  stream.sync();
}

TEST_F(CloseTest, IsSafeWhileAKernelIsLaunchedOnTheStream) {
  const Kernel scale = compile(scale_source, "scale");
  Stream used = device.create_stream();
  const Buffer data = upload(std::vector<float>(16, 1.0f), stream);
  stream.sync();
  close_while_used([&] { used.close(); },
                   [&] { launch(used, {.grid = 1, .block = 16}, scale, data, 1.0f, std::size_t{16}); });
  device.sync();
}

TEST_F(CloseTest, IsSafeWhileAContextIsUsed) {
  Context used = device.create_context();
  close_while_used([&] { used.close(); }, [&] { used.create_stream().sync(); });
}

TEST_F(CloseTest, IsSafeWhileAPoolIsUsed) {
  DeviceMemoryResource used(device, {.max_size = 1 << 20});
  close_while_used([&] { used.close(); }, [&] { used.allocate(64, stream).close(); });
}

TEST_F(CloseTest, IsSafeWhileADefaultStreamIsUsed) {
  Stream used = Stream::per_thread_default();
  close_while_used([&] { used.close(); }, [&] { (void)Stream(used).is_done(); });
}

}  // namespace
}  // namespace cuprum::tests
