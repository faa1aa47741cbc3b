// A second process for a test: this program again, running one of its disabled tests, connected by a channel.
//
//   TEST(Child, DISABLED_Greets) { channel_to_parent().send("hello"); }
//
//   TEST(Greeting, Arrives) {
//     ChildProcess child("Child.DISABLED_Greets");
//     EXPECT_EQ(child.channel().receive<std::string>(), "hello");
//     EXPECT_TRUE(child.passed());
//   }
#pragma once

#include <sys/types.h>

#include <cuprum/ipc_channel.hpp>
#include <string>
#include <vector>

namespace cuprum::tests {

class ChildProcess {
 public:
  /// Starts it with environment variables ("NAME=value") added and file descriptors inherited under their own numbers.
  explicit ChildProcess(const std::string& test, const std::vector<std::string>& settings = {},
                        const std::vector<int>& inherited = {});
  /// Kills it if it still runs.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  const ipc::Channel& channel() const { return channel_; }
  pid_t id() const { return id_; }

  /// Waits for its end, for a minute at most. Whether its test passed.
  bool passed();

  /// Ends it at once, as a crash would, and waits until it is gone.
  void kill();

 private:
  pid_t id_ = -1;
  ipc::Channel channel_;
};

/// In the child: its end of the channel.
const ipc::Channel& channel_to_parent();

}  // namespace cuprum::tests
