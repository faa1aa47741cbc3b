// Peer access to a pool. With fewer than three devices these are skipped; softgpu runs them with three.
#include <cuprum/driver.hpp>
#include <sstream>

#include "api/failing_api.hpp"
#include "api/fixture.hpp"
#include "api/foreign_managed.hpp"

namespace cuprum::tests {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class PeerAccessMultiDeviceTest : public ApiTest {
 protected:
  void SetUp() override {
    if (Device::count() < 3) GTEST_SKIP() << "needs three devices";
    for (int id : {1, 2}) {
      if (!device.can_access_peer(Device(id))) GTEST_SKIP() << "device 0 can't access device " << id;
    }
    one.emplace(1);
    two.emplace(2);
    pool.emplace(device, DeviceMemoryResourceOptions{});
  }

  std::vector<int> peers() const {
    std::vector<int> numbers;
    for (const Device& peer : pool->peer_accessible_by()) numbers.push_back(peer.device_id());
    return numbers;
  }

  std::optional<Device> one;
  std::optional<Device> two;
  std::optional<DeviceMemoryResource> pool;
};

TEST_F(PeerAccessMultiDeviceTest, IsEmptyAtFirst) {
  EXPECT_TRUE(pool->peer_accessible_by().empty());
  EXPECT_EQ(pool->peer_accessible_by().size(), 0u);
  EXPECT_THAT(peers(), IsEmpty());
  EXPECT_FALSE(pool->peer_accessible_by().contains(*one));
}

TEST_F(PeerAccessMultiDeviceTest, AddAndDiscard) {
  pool->peer_accessible_by().add(*one);
  EXPECT_TRUE(pool->peer_accessible_by().contains(*one));
  EXPECT_FALSE(pool->peer_accessible_by().contains(*two));
  EXPECT_THAT(peers(), ElementsAre(1));
  pool->peer_accessible_by().discard(*one);
  pool->peer_accessible_by().discard(*one);
  EXPECT_THAT(peers(), IsEmpty());
}

TEST_F(PeerAccessMultiDeviceTest, IteratesByNumber) {
  pool->peer_accessible_by().add(*two);
  pool->peer_accessible_by().add(*one);
  EXPECT_THAT(peers(), ElementsAre(1, 2));
}

TEST_F(PeerAccessMultiDeviceTest, CanBeAssigned) {
  pool->set_peer_accessible_by({*one, *two});
  EXPECT_THAT(peers(), ElementsAre(1, 2));
  pool->set_peer_accessible_by({*two});
  EXPECT_THAT(peers(), ElementsAre(2));
  pool->set_peer_accessible_by({});
  EXPECT_THAT(peers(), IsEmpty());
}

TEST_F(PeerAccessMultiDeviceTest, GoesThroughEveryTransition) {
  const std::vector<std::vector<Device>> states = {{}, {*one}, {*two}, {*one, *two}};
  for (const auto& from : states) {
    for (const auto& to : states) {
      pool->set_peer_accessible_by(from);
      pool->set_peer_accessible_by(to);
      std::vector<int> expected;
      for (const Device& peer : to) expected.push_back(peer.device_id());
      EXPECT_EQ(peers(), expected);
    }
  }
}

TEST_F(PeerAccessMultiDeviceTest, HasTheOperationsOfASet) {
  const PeerAccessibleBySet set = pool->peer_accessible_by();
  set.update({*one, *two});
  EXPECT_THAT(peers(), ElementsAre(1, 2));
  set.difference_update({*one});
  EXPECT_THAT(peers(), ElementsAre(2));
  set.symmetric_difference_update({*one, *two});
  EXPECT_THAT(peers(), ElementsAre(1));
  set.update({*two});
  set.intersection_update({*two});
  EXPECT_THAT(peers(), ElementsAre(2));
  set.clear();
  EXPECT_THAT(peers(), IsEmpty());
}

TEST_F(PeerAccessMultiDeviceTest, IgnoresThePoolsOwnDevice) {
  pool->peer_accessible_by().add(device);
  pool->peer_accessible_by().discard(device);
  pool->set_peer_accessible_by({device, *one, *one});
  EXPECT_THAT(peers(), ElementsAre(1));
  EXPECT_FALSE(pool->peer_accessible_by().contains(device));
}

TEST_F(PeerAccessMultiDeviceTest, AllViewsOfAPoolAgree) {
  const PeerAccessibleBySet first = pool->peer_accessible_by();
  const DeviceMemoryResource copy = *pool;
  copy.peer_accessible_by().add(*two);
  EXPECT_TRUE(first.contains(*two));
  EXPECT_EQ(first.size(), 1u);
}

TEST_F(PeerAccessMultiDeviceTest, PoolsAreIndependent) {
  const DeviceMemoryResource other(device, {});
  pool->peer_accessible_by().add(*one);
  EXPECT_TRUE(other.peer_accessible_by().empty());
}

TEST_F(PeerAccessMultiDeviceTest, AnIterationIsNotDisturbedByChanges) {
  pool->set_peer_accessible_by({*one, *two});
  int seen = 0;
  for (const Device& peer : pool->peer_accessible_by()) {
    pool->peer_accessible_by().discard(peer);
    ++seen;
  }
  EXPECT_EQ(seen, 2);
  EXPECT_TRUE(pool->peer_accessible_by().empty());
}

TEST_F(PeerAccessMultiDeviceTest, IsPrinted) {
  pool->set_peer_accessible_by({*one, *two});
  std::ostringstream out;
  out << pool->peer_accessible_by();
  EXPECT_EQ(out.str(), "{1, 2}");
}

TEST_F(PeerAccessMultiDeviceTest, ASetKeepsThePoolAlive) {
  const PeerAccessibleBySet set = pool->peer_accessible_by();
  pool.reset();
  set.add(*one);
  EXPECT_TRUE(set.contains(*one));
}

TEST_F(PeerAccessMultiDeviceTest, ChangesAreOneCallOfTheDriverOrNone) {
  FailingApi failing;
  failing.fail_next("cuMemPoolSetAccess", CUDA_ERROR_UNKNOWN);
  pool->set_peer_accessible_by({});
  pool->peer_accessible_by().update({});
  pool->peer_accessible_by().clear();
  pool->peer_accessible_by().add(device);
  EXPECT_EQ(failing.failed(), "") << "nothing changed, nothing was called";
  EXPECT_THAT(error_of<DriverError>([&] { pool->set_peer_accessible_by({*one, *two}); }),
              AllOf(HasSubstr("changing which devices can access a pool of memory of device 0"),
                    HasSubstr("cuMemPoolSetAccess")));
  EXPECT_THAT(peers(), IsEmpty()) << "both or none";
}

TEST_F(PeerAccessMultiDeviceTest, LetsThePeerCopy) {
  Stream stream = device.create_stream();
  Stream on_peer = one->create_stream();
  Buffer data = pool->allocate(400, stream);
  data.fill<int>(5, stream);
  stream.sync();
  pool->peer_accessible_by().add(*one);
  Buffer copy = one->allocate(400, on_peer);
  copy.copy_from(data, on_peer);
  EXPECT_EQ(download<int>(copy, on_peer), std::vector<int>(100, 5));
}

TEST_F(PeerAccessMultiDeviceTest, LetsThePeersKernelsIn) {
  Stream stream = device.create_stream();
  Buffer data = pool->allocate(400, stream);
  data.fill<float>(2.0f, stream);
  stream.sync();
  pool->peer_accessible_by().add(*one);
  one->set_current();
  Stream on_peer = one->create_stream();
  Kernel scale = compile(scale_source, "scale");
  launch(on_peer, {.grid = 1, .block = 128}, scale, data, 3.0f, std::size_t{100});
  on_peer.sync();
  device.set_current();
  EXPECT_EQ(download<float>(data, stream), std::vector<float>(100, 6.0f));
}

TEST_F(PeerAccessMultiDeviceTest, AVirtualBufferIsOpenToThePeersOfItsOptions) {
  Stream stream = device.create_stream();
  VirtualMemoryResource resource(device, {.peers = {1, 2}});
  Buffer data = resource.allocate(400, stream);
  data.fill<float>(2.0f, stream);
  stream.sync();
  for (int id : {0, 1, 2}) {
    CUmemLocation location{CU_MEM_LOCATION_TYPE_DEVICE, id};
    unsigned long long flags = 0;
    driver::call<&driver::Api::cuMemGetAccess>(&flags, &location, data.handle());
    EXPECT_EQ(flags, static_cast<unsigned long long>(CU_MEM_ACCESS_FLAGS_PROT_READWRITE)) << id;
  }
}

TEST_F(PeerAccessMultiDeviceTest, ModifyingAVirtualBufferTakesAccessAwayToo) {
  Stream stream = device.create_stream();
  VirtualMemoryResource resource(device, {.peers = {1}});
  Buffer data = resource.allocate(400, stream);
  resource.modify_allocation(data, data.size(), {.peers = {2}});
  auto access_of = [&](int id) {
    CUmemLocation location{CU_MEM_LOCATION_TYPE_DEVICE, id};
    unsigned long long flags = 0;
    driver::call<&driver::Api::cuMemGetAccess>(&flags, &location, data.handle());
    return flags;
  };
  EXPECT_EQ(access_of(1), static_cast<unsigned long long>(CU_MEM_ACCESS_FLAGS_PROT_NONE));
  EXPECT_EQ(access_of(2), static_cast<unsigned long long>(CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
}

TEST_F(PeerAccessMultiDeviceTest, EachDeviceHasMemoryOfItsOwn) {
  for (const Device& each : Device::all()) {
    Stream stream = each.create_stream();
    Buffer buffer = each.allocate(64, stream);
    EXPECT_EQ(buffer.device_id(), each.device_id());
    EXPECT_EQ(Buffer::from_handle(buffer.handle(), 64).device_id(), each.device_id());
    EXPECT_NE(each.memory_resource(), Device((each.device_id() + 1) % 3).memory_resource());
  }
}

TEST_F(PeerAccessMultiDeviceTest, ManagedMemoryIsAccessedByEveryDevice) {
  auto memory = std::make_shared<ForeignManaged>(400);  // memory of a pool takes no advice
  ManagedBuffer buffer = ManagedBuffer::from_handle(memory->pointer, 400, memory);
  buffer.set_accessed_by({device, *one, *two});
  EXPECT_EQ(buffer.accessed_by().size(), 3u);
  buffer.accessed_by().discard(*one);
  EXPECT_FALSE(buffer.accessed_by().contains(*one));
  EXPECT_TRUE(buffer.accessed_by().contains(*two));
}

}  // namespace
}  // namespace cuprum::tests
