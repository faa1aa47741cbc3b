#include <unordered_set>

#include "api/fixture.hpp"
#include "api/printed.hpp"

namespace cuprum::tests {
namespace {

using ::testing::HasSubstr;

TEST(Host, IsAnyNumaNodeByDefault) {
  EXPECT_EQ(Host().numa_id(), std::nullopt);
  EXPECT_FALSE(Host().is_numa_current());
}

TEST(Host, CanBeOneNumaNode) {
  EXPECT_EQ(Host(3).numa_id(), 3);
  EXPECT_FALSE(Host(3).is_numa_current());
}

TEST(Host, CanBeTheNumaNodeOfTheThread) {
  EXPECT_EQ(Host::numa_current().numa_id(), std::nullopt);
  EXPECT_TRUE(Host::numa_current().is_numa_current());
}

TEST(Host, RefusesANegativeNumaNode) {
  EXPECT_THAT(error_of<InvalidArgument>([] { Host host(-1); }), HasSubstr("NUMA node -1: the numbers"));
}

TEST(Host, IsEqualByValue) {
  EXPECT_EQ(Host(), Host());
  EXPECT_EQ(Host(1), Host(1));
  EXPECT_EQ(Host::numa_current(), Host::numa_current());
  EXPECT_NE(Host(), Host(0));
  EXPECT_NE(Host(0), Host(1));
  EXPECT_NE(Host(), Host::numa_current());
}

TEST(Host, CanBeHashed) {
  const std::unordered_set<Host> hosts = {Host(), Host(0), Host(1), Host::numa_current(), Host(), Host(1)};
  EXPECT_EQ(hosts.size(), 4u);
}

TEST(Host, IsPrinted) {
  EXPECT_EQ(printed(Host()), "the host");
  EXPECT_EQ(printed(Host(2)), "NUMA node 2");
  EXPECT_EQ(printed(Host::numa_current()), "the NUMA node of the calling thread");
}

class LocationTest : public ApiTest {};

TEST_F(LocationTest, ConvertsFromADevice) {
  const Location location = device;
  EXPECT_EQ(location.type(), LocationType::device);
  EXPECT_EQ(location.id(), 0);
  EXPECT_TRUE(location.is_device());
  EXPECT_FALSE(location.is_host());
  EXPECT_EQ(location.device(), device);
}

TEST_F(LocationTest, ConvertsFromEveryHost) {
  EXPECT_EQ(Location(Host()).type(), LocationType::host);
  EXPECT_EQ(Location(Host(2)).type(), LocationType::host_numa);
  EXPECT_EQ(Location(Host(2)).id(), 2);
  EXPECT_EQ(Location(Host::numa_current()).type(), LocationType::host_numa_current);
  for (const Host& host : {Host(), Host(2), Host::numa_current()}) EXPECT_EQ(Location(host).host(), host);
}

TEST_F(LocationTest, RefusesToBeWhatItIsNot) {
  EXPECT_THAT(error_of<InvalidArgument>([] { (void)Location(Host(1)).device(); }),
              HasSubstr("NUMA node 1 is not a device"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)Location(device).host(); }), HasSubstr("device 0 is not the host"));
}

TEST_F(LocationTest, IsEqualByValue) {
  EXPECT_EQ(Location(device), Location(device));
  EXPECT_NE(Location(device), Location(Host(0)));
  EXPECT_NE(Location(Host()), Location(Host(0)));
}

TEST_F(LocationTest, CanBeHashed) {
  const std::unordered_set<Location> locations = {device, Host(), Host(0), Host::numa_current(), device};
  EXPECT_EQ(locations.size(), 4u);
}

TEST_F(LocationTest, IsPrinted) {
  EXPECT_EQ(printed(Location(device)), "device 0");
  EXPECT_EQ(printed(Location(Host(1))), "NUMA node 1");
}

}  // namespace
}  // namespace cuprum::tests
