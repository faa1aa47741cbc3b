// What the resources that draw on a CUDA memory pool have in common.
#include <cuprum/driver.hpp>
#include <memory>
#include <sstream>

#include "api/gate.hpp"
#include "api/memory_kinds.hpp"

namespace cuprum::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::uint64_t no_limit = ~std::uint64_t{0};

struct PoolKind {
  const char* name;
  bool is_own;
  std::unique_ptr<MemoryPool> (*make)(const Device&);
};

void PrintTo(const PoolKind& kind, std::ostream* out) { *out << kind.name; }

const PoolKind pool_kinds[] = {
    {"Device", false,
     [](const Device& d) -> std::unique_ptr<MemoryPool> { return std::make_unique<DeviceMemoryResource>(d); }},
    {"DevicePool", true,
     [](const Device& d) -> std::unique_ptr<MemoryPool> {
       return std::make_unique<DeviceMemoryResource>(d, DeviceMemoryResourceOptions{});
     }},
    {"Pinned", false,
     [](const Device&) -> std::unique_ptr<MemoryPool> { return std::make_unique<PinnedMemoryResource>(); }},
    {"PinnedPool", true,
     [](const Device&) -> std::unique_ptr<MemoryPool> {
       return std::make_unique<PinnedMemoryResource>(PinnedMemoryResourceOptions{});
     }},
    {"Managed", false,
     [](const Device&) -> std::unique_ptr<MemoryPool> { return std::make_unique<ManagedMemoryResource>(); }},
    {"ManagedPool", true,
     [](const Device&) -> std::unique_ptr<MemoryPool> {
       return std::make_unique<ManagedMemoryResource>(ManagedMemoryResourceOptions{});
     }},
};

class MemoryPoolTest : public ApiTest, public ::testing::WithParamInterface<PoolKind> {
 protected:
  void SetUp() override {
    try {
      pool = GetParam().make(device);
    } catch (const NotSupported& error) {
      GTEST_SKIP() << error.what();
    }
  }

  Stream stream = device.create_stream();
  std::unique_ptr<MemoryPool> pool;
};

TEST_P(MemoryPoolTest, HasAHandle) {
  EXPECT_NE(pool->handle(), nullptr);
  EXPECT_EQ(pool->is_handle_owned(), GetParam().is_own);
  EXPECT_EQ(live_objects().memory_pools, GetParam().is_own ? 1u : 0u);
}

TEST_P(MemoryPoolTest, IsNotSharedUnlessAsked) {
  EXPECT_FALSE(pool->is_ipc_enabled());
  EXPECT_FALSE(pool->is_mapped());
  EXPECT_EQ(pool->uuid(), std::nullopt);
}

TEST_P(MemoryPoolTest, IsEqualToItsCopies) {
  const MemoryResource copy = *pool;
  EXPECT_EQ(copy, *pool);
  const auto other = GetParam().make(device);
  EXPECT_EQ(other->handle() == pool->handle(), !GetParam().is_own);
}

TEST_P(MemoryPoolTest, CountsWhatIsInUse) {
  const MemoryPoolAttributes attributes = pool->attributes();
  const std::uint64_t before = attributes.used_mem_current();
  Buffer buffer = pool->allocate(1 << 20, stream);
  EXPECT_EQ(attributes.used_mem_current(), before + (1 << 20));
  EXPECT_GE(attributes.used_mem_high(), before + (1 << 20));
  EXPECT_GE(attributes.reserved_mem_current(), attributes.used_mem_current());
  EXPECT_GE(attributes.reserved_mem_high(), attributes.reserved_mem_current());
  buffer.close();
  stream.sync();
  EXPECT_EQ(attributes.used_mem_current(), before);
}

TEST_P(MemoryPoolTest, ResetsItsMarks) {
  const MemoryPoolAttributes attributes = pool->attributes();
  pool->allocate(4 << 20, stream).close();
  stream.sync();
  EXPECT_GE(attributes.used_mem_high(), std::uint64_t{4} << 20);
  attributes.reset_used_mem_high();
  EXPECT_EQ(attributes.used_mem_high(), attributes.used_mem_current());
  attributes.reset_reserved_mem_high();
  EXPECT_EQ(attributes.reserved_mem_high(), attributes.reserved_mem_current());
}

TEST_P(MemoryPoolTest, KeepsItsMemoryUnlessToldOtherwise) {
  const MemoryPoolAttributes attributes = pool->attributes();
  EXPECT_EQ(attributes.release_threshold(), no_limit);
  attributes.set_release_threshold(1 << 20);
  EXPECT_EQ(attributes.release_threshold(), std::uint64_t{1} << 20);
  attributes.set_release_threshold(no_limit);
}

TEST_P(MemoryPoolTest, TrimGivesMemoryBack) {
  pool->allocate(8 << 20, stream).close();
  stream.sync();
  EXPECT_GT(pool->attributes().reserved_mem_current(), 0u);
  pool->trim();
  EXPECT_EQ(pool->attributes().reserved_mem_current(), pool->attributes().used_mem_current());
}

TEST_P(MemoryPoolTest, TrimKeepsWhatIsInUse) {
  Buffer buffer = pool->allocate(1 << 20, stream);
  buffer.fill<int>(3, stream);
  stream.sync();
  pool->trim();
  EXPECT_GE(pool->attributes().reserved_mem_current(), std::uint64_t{1} << 20);
  EXPECT_EQ(download<int>(buffer, stream).back(), 3);
}

TEST_P(MemoryPoolTest, SetsItsReusePolicies) {
  const MemoryPoolAttributes attributes = pool->attributes();
  EXPECT_TRUE(attributes.reuse_follow_event_dependencies());
  EXPECT_TRUE(attributes.reuse_allow_opportunistic());
  EXPECT_TRUE(attributes.reuse_allow_internal_dependencies());
  attributes.set_reuse_follow_event_dependencies(false);
  attributes.set_reuse_allow_opportunistic(false);
  attributes.set_reuse_allow_internal_dependencies(false);
  EXPECT_FALSE(attributes.reuse_follow_event_dependencies());
  EXPECT_FALSE(attributes.reuse_allow_opportunistic());
  EXPECT_FALSE(attributes.reuse_allow_internal_dependencies());
  attributes.set_reuse_follow_event_dependencies(true);
  attributes.set_reuse_allow_opportunistic(true);
  attributes.set_reuse_allow_internal_dependencies(true);
}

TEST_P(MemoryPoolTest, AttributesKeepThePoolAlive) {
  const MemoryPoolAttributes attributes = pool->attributes();
  pool.reset();
  EXPECT_EQ(attributes.release_threshold(), no_limit);
}

TEST_P(MemoryPoolTest, PrintsItsAttributes) {
  std::ostringstream out;
  out << pool->attributes();
  EXPECT_THAT(out.str(), AllOf(HasSubstr("reuse_allow_opportunistic=1, "),
                               HasSubstr("release_threshold=18446744073709551615"), HasSubstr("used_mem_high=")));
}

TEST_P(MemoryPoolTest, CloseDestroysAPoolOfItsOwn) {
  const MemoryPool copy = *pool;
  pool->close();
  pool->close();
  EXPECT_EQ(live_objects().memory_pools, 0u);
  if (!GetParam().is_own) {
    EXPECT_EQ(copy.allocate(64, stream).size(), 64u) << "a pool of the driver's stays";
    return;
  }
  EXPECT_THAT(error_of<InvalidArgument>([&] { copy.allocate(64, stream); }),
              AllOf(HasSubstr("this pool of "), HasSubstr("is closed")));
  EXPECT_EQ(copy.handle(), nullptr);
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)copy.attributes().used_mem_current(); }), HasSubstr("is closed"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { copy.trim(); }), HasSubstr("is closed"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { copy.allocate(0, stream); }), HasSubstr("is closed"));
  if (const auto on_device = copy.as<DeviceMemoryResource>()) {
    EXPECT_THAT(error_of<InvalidArgument>([&] { (void)on_device->peer_accessible_by().size(); }),
                HasSubstr("is closed"));
    EXPECT_THAT(error_of<InvalidArgument>([&] { on_device->set_peer_accessible_by({}); }), HasSubstr("is closed"));
  }
}

TEST_P(MemoryPoolTest, AttributesOutliveAClosedPool) {
  {
    const MemoryPoolAttributes attributes = pool->attributes();
    pool->close();
    attributes.set_release_threshold(1 << 20);
    EXPECT_EQ(attributes.release_threshold(), 1u << 20);
  }
  EXPECT_EQ(live_objects().memory_pools, 0u);
}

TEST_P(MemoryPoolTest, BuffersOutliveAClosedPool) {
  Buffer buffer = pool->allocate(64, stream);
  pool->close();
  buffer.fill<int>(8, stream);
  EXPECT_EQ(download<int>(buffer, stream), std::vector<int>(16, 8));
}

TEST_P(MemoryPoolTest, RefusesToFreeWhatIsNoAllocation) {
  EXPECT_THAT(
      error_of<DriverError>([&] { pool->deallocate(0x1234, 64, stream); }),
      AllOf(HasSubstr("freeing 64 bytes of "), HasSubstr(" at 0x1234 on stream "), HasSubstr("cuMemFreeAsync")));
}

INSTANTIATE_TEST_SUITE_P(All, MemoryPoolTest, ::testing::ValuesIn(pool_kinds),
                         [](const auto& instance) { return std::string(instance.param.name); });

class DevicePoolTest : public ApiTest {
 protected:
  Stream stream = device.create_stream();
};

TEST_F(DevicePoolTest, ResourcesForOnePoolAreEqual) {
  EXPECT_EQ(DeviceMemoryResource(device), DeviceMemoryResource(device));
  EXPECT_EQ(DeviceMemoryResource(device), device.memory_resource());
  EXPECT_NE(DeviceMemoryResource(device), DeviceMemoryResource(device, {}));
  EXPECT_EQ(PinnedMemoryResource(), PinnedMemoryResource());
}

TEST_F(DevicePoolTest, DrawsOnTheCurrentPoolOfTheDevice) {
  CUmemoryPool original = nullptr;
  driver::call<&driver::Api::cuDeviceGetMemPool>(&original, 0);
  DeviceMemoryResource own(device, {});
  driver::call<&driver::Api::cuDeviceSetMemPool>(0, own.handle());
  EXPECT_EQ(DeviceMemoryResource(device).handle(), own.handle());
  EXPECT_FALSE(DeviceMemoryResource(device).is_handle_owned());
  driver::call<&driver::Api::cuDeviceSetMemPool>(0, original);
  EXPECT_EQ(DeviceMemoryResource(device).handle(), original);
}

TEST_F(DevicePoolTest, KeepsToItsMaximumSize) {
  DeviceMemoryResource pool(device, {.max_size = 64 << 20});
  Buffer most = pool.allocate(40 << 20, stream);
  EXPECT_THROW(pool.allocate(40 << 20, stream), OutOfMemory);
}

TEST_F(DevicePoolTest, ThatCanBeSharedHasAName) {
  DeviceMemoryResource first(device, {.ipc_enabled = true});
  DeviceMemoryResource second(device, {.ipc_enabled = true});
  EXPECT_TRUE(first.is_ipc_enabled());
  EXPECT_FALSE(first.is_mapped());
  ASSERT_TRUE(first.uuid().has_value());
  EXPECT_NE(first.uuid(), second.uuid());
  EXPECT_EQ(DeviceMemoryResource(first).uuid(), first.uuid());
}

TEST_F(DevicePoolTest, PinnedPoolsKnowTheirNumaNode) {
  EXPECT_EQ(PinnedMemoryResource().numa_id(), std::nullopt);
  EXPECT_EQ(PinnedMemoryResource({.max_size = 1 << 25}).numa_id(), std::nullopt);
  EXPECT_EQ(PinnedMemoryResource({.numa_id = 0}).numa_id(), 0);
}

TEST_F(DevicePoolTest, PinnedPoolsRefuseANegativeNumaNode) {
  EXPECT_THAT(error_of<InvalidArgument>([] { PinnedMemoryResource pool({.numa_id = -1}); }), HasSubstr("NUMA node -1"));
}

TEST_F(DevicePoolTest, PinnedPoolsThatAreSharedAreOnTheDevicesNumaNode) {
  const int node = device.properties().host_numa_id();
  if (node < 0) {
    EXPECT_THAT(error_of<NotSupported>([] { PinnedMemoryResource pool({.ipc_enabled = true}); }),
                HasSubstr("give one by numa_id"));
    return;
  }
  PinnedMemoryResource pool({.ipc_enabled = true});
  EXPECT_EQ(pool.numa_id(), node);
  EXPECT_TRUE(pool.is_ipc_enabled());
}

TEST_F(DevicePoolTest, ReusesWhatItsStreamFreed) {
  DeviceMemoryResource pool(device, {});
  Buffer first = pool.allocate(1 << 20, stream);
  const DevicePointer where = first.handle();
  first.close();
  EXPECT_EQ(pool.allocate(1 << 20, stream).handle(), where) << "in the same stream, without waiting";
}

TEST_F(DevicePoolTest, DoesNotHandOutMemoryThatAnotherStreamStillUses) {
  DeviceMemoryResource pool(device, {});
  Stream other = device.create_stream();
  Buffer result = device.allocate(4096, stream);
  Buffer first = pool.allocate(4096, stream);
  first.fill<int>(1, stream);
  Gate gate(stream);
  result.copy_from(first, stream);
  first.close();
  Buffer second = pool.allocate(4096, other);
  second.fill<int>(2, other);
  gate.open();
  other.sync();
  EXPECT_EQ(download<int>(result, stream), std::vector<int>(1024, 1));
}

class OutOfMemoryTest : public ApiTest {
 protected:
  Stream stream = device.create_stream();
  DeviceMemoryResource pool{device, {.max_size = 64 << 20}};
};

TEST_F(OutOfMemoryTest, TheTextSaysWhatStateThePoolIsIn) {
  Buffer most = pool.allocate(40 << 20, stream);
  EXPECT_THAT(error_of<OutOfMemory>([&] { pool.allocate(48 << 20, stream); }),
              AllOf(HasSubstr("allocating 50331648 bytes of memory of device 0 on stream "),
                    HasSubstr("the pool has 41943040 bytes in use, at most 41943040 so far, and "),
                    HasSubstr(" reserved, at most "), HasSubstr("its limit is 67108864; "),
                    HasSubstr(" bytes are free)"), HasSubstr("cuMemAllocFromPoolAsync")));
}

TEST_F(OutOfMemoryTest, OfAPoolWithoutLimitSaysThat) {
  EXPECT_THAT(error_of<OutOfMemory>([&] { device.allocate(std::size_t{1} << 50, stream); }),
              HasSubstr("it has no limit of its own"));
}

TEST_F(OutOfMemoryTest, AfterFreeingTheProgramGoesOn) {
  std::vector<Buffer> buffers;
  for (int round = 0; round < 3; ++round) {
    const std::string message = error_of<OutOfMemory>([&] {
      for (;;) buffers.push_back(pool.allocate(8 << 20, stream));
    });
    EXPECT_GE(buffers.size(), 4u);
    buffers.clear();
    stream.sync();
  }
  Buffer half = pool.allocate(32 << 20, stream);
  half.fill<int>(1, stream);
  EXPECT_EQ(download<int>(half, stream).back(), 1);
}

TEST_F(OutOfMemoryTest, LeavesTheStreamUsable) {
  EXPECT_THROW(pool.allocate(1 << 30, stream), OutOfMemory);
  Buffer buffer = pool.allocate(64, stream);
  buffer.fill<int>(2, stream);
  EXPECT_EQ(download<int>(buffer, stream), std::vector<int>(16, 2));
  EXPECT_EQ(live_objects().buffers, 1u);
}

TEST_F(OutOfMemoryTest, HasACodeThatProgramsCanRead) {
  try {
    pool.allocate(1 << 30, stream);
    FAIL() << "no exception";
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(error.code(), CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_EQ(error.call(), "cuMemAllocFromPoolAsync");
  }
}

}  // namespace
}  // namespace cuprum::tests
