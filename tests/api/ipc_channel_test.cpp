// Channels: what comes over them is taken only when it is what it should be, and nothing leaks when it is not.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <thread>

#include "api/ipc_fixture.hpp"

namespace cuprum::tests {
namespace {

using ipc::Channel;
using ipc::ChannelFault;
using ipc::ChannelOptions;
using ::testing::HasSubstr;

constexpr ChannelOptions brief{.timeout_ms = 50};

/// A channel whose other end sends whatever it likes.
class IpcChannelTest : public ::testing::Test {
 protected:
  DescriptorsAreClosed check;
  int raw = -1;
  Channel channel = connected();

  ~IpcChannelTest() override { hang_up(); }

  Channel connected(int type = SOCK_SEQPACKET) {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends), 0);
    raw = ends[1];
    return Channel(ends[0], {.timeout_ms = 5000});
  }

  void hang_up() {
    if (raw >= 0) close(raw);
    raw = -1;
  }

  static Bytes frame(std::uint32_t kind, std::uint64_t sequence, const Bytes& body) {
    Bytes bytes(16 + body.size());
    std::memcpy(bytes.data(), "CuCh", 4);
    put(bytes, 4, kind);
    put(bytes, 8, sequence);
    std::copy(body.begin(), body.end(), bytes.begin() + 16);
    return bytes;
  }

  void send_raw(const Bytes& bytes, int descriptors = 0) const {
    std::vector<int> numbers(static_cast<std::size_t>(descriptors), STDERR_FILENO);
    const std::size_t payload = numbers.size() * sizeof(int);
    std::vector<char> control(CMSG_SPACE(payload));
    iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (descriptors > 0) {
      message.msg_control = control.data();
      message.msg_controllen = control.size();
      cmsghdr* rights = CMSG_FIRSTHDR(&message);
      rights->cmsg_level = SOL_SOCKET;
      rights->cmsg_type = SCM_RIGHTS;
      rights->cmsg_len = CMSG_LEN(payload);
      std::memcpy(CMSG_DATA(rights), numbers.data(), payload);
    }
    ASSERT_EQ(sendmsg(raw, &message, MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }

  template <typename Message>
  std::string refusal() {
    return fault_of(ChannelFault::refused, [&] { channel.receive<Message>(); });
  }
};

TEST(IpcChannel, CarriesTextBothWays) {
  DescriptorsAreClosed check;
  auto [here, there] = Channel::pair();
  here.send("ready?");
  EXPECT_EQ(there.receive<std::string>(), "ready?");
  there.send(std::string_view("yes\0no", 6));
  EXPECT_EQ(here.receive<std::string>(), std::string("yes\0no", 6));
}

TEST(IpcChannel, KeepsMessagesApartAndInOrder) {
  auto [here, there] = Channel::pair();
  for (int i = 0; i < 20; ++i) here.send(std::to_string(i));
  for (int i = 0; i < 20; ++i) EXPECT_EQ(there.receive<std::string>(), std::to_string(i));
}

TEST(IpcChannel, CarriesAnEmptyText) {
  auto [here, there] = Channel::pair();
  here.send("");
  EXPECT_EQ(there.receive<std::string>(), "");
}

TEST(IpcChannel, CarriesTheLongestText) {
  auto [here, there] = Channel::pair();
  const std::string text(Channel::max_text, 'x');
  std::thread sender([&here, &text] { here.send(text); });
  EXPECT_EQ(there.receive<std::string>(), text);
  sender.join();
}

TEST(IpcChannel, ALongerTextIsRefused) {
  auto [here, there] = Channel::pair();
  EXPECT_THAT(error_of<InvalidArgument>([&here] { here.send(std::string(Channel::max_text + 1, 'x')); }),
              HasSubstr("a text of 65537 bytes can't be sent: at most 65536"));
}

TEST(IpcChannel, CarriesDescriptors) {
  auto [here, there] = Channel::pair();
  const auto buffer = IPCBufferDescriptor::from_bytes(buffer_bytes());
  const auto event = IPCEventDescriptor::from_bytes(event_bytes());
  here.send(buffer);
  here.send(event);
  EXPECT_EQ(there.receive<IPCBufferDescriptor>(), buffer);
  EXPECT_EQ(there.receive<IPCEventDescriptor>(), event);
}

TEST(IpcChannel, CarriesAnAllocationHandleWithItsOpenFile) {
  DescriptorsAreClosed check;
  auto [here, there] = Channel::pair();
  const Uuid uuid = Uuid::random();
  const int file = memfd_create("shared", MFD_CLOEXEC);
  ASSERT_EQ(write(file, "hello", 5), 5);
  {
    IPCAllocationHandle handle = IPCAllocationHandle::adopt(file, uuid);
    here.send(handle);
    handle.close();
  }
  const IPCAllocationHandle received = there.receive<IPCAllocationHandle>();
  EXPECT_EQ(received.uuid(), uuid);
  char text[6] = {};
  EXPECT_EQ(pread(received.handle(), text, 5, 0), 5);
  EXPECT_STREQ(text, "hello");
  EXPECT_NE(fcntl(received.handle(), F_GETFD) & FD_CLOEXEC, 0) << "a program started now would inherit it";
}

TEST(IpcChannel, AClosedAllocationHandleIsNotSent) {
  auto [here, there] = Channel::pair(brief);
  IPCAllocationHandle handle = IPCAllocationHandle::adopt(open("/dev/null", O_RDONLY | O_CLOEXEC));
  handle.close();
  EXPECT_THAT(error_of<InvalidArgument>([&here, &handle] { here.send(handle); }), HasSubstr("closed"));
  fault_of(ChannelFault::timed_out, [&there] { there.receive<IPCAllocationHandle>(); });
}

TEST(IpcChannel, HandlesThatNobodyReceivesAreClosed) {
  DescriptorsAreClosed check;
  auto [here, there] = Channel::pair();
  here.send(IPCAllocationHandle::adopt(open("/dev/null", O_RDONLY | O_CLOEXEC)));
}

TEST(IpcChannel, KnowsWhoIsAtTheOtherEnd) {
  auto [here, there] = Channel::pair();
  EXPECT_EQ(here.peer().process, getpid());
  EXPECT_EQ(here.peer().user, geteuid());
}

TEST(IpcChannel, IsNotInheritedByOtherPrograms) {
  auto [here, there] = Channel::pair();
  EXPECT_NE(fcntl(here.handle(), F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_NE(fcntl(there.handle(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(IpcChannel, WaitingForAMessageTimesOut) {
  auto [here, there] = Channel::pair(brief);
  EXPECT_THAT(fault_of(ChannelFault::timed_out, [&here] { here.receive<std::string>(); }),
              HasSubstr("waited 50 ms for a message from the other process in vain"));
}

TEST(IpcChannel, WaitingForAReaderTimesOut) {
  auto [here, there] = Channel::pair(brief);
  const std::string text(Channel::max_text, 'x');
  EXPECT_THAT(fault_of(ChannelFault::timed_out,
                       [&here, &text] {
                         for (int i = 0; i < 1000; ++i) here.send(text);
                       }),
              HasSubstr("for the other process to read its messages in vain"));
}

TEST(IpcChannel, AnEndThatIsGoneIsReported) {
  auto [here, there] = Channel::pair();
  there = here;  // the last copy of the other end
  EXPECT_THAT(fault_of(ChannelFault::closed, [&here] { here.receive<std::string>(); }),
              HasSubstr("the other process has closed the channel or has ended"));
  EXPECT_THAT(fault_of(ChannelFault::closed, [&here] { here.send("anybody?"); }),
              HasSubstr("the other process has closed the channel or has ended"));
}

TEST(IpcChannel, WhatWasSentBeforeTheEndCanStillBeReceived) {
  auto [here, there] = Channel::pair();
  there.send("last words");
  there.close();
  EXPECT_EQ(here.receive<std::string>(), "last words");
  fault_of(ChannelFault::closed, [&here] { here.receive<std::string>(); });
}

TEST(IpcChannel, UseAfterCloseIsRefusedForAllCopies) {
  auto [here, there] = Channel::pair();
  const Channel copy = here;
  here.close();
  here.close();
  EXPECT_THAT(fault_of(ChannelFault::closed, [&] { copy.send("x"); }), HasSubstr("this channel is closed"));
  fault_of(ChannelFault::closed, [&] { copy.receive<std::string>(); });
  fault_of(ChannelFault::closed, [&] { copy.handle(); });
  fault_of(ChannelFault::closed, [&] { copy.peer(); });
}

TEST(IpcChannel, CloseEndsTheWaitOfAnotherThread) {
  auto [here, there] = Channel::pair();
  std::string told;
  std::thread waiting([&] { told = fault_of(ChannelFault::closed, [&] { here.receive<std::string>(); }); });
  here.close();
  waiting.join();
  EXPECT_THAT(told, HasSubstr("this channel is closed"));
}

TEST(IpcChannel, ThreadsMayShareIt) {
  auto [here, there] = Channel::pair();
  std::vector<std::thread> senders;
  for (int i = 0; i < 4; ++i) {
    senders.emplace_back([&here] {
      for (int n = 0; n < 50; ++n) here.send("word");
    });
  }
  for (int n = 0; n < 200; ++n) EXPECT_EQ(there.receive<std::string>(), "word");
  for (std::thread& sender : senders) sender.join();
}

TEST(IpcChannel, RefusesWhatIsNoSuitableSocket) {
  DescriptorsAreClosed check;
  int pipe_ends[2], stream_ends[2];
  ASSERT_EQ(pipe2(pipe_ends, O_CLOEXEC), 0);
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, stream_ends), 0);
  const int unconnected = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  for (int number : {-1, pipe_ends[0], pipe_ends[1], stream_ends[0], stream_ends[1], unconnected}) {
    EXPECT_THAT(error_of<InvalidArgument>([&] { Channel channel(number); }),
                HasSubstr("expected a connected Unix socket of type SOCK_SEQPACKET"));
  }
}

TEST_F(IpcChannelTest, TakesAWellFormedMessage) {
  send_raw(frame(2, 1, buffer_bytes()));
  EXPECT_EQ(channel.receive<IPCBufferDescriptor>().to_bytes(), buffer_bytes());
}

TEST_F(IpcChannelTest, AnEmptyMessageIsRefused) {
  send_raw({});
  EXPECT_THAT(refusal<std::string>(), HasSubstr("it has 0 bytes and is truncated: expected at least 16"));
}

TEST_F(IpcChannelTest, EveryTruncationIsRefused) {
  const Bytes good = frame(2, 1, buffer_bytes());
  for (std::size_t length = 0; length < good.size(); ++length) {
    Bytes cut(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length));
    if (length >= 16) put<std::uint64_t>(cut, 8, length);  // so that it does not count as sent before
    send_raw(cut);
    EXPECT_THAT(refusal<IPCBufferDescriptor>(), HasSubstr("truncated"));
  }
}

TEST_F(IpcChannelTest, EveryDamagedByteIsRefusedOrHarmless) {
  const Bytes good = frame(2, 1, buffer_bytes());
  for (std::size_t i = 0; i < good.size(); ++i) {
    hang_up();
    channel = connected();
    Bytes bad = good;
    bad[i] ^= std::byte{0xff};
    send_raw(bad);
    if (i >= 8 && i < 16) {  // another number for the first message is as good
      EXPECT_EQ(channel.receive<IPCBufferDescriptor>().to_bytes(), buffer_bytes());
    } else {
      EXPECT_NE(refusal<IPCBufferDescriptor>(), "") << "byte " << i;
    }
  }
}

TEST_F(IpcChannelTest, AMessageThatIsTooLongIsRefused) {
  send_raw(Bytes(16 + Channel::max_text + 1, std::byte{0x43}));
  EXPECT_THAT(refusal<std::string>(), HasSubstr("it is longer than 65552 bytes"));
}

TEST_F(IpcChannelTest, AnotherProgramsMessageIsRefused) {
  send_raw(Bytes(64, std::byte{0x7f}));
  EXPECT_THAT(refusal<std::string>(), HasSubstr("it was not sent by a Channel"));
}

TEST_F(IpcChannelTest, AnotherKindIsRefusedByName) {
  send_raw(frame(3, 1, event_bytes()));
  EXPECT_THAT(refusal<IPCBufferDescriptor>(), HasSubstr("it is an event, expected a buffer"));
  send_raw(frame(4, 2, {}));
  EXPECT_THAT(refusal<IPCEventDescriptor>(), HasSubstr("it is a text, expected an event"));
  send_raw(frame(77, 3, {}));
  EXPECT_THAT(refusal<IPCEventDescriptor>(), HasSubstr("it is nothing known, expected an event"));
}

TEST_F(IpcChannelTest, AFrameOfOneKindAroundAnotherIsRefused) {
  send_raw(frame(2, 1, event_bytes()));
  EXPECT_THAT(refusal<IPCBufferDescriptor>(), HasSubstr("it describes an event"));
}

TEST_F(IpcChannelTest, AReplayedMessageIsRefused) {
  const Bytes message = frame(2, 5, buffer_bytes());
  send_raw(message);
  send_raw(message);
  send_raw(frame(2, 4, buffer_bytes()));
  channel.receive<IPCBufferDescriptor>();
  EXPECT_THAT(refusal<IPCBufferDescriptor>(), HasSubstr("it was sent before: it is number 5, and number 5 is here"));
  EXPECT_THAT(refusal<IPCBufferDescriptor>(), HasSubstr("it was sent before: it is number 4, and number 5 is here"));
}

TEST_F(IpcChannelTest, AfterARefusalTheNextMessageIsTaken) {
  send_raw(Bytes(3));
  send_raw(frame(4, 1, {std::byte{'o'}, std::byte{'k'}}));
  refusal<std::string>();
  EXPECT_EQ(channel.receive<std::string>(), "ok");
}

TEST_F(IpcChannelTest, APoolWithoutAFileDescriptorIsRefused) {
  send_raw(frame(1, 1, pool_bytes()));
  EXPECT_THAT(refusal<IPCAllocationHandle>(), HasSubstr("it came with 0 file descriptors: expected 1"));
}

TEST_F(IpcChannelTest, APoolWithTwoFileDescriptorsIsRefusedAndBothAreClosed) {
  send_raw(frame(1, 1, pool_bytes()), 2);
  EXPECT_THAT(refusal<IPCAllocationHandle>(), HasSubstr("it came with 2 file descriptors: expected 1"));
}

TEST_F(IpcChannelTest, AsManyFileDescriptorsAsCanBeSentAreRefusedAndClosed) {
  send_raw(frame(1, 1, pool_bytes()), 253);
  EXPECT_THAT(refusal<IPCAllocationHandle>(), HasSubstr("it came with 253 file descriptors: expected 1"));
}

TEST_F(IpcChannelTest, FileDescriptorsThatDoNotBelongToAMessageAreRefusedAndClosed) {
  send_raw(frame(2, 1, buffer_bytes()), 1);
  EXPECT_THAT(refusal<IPCBufferDescriptor>(), HasSubstr("it came with 1 file descriptors: expected 0 with a buffer"));
  send_raw(frame(4, 2, {}), 3);
  EXPECT_THAT(refusal<std::string>(), HasSubstr("it came with 3 file descriptors"));
  send_raw({}, 1);
  EXPECT_THAT(refusal<std::string>(), HasSubstr("it has 0 bytes"));
}

/// Lets no file be opened in addition to those that are open.
class NoMoreFiles {
 public:
  NoMoreFiles() {
    EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &before_), 0);
    const int next = dup(0);
    close(next);
    const rlimit full{static_cast<rlim_t>(next), before_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &full), 0);
  }
  ~NoMoreFiles() { setrlimit(RLIMIT_NOFILE, &before_); }
  NoMoreFiles(const NoMoreFiles&) = delete;
  NoMoreFiles& operator=(const NoMoreFiles&) = delete;

 private:
  rlimit before_{};
};

TEST_F(IpcChannelTest, FileDescriptorsThatAreLostAreNotOverlooked) {
  send_raw(frame(4, 1, {}), 1);
  send_raw(frame(1, 2, pool_bytes()), 1);
  const NoMoreFiles full;
  EXPECT_THAT(refusal<std::string>(), HasSubstr("file descriptors that came with it are lost"));
  EXPECT_THAT(refusal<IPCAllocationHandle>(), HasSubstr("as many files open as it may"));
}

TEST_F(IpcChannelTest, AFileDescriptorWithADamagedDescriptionIsClosed) {
  Bytes damaged = pool_bytes();
  damaged[60] ^= std::byte{1};
  send_raw(frame(1, 1, damaged), 1);
  EXPECT_THAT(refusal<IPCAllocationHandle>(), HasSubstr("it is damaged: the checksum is wrong"));
}

TEST_F(IpcChannelTest, AFileDescriptorWithTheWrongKindIsClosed) {
  send_raw(frame(1, 1, pool_bytes()), 1);
  EXPECT_THAT(refusal<std::string>(), HasSubstr("it is a memory pool, expected a text"));
}

}  // namespace
}  // namespace cuprum::tests
