// Sharing memory with another process, for each kind of pool that can be shared.
#pragma once

#include "api/child_process.hpp"
#include "api/ipc_fixture.hpp"

namespace cuprum::tests {

inline constexpr std::size_t shared_bytes = 4096;

enum class PoolKind { device, pinned };

inline std::string name_of(PoolKind kind) { return kind == PoolKind::device ? "Device" : "Pinned"; }

inline MemoryPool make_pool(PoolKind kind) {
  if (kind == PoolKind::device) return DeviceMemoryResource(Device(0), {.ipc_enabled = true});
  return PinnedMemoryResource({.ipc_enabled = true});
}

inline MemoryPool import_pool(PoolKind kind, const IPCAllocationHandle& handle) {
  if (kind == PoolKind::device) return DeviceMemoryResource::from_allocation_handle(Device(0), handle);
  return PinnedMemoryResource::from_allocation_handle(handle);
}

inline void put(const Buffer& buffer, std::uint8_t value, const Stream& stream) {
  buffer.fill<std::uint8_t>(value, stream);
  stream.sync();
}

inline void expect_all(const Buffer& buffer, std::uint8_t value, const Stream& stream) {
  std::vector<std::uint8_t> found(buffer.size());
  buffer.copy_to(std::span(found), stream);
  stream.sync();
  EXPECT_EQ(found, std::vector<std::uint8_t>(buffer.size(), value));
}

/// Why pools of this kind can't be shared with other processes here; empty when they can. softgpu always can.
std::string obstacle_to_sharing(PoolKind kind);

#define SKIP_UNLESS_SHARED(kind)                                                     \
  if (const std::string obstacle = obstacle_to_sharing(kind); !obstacle.empty()) {   \
    GTEST_SKIP() << "pools can't be shared with other processes here: " << obstacle; \
  }

/// The exporting process.
class IpcExporterTest : public ApiTest {
 protected:
  Buffer filled(const MemoryPool& pool, std::uint8_t value) const {
    Buffer buffer = pool.allocate(shared_bytes, stream);
    put(buffer, value, stream);
    return buffer;
  }

  Stream stream = device.create_stream();
};

/// The exporting process, for each kind of pool.
class IpcMemoryTest : public IpcExporterTest, public ::testing::WithParamInterface<PoolKind> {
 protected:
  void SetUp() override { SKIP_UNLESS_SHARED(GetParam()); }

  /// A process that begins with receiving a pool.
  static std::unique_ptr<ChildProcess> importer(const std::string& test, const MemoryPool& pool) {
    auto child = std::make_unique<ChildProcess>("IpcImporter.DISABLED_" + test);
    child->channel().send(name_of(GetParam()));
    child->channel().send(pool.allocation_handle());
    return child;
  }
};

/// The importing process: what `importer` starts.
class IpcImporter : public ApiTest {
 protected:
  Buffer receive_buffer() const {
    return Buffer::from_ipc_descriptor(pool, channel.receive<IPCBufferDescriptor>(), stream);
  }
  void say(std::string_view word) const { channel.send(word); }
  void await(std::string_view word) const { EXPECT_EQ(channel.receive<std::string>(), word); }

  const ipc::Channel channel = channel_to_parent();
  const PoolKind kind = channel.receive<std::string>() == "Device" ? PoolKind::device : PoolKind::pinned;
  const IPCAllocationHandle handle = channel.receive<IPCAllocationHandle>();
  MemoryPool pool = import_pool(kind, handle);
  Stream stream = device.create_stream();
};

}  // namespace cuprum::tests
