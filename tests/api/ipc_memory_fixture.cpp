#include "api/ipc_memory_fixture.hpp"

#include <map>

namespace cuprum::tests {
namespace {

TEST(IpcProbe, DISABLED_Imports) {
  const ipc::Channel& channel = channel_to_parent();
  const PoolKind kind = channel.receive<std::string>() == "Device" ? PoolKind::device : PoolKind::pinned;
  const auto handle = channel.receive<IPCAllocationHandle>();
  const auto descriptor = channel.receive<IPCBufferDescriptor>();
  try {
    Stream stream = Device(0).create_stream();
    Buffer::from_ipc_descriptor(import_pool(kind, handle), descriptor, stream);
    channel.send("");
  } catch (const Error& error) {
    channel.send(error.what());
  }
}

std::string probe(PoolKind kind) {
  try {
    Stream stream = Device(0).create_stream();
    const MemoryPool pool = make_pool(kind);
    const Buffer buffer = pool.allocate(64, stream);
    stream.sync();
    ChildProcess child("IpcProbe.DISABLED_Imports");
    child.channel().send(name_of(kind));
    child.channel().send(pool.allocation_handle());
    child.channel().send(buffer.ipc_descriptor());
    return child.channel().receive<std::string>();
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

std::string obstacle_to_sharing(PoolKind kind) {
  static std::map<PoolKind, std::string> known;
  if (const auto found = known.find(kind); found != known.end()) return found->second;
  std::string obstacle = probe(kind);
  if (driver::info().kind == driver::Choice::softgpu) {
    EXPECT_EQ(obstacle, "") << "softgpu shares pools everywhere";
    obstacle.clear();
  }
  return known[kind] = obstacle;
}

}  // namespace cuprum::tests
