// Channels between processes: how they are found, inherited and lost. No memory is shared here.
#include <fcntl.h>
#include <sys/mman.h>

#include <filesystem>

#include "api/child_process.hpp"
#include "api/ipc_fixture.hpp"

namespace cuprum::tests {
namespace {

using ipc::ChannelFault;

class IpcProcessTest : public ::testing::Test {
 protected:
  DescriptorsAreClosed check;
};

TEST(IpcChild, DISABLED_Echoes) { channel_to_parent().send(channel_to_parent().receive<std::string>()); }

TEST_F(IpcProcessTest, AnInheritedChannelReachesTheOtherProcess) {
  ChildProcess child("IpcChild.DISABLED_Echoes");
  child.channel().send("hello");
  EXPECT_EQ(child.channel().receive<std::string>(), "hello");
  EXPECT_TRUE(child.passed());
}

TEST(IpcChild, DISABLED_Connects) {
  const ipc::Channel channel = ipc::connect(channel_to_parent().receive<std::string>());
  channel.send(std::to_string(getpid()));
}

TEST_F(IpcProcessTest, AProcessConnectsByPathAndIsKnownByItsNumber) {
  const std::string path = std::filesystem::temp_directory_path() / ("cuprum-ipc-" + std::to_string(getpid()));
  ipc::Listener listener(path);
  ChildProcess child("IpcChild.DISABLED_Connects");
  child.channel().send(path);
  const ipc::Channel channel = listener.accept();
  EXPECT_EQ(channel.peer().process, child.id());
  EXPECT_EQ(channel.receive<std::string>(), std::to_string(child.id()));
  EXPECT_TRUE(child.passed());
}

TEST(IpcChild, DISABLED_WritesIntoTheFileItReceives) {
  const auto handle = channel_to_parent().receive<IPCAllocationHandle>();
  EXPECT_TRUE(handle.uuid().has_value());
  EXPECT_EQ(pwrite(handle.handle(), "from the child", 14, 0), 14);
}

TEST_F(IpcProcessTest, AFileDescriptorReachesTheOtherProcess) {
  const auto handle = IPCAllocationHandle::adopt(memfd_create("shared", MFD_CLOEXEC), Uuid::random());
  ChildProcess child("IpcChild.DISABLED_WritesIntoTheFileItReceives");
  child.channel().send(handle);
  EXPECT_TRUE(child.passed());
  char text[15] = {};
  EXPECT_EQ(pread(handle.handle(), text, 14, 0), 14);
  EXPECT_STREQ(text, "from the child");
}

TEST(IpcChild, DISABLED_WritesIntoTheFileItInherits) {
  const std::string number = channel_to_parent().receive<std::string>();
  const std::string text = channel_to_parent().receive<std::string>();
  const auto bytes = std::as_bytes(std::span(text));
  const auto handle = IPCAllocationHandle::from_bytes(bytes, std::stoi(number));
  channel_to_parent().send(handle.uuid().value().to_string());
  EXPECT_EQ(pwrite(handle.handle(), "x", 1, 0), 1);
}

TEST_F(IpcProcessTest, AFileDescriptorIsInheritedByNumber) {
  const auto handle = IPCAllocationHandle::adopt(memfd_create("shared", MFD_CLOEXEC), Uuid::random());
  ChildProcess child("IpcChild.DISABLED_WritesIntoTheFileItInherits", {}, {handle.handle()});
  const Bytes bytes = handle.to_bytes();
  child.channel().send(std::to_string(handle.handle()));
  child.channel().send(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  EXPECT_EQ(child.channel().receive<std::string>(), handle.uuid()->to_string());
  EXPECT_TRUE(child.passed());
  char byte = 0;
  EXPECT_EQ(pread(handle.handle(), &byte, 1, 0), 1);
  EXPECT_EQ(byte, 'x');
}

TEST(IpcChild, DISABLED_Waits) { channel_to_parent().receive<std::string>(); }

TEST_F(IpcProcessTest, TheEndOfTheOtherProcessIsReported) {
  ChildProcess child("IpcChild.DISABLED_Echoes");
  child.channel().send("x");
  child.channel().receive<std::string>();
  EXPECT_TRUE(child.passed());
  fault_of(ChannelFault::closed, [&] { child.channel().receive<std::string>(); });
}

TEST_F(IpcProcessTest, TheDeathOfTheOtherProcessIsReported) {
  ChildProcess child("IpcChild.DISABLED_Waits");
  child.kill();
  fault_of(ChannelFault::closed, [&] { child.channel().receive<std::string>(); });
  fault_of(ChannelFault::closed, [&] { child.channel().send("anybody?"); });
}

TEST_F(IpcProcessTest, WhatADeadProcessWasSentIsClosed) {
  ChildProcess child("IpcChild.DISABLED_Waits");
  child.channel().send(IPCAllocationHandle::adopt(open("/dev/null", O_RDONLY | O_CLOEXEC)));
  child.kill();
}

}  // namespace
}  // namespace cuprum::tests
