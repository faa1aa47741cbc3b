// Tests that need two processes: the test starts a disabled test of this program as its child and talks to it.
//
//   TEST_F(ChildProcess, DISABLED_Doubles) { parent().send(2 * parent().receive<int>()); }
//   TEST(Doubling, WorksInAChild) {
//     Child child("ChildProcess.DISABLED_Doubles");
//     child.channel().send(21);
//     EXPECT_EQ(child.channel().receive<int>(), 42);
//     EXPECT_EQ(child.wait(), 0);
//   }
#pragma once

#include <sys/types.h>

#include <string>
#include <type_traits>
#include <vector>

#include "conformance/driver.hpp"

namespace conformance {

// One end of a connection. Receiving throws, which fails the test, when the other side is gone or says nothing for a
// minute.
class Channel {
 public:
  explicit Channel(int socket) : socket_(socket) {}
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  template <typename T>
  void send(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    send_bytes(&value, sizeof value, -1);
  }
  template <typename T>
  T receive() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    receive_bytes(&value, sizeof value);
    return value;
  }
  // Whether there is something to receive, after so many milliseconds at most.
  bool has_something(int milliseconds);
  // "I am here", and waiting for it.
  void signal() { send('!'); }
  void await() { receive<char>(); }

  void send_descriptor(int descriptor);
  int receive_descriptor();  // the caller closes it

 private:
  void send_bytes(const void* data, std::size_t bytes, int descriptor);
  int receive_bytes(void* data, std::size_t bytes);

  const int socket_;
};

class Child {
 public:
  // With "NAME=value" in its environment.
  explicit Child(const std::string& test, const std::vector<std::string>& settings = {});
  ~Child();  // ends it if it still runs
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  Channel& channel() { return channel_; }
  pid_t id() const { return process_; }
  int wait();   // its exit status: 0 when its test passed
  void kill();  // and waits until it is gone

 private:
  Child(const std::string& test, const std::vector<std::string>& settings, const int (&sockets)[2]);

  Channel channel_;
  pid_t process_ = -1;
};

// In a child: the connection to the test that started it.
Channel& parent();

// For the children: as DriverTest.
using ChildProcess = DriverTest;

}  // namespace conformance
