// Channels between processes that find each other by a path.
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <filesystem>

#include "api/ipc_fixture.hpp"

namespace cuprum::tests {
namespace {

using ipc::Channel;
using ipc::ChannelFault;
using ipc::ChannelOptions;
using ipc::Listener;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr ChannelOptions brief{.timeout_ms = 50};

class IpcListenerTest : public ::testing::Test {
 protected:
  IpcListenerTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "cuprum-ipc-XXXXXX").string();
    folder = mkdtemp(pattern.data());
    path = folder + "/socket";
  }
  ~IpcListenerTest() override { std::filesystem::remove_all(folder); }

  DescriptorsAreClosed check;
  std::string folder, path;
};

TEST_F(IpcListenerTest, ConnectsTwoChannels) {
  Listener listener(path);
  EXPECT_EQ(listener.path(), path);
  const Channel client = ipc::connect(path);
  const Channel server = listener.accept();
  client.send("hello");
  EXPECT_EQ(server.receive<std::string>(), "hello");
  server.send("welcome");
  EXPECT_EQ(client.receive<std::string>(), "welcome");
  EXPECT_EQ(client.peer().user, geteuid());
}

TEST_F(IpcListenerTest, ServesSeveralClients) {
  Listener listener(path);
  std::vector<Channel> clients, servers;
  for (int i = 0; i < 5; ++i) {
    clients.push_back(ipc::connect(path));
    clients.back().send(std::to_string(i));
  }
  for (int i = 0; i < 5; ++i) {
    servers.push_back(listener.accept());
    EXPECT_EQ(servers.back().receive<std::string>(), std::to_string(i));
  }
}

TEST_F(IpcListenerTest, TheSocketIsPrivate) {
  Listener listener(path);
  struct stat state{};
  ASSERT_EQ(stat(path.c_str(), &state), 0);
  EXPECT_EQ(state.st_mode & 07777, 0600u);
}

TEST_F(IpcListenerTest, TheSocketGoesWithTheListener) {
  {
    Listener listener(path);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(IpcListenerTest, MovingKeepsTheSocket) {
  Listener first(path);
  Listener second = std::move(first);
  const Channel client = ipc::connect(path);
  second.accept();
}

TEST_F(IpcListenerTest, AnotherListenersSocketIsLeftAlone) {
  {
    Listener listener(path);
    std::filesystem::rename(path, path + ".old");
    std::filesystem::create_directory(path);
  }
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST_F(IpcListenerTest, APathInUseIsRefused) {
  Listener listener(path);
  EXPECT_THAT(fault_of(ChannelFault::failed, [&] { Listener second(path); }),
              AllOf(HasSubstr("making the socket " + path), HasSubstr("remove it"), HasSubstr("in use")));
}

TEST_F(IpcListenerTest, APathThatIsTooLongIsRefused) {
  const std::string long_path = folder + "/" + std::string(100, 'x');
  EXPECT_THAT(error_of<InvalidArgument>([&] { Listener listener(long_path); }), HasSubstr("expected 1 to 107 bytes"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { ipc::connect(long_path); }), HasSubstr("expected 1 to 107 bytes"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { ipc::connect(""); }), HasSubstr("expected 1 to 107 bytes"));
}

TEST_F(IpcListenerTest, APathWithAZeroByteIsQuotedWithWhatIsWrongWithIt) {
  const std::string cut_path("/run/a\0b", 8);
  EXPECT_THAT(error_of<InvalidArgument>([&] { ipc::connect(cut_path); }),
              HasSubstr("'/run/a\\0b' can't be the path of a socket: expected 1 to 107 bytes without zeros"));
}

TEST_F(IpcListenerTest, AFolderThatDoesNotExistIsReported) {
  EXPECT_THAT(fault_of(ChannelFault::failed, [&] { Listener listener(folder + "/none/socket"); }),
              HasSubstr("No such file or directory"));
}

TEST_F(IpcListenerTest, ConnectingToNobodyIsReported) {
  EXPECT_THAT(fault_of(ChannelFault::failed, [&] { ipc::connect(path); }), HasSubstr("no process listens there"));
}

TEST_F(IpcListenerTest, ASocketThatWasLeftBehindIsReported) {
  const int left_behind = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  path.copy(address.sun_path, path.size());
  ASSERT_EQ(bind(left_behind, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  close(left_behind);
  EXPECT_THAT(fault_of(ChannelFault::failed, [&] { ipc::connect(path); }), HasSubstr("no process listens there"));
}

TEST_F(IpcListenerTest, WaitingForAConnectionTimesOut) {
  Listener listener(path, brief);
  EXPECT_THAT(fault_of(ChannelFault::timed_out, [&] { listener.accept(); }),
              HasSubstr("waited 50 ms for another process to connect in vain"));
}

TEST_F(IpcListenerTest, WaitingToBeAcceptedTimesOut) {
  Listener listener(path);
  std::vector<Channel> waiting;
  EXPECT_THAT(fault_of(ChannelFault::timed_out,
                       [&] {
                         for (int i = 0; i < 200; ++i) waiting.push_back(ipc::connect(path, brief));
                       }),
              HasSubstr("for the process that listens at " + path + " in vain"));
}

TEST_F(IpcListenerTest, AProcessOfAnotherUserIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  Listener listener(path, {.timeout_ms = 5000});
  // Somebody opened it up, so that only the check of the user is left.
  std::filesystem::permissions(folder, std::filesystem::perms::all);
  std::filesystem::permissions(path, std::filesystem::perms::all);
  const pid_t stranger = fork();
  if (stranger == 0) {
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    path.copy(address.sun_path, path.size());
    const int client = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    const bool done =
        setuid(65534) == 0 && connect(client, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
    char byte;
    if (done) (void)!read(client, &byte, 1);  // until the other side hangs up
    _exit(done ? 0 : 1);
  }
  EXPECT_THAT(fault_of(ChannelFault::refused, [&] { listener.accept(); }),
              AllOf(HasSubstr("process " + std::to_string(stranger)), HasSubstr("belongs to user 65534"),
                    HasSubstr("only processes of this user (0) may share memory")));
  int status = -1;
  waitpid(stranger, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace cuprum::tests
