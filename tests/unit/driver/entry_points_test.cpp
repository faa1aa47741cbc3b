#include "driver_abi/entry_points.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cuprum/driver.hpp>
#include <set>
#include <sstream>
#include <string>

namespace cuprum {
namespace {

TEST(EntryPoints, AreListedOnce) {
  std::set<std::string> names;
  for (const driver_abi::EntryPoint& entry : driver_abi::entry_points()) {
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
  }
}

TEST(EntryPoints, HaveTheNamesThatTheDriverIsAskedFor) {
  // Many of the names are macros of <cuda.h>; expanded, they would not be found.
  for (const driver_abi::EntryPoint& entry : driver_abi::entry_points()) {
    EXPECT_THAT(entry.name, ::testing::MatchesRegex("cu[A-Z][A-Za-z0-9]*"));
    EXPECT_GE(entry.version, 2000);
    EXPECT_LE(entry.version, 13020);
  }
}

TEST(EntryPoints, AreInTheOrderOfTheTable) {
  EXPECT_EQ(driver_abi::entry_points().size(), driver::detail::entry_point_count);
  EXPECT_STREQ(driver::entry_point_info(decltype(driver::Api::cuMemAlloc)::index).name, "cuMemAlloc");
  EXPECT_EQ(driver::entry_point_info(decltype(driver::Api::cuMemAlloc)::index).version, 3020);
}

TEST(CudaVersion, IsPrintedAsPeopleWriteIt) {
  std::ostringstream out;
  out << driver_abi::CudaVersion{12040} << ' ' << driver_abi::CudaVersion{13000};
  EXPECT_EQ(out.str(), "12.4 13.0");
}

}  // namespace
}  // namespace cuprum
