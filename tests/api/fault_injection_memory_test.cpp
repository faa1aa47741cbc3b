// Whatever call of the driver fails while memory is allocated, moved, advised on or grown, the library reports it and
// leaks nothing.
#include "api/failing_api.hpp"
#include "api/foreign_managed.hpp"
#include "api/memory_kinds.hpp"

namespace cuprum::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class FaultyMemoryTest : public ApiTest {
 protected:
  // A buffer whose memory is not ordered by streams waits for its stream when it goes. That can fail, too, and only be
  // logged.
  FaultyMemoryTest() {
    usual_hook = set_log_hook([](std::string_view line) { EXPECT_THAT(line, HasSubstr("cuStreamSynchronize")); });
  }
  ~FaultyMemoryTest() override { set_log_hook(usual_hook); }

  LogHook usual_hook;
  Stream stream = device.create_stream();
  FailingApi failing;
};

class FaultyResourceTest : public FaultyMemoryTest, public ::testing::WithParamInterface<MemoryKind> {};

/// Pools of managed memory are used again; where the driver doesn't let one give its memory back meanwhile, nobody is
/// the worse for it.
const std::vector<MayBeSwallowed> idle_pools_keep_some = {
    {"cuMemPoolSetAttribute", "an idle pool keeps some memory, and the next user gets it"}};

TEST_P(FaultyResourceTest, EveryFailingCallIsReportedAndNothingLeaks) {
  try {
    GetParam().make(device);
  } catch (const NotSupported& error) {
    GTEST_SKIP() << error.what();
  }
  std::vector<int> seen(1024);  // outlives the tries: between host memories a copy goes on when waiting for it failed
  const int thrown = failing.fail_each_call(
      [&] {
        MemoryResource resource = GetParam().make(device);
        Buffer buffer = resource.allocate(4096, stream);
        buffer.fill<int>(3, stream);
        buffer.copy_to(stream).copy_to(std::span(seen), stream);
        stream.sync();
        EXPECT_EQ(seen, std::vector<int>(1024, 3)) << failing.failed();
        resource.deallocate(resource.implementation()->allocate(64, stream), 64, stream);
      },
      idle_pools_keep_some);
  EXPECT_GE(thrown, 3);
}

TEST_P(FaultyResourceTest, GivesItsMemoryBack) {
  try {
    GetParam().make(device);
  } catch (const NotSupported& error) {
    GTEST_SKIP() << error.what();
  }
  stream.sync();
  failing.fail_each_call(
      [&] {
        const int before = failing.memory_held();
        {
          const Buffer buffer = GetParam().make(device).allocate(1 << 22, stream);
          EXPECT_GT(failing.memory_held(), before);
        }
        EXPECT_EQ(failing.memory_held(), before) << failing.failed();
      },
      idle_pools_keep_some);
  EXPECT_EQ(failing.memory_held(), 0) << "some of the many tries left memory allocated";
}

INSTANTIATE_TEST_SUITE_P(All, FaultyResourceTest, ::testing::ValuesIn(memory_kinds), kind_name);

TEST_F(FaultyMemoryTest, Pools) {
  EXPECT_GT(failing.fail_each_call([&] {
    DeviceMemoryResource pool(device, {.max_size = 1 << 26});
    const MemoryPoolAttributes attributes = pool.attributes();
    attributes.set_release_threshold(0);
    attributes.set_reuse_allow_opportunistic(false);
    Buffer buffer = pool.allocate(64, stream);
    EXPECT_GT(attributes.used_mem_current(), 0u);
    attributes.reset_used_mem_high();
    pool.trim();
    pool.close();
  }),
            5);
}

TEST_F(FaultyMemoryTest, SharedPools) {
  failing.fail_each_call([&] {
    DeviceMemoryResource pool(device, {.ipc_enabled = true});
    EXPECT_TRUE(pool.uuid().has_value());
  });
}

TEST_F(FaultyMemoryTest, PeerAccess) {
  failing.fail_each_call([&] {
    DeviceMemoryResource pool(device, {});
    pool.set_peer_accessible_by(Device::all());
    pool.peer_accessible_by().clear();
    EXPECT_TRUE(pool.peer_accessible_by().empty());
  });
}

TEST_F(FaultyMemoryTest, CopiesAndFills) {
  Buffer first = device.allocate(64, stream);
  Buffer second = device.allocate(64, stream);
  std::vector<int> values(16, 4);
  EXPECT_GE(failing.fail_each_call([&] {
    first.copy_from(std::span(values), stream);
    second.copy_from(first, stream);
    second.copy_from(first, stream, {.src_access_order = MemcpySrcAccessOrder::any});
    second.copy_to(std::span(values), stream);
    copy_batch(stream, {first}, {second});
    second.fill<std::uint8_t>(1, stream);
    second.fill<std::uint16_t>(1, stream);
    second.fill<int>(4, stream);
    stream.sync();
    EXPECT_EQ(values, std::vector<int>(16, 4));
  }),
            8);
}

TEST_F(FaultyMemoryTest, FactsAboutAPointer) {
  Buffer buffer = device.allocate(64, stream);
  EXPECT_EQ(failing.fail_each_call([&] {
    const Buffer wrapped = Buffer::from_handle(buffer.handle(), 64);
    EXPECT_TRUE(wrapped.is_device_accessible());
    EXPECT_FALSE(wrapped.is_host_accessible());
    EXPECT_FALSE(wrapped.is_managed());
    EXPECT_EQ(wrapped.device_id(), 0);
  }),
            1)
      << "the driver is asked once";
}

TEST_F(FaultyMemoryTest, ManagedMemory) {
  if (!device.properties().concurrent_managed_access()) GTEST_SKIP() << "needs concurrent managed access";
  EXPECT_GT(failing.fail_each_call([&] {
    auto memory = std::make_shared<ForeignManaged>(1 << 16);  // NVIDIA's driver takes no advice for memory of a pool
    ManagedBuffer buffer = ManagedBuffer::from_handle(memory->pointer, 1 << 16, memory);
    buffer.set_read_mostly(true);
    EXPECT_TRUE(buffer.read_mostly());
    buffer.set_preferred_location(Host());
    EXPECT_EQ(buffer.preferred_location(), Location(Host()));
    buffer.set_accessed_by({device, Host()});
    buffer.accessed_by().discard(device);
    EXPECT_EQ(buffer.accessed_by().size(), 1u);
    buffer.prefetch(device, stream);
    buffer.discard(stream);
    buffer.discard_prefetch(device, stream);
    prefetch_batch(stream, {buffer}, device);
    discard_batch(stream, {buffer});
    discard_prefetch_batch(stream, {buffer}, device);
    stream.sync();
  }),
            15);
}

/// Takes the addresses behind a buffer.
class Obstacle {
 public:
  Obstacle(const Buffer& buffer, std::size_t unit) : size_(unit) {
    driver::call<&driver::Api::cuMemAddressReserve>(&address_, size_, size_, buffer.handle() + buffer.size(), 0ull);
  }
  ~Obstacle() { driver::call<&driver::Api::cuMemAddressFree>(address_, size_); }
  Obstacle(const Obstacle&) = delete;
  Obstacle& operator=(const Obstacle&) = delete;

 private:
  CUdeviceptr address_ = 0;
  std::size_t size_;
};

class FaultyGrowthTest : public FaultyMemoryTest {
 protected:
  /// Lets a buffer grow with each call failing in turn; it must be as it was then.
  void grow_with_failures(bool in_place) {
    VirtualMemoryResource resource(device, {.granularity = VirtualMemoryGranularityType::minimum});
    const std::size_t unit = resource.granularity();
    const int thrown = failing.fail_each_call([&] {
      Buffer buffer = resource.allocate(unit, stream);
      buffer.fill<int>(7, stream);
      stream.sync();
      std::optional<Obstacle> obstacle;
      if (!in_place) obstacle.emplace(buffer, unit);
      const DevicePointer where = buffer.handle();
      try {
        resource.modify_allocation(buffer, 2 * unit, {.granularity = VirtualMemoryGranularityType::minimum});
      } catch (const DriverError&) {
        failing.stop();
        EXPECT_EQ(buffer.handle(), where) << failing.failed();
        EXPECT_EQ(buffer.size(), unit) << failing.failed();
        EXPECT_EQ(download<int>(buffer, stream).back(), 7) << failing.failed();
        throw;
      }
      EXPECT_EQ(buffer.size(), 2 * unit);
      EXPECT_EQ(download<int>(buffer, stream)[unit / sizeof(int) - 1], 7) << failing.failed();
    });
    EXPECT_GE(thrown, 8);
    EXPECT_EQ(failing.memory_held(), 0);
  }
};

TEST_F(FaultyGrowthTest, InPlaceLeavesTheBufferAsItWas) { grow_with_failures(true); }

TEST_F(FaultyGrowthTest, ByMovingLeavesTheBufferAsItWas) { grow_with_failures(false); }

TEST_F(FaultyGrowthTest, OfAccessRightsLeavesThemAsTheyWere) {
  VirtualMemoryResource resource(device);
  Buffer buffer = resource.allocate(64, stream);
  resource.modify_allocation(buffer, 3 * resource.granularity());
  const VirtualMemoryResourceOptions before = resource.options();
  failing.fail_next("cuMemSetAccess", CUDA_ERROR_UNKNOWN);
  EXPECT_THAT(error_of<DriverError>(
                  [&] { resource.modify_allocation(buffer, 64, {.self_access = VirtualMemoryAccessType::read}); }),
              AllOf(HasSubstr("setting the access rights of "), HasSubstr("cuMemSetAccess")));
  failing.stop();
  EXPECT_EQ(resource.options(), before);
  buffer.fill<int>(1, stream);
  EXPECT_EQ(download<int>(buffer, stream).back(), 1);
}

}  // namespace
}  // namespace cuprum::tests
