#include "softgpu/memory/rights.hpp"

#include <gtest/gtest.h>

namespace softgpu::memory {
namespace {

TEST(Rights, AreNoneUntilTheyAreSet) {
  Rights rights;
  EXPECT_EQ(rights.of(0), Access::none);
  EXPECT_EQ(rights.of(Rights::kMostDevices - 1), Access::none);
  EXPECT_EQ(rights.of(Rights::kHost), Access::none);
  EXPECT_EQ(rights.strongest(), Access::none);
}

TEST(Rights, AreEachHoldersOwn) {
  Rights rights;
  rights.set(0, Access::read);
  rights.set(63, Access::read_write);
  rights.set(Rights::kHost, Access::read);
  EXPECT_EQ(rights.of(0), Access::read);
  EXPECT_EQ(rights.of(1), Access::none);
  EXPECT_EQ(rights.of(63), Access::read_write);
  EXPECT_EQ(rights.strongest(), Access::read_write);
  rights.set(63, Access::none);
  EXPECT_EQ(rights.of(63), Access::none);
  EXPECT_EQ(rights.strongest(), Access::read);
}

TEST(Rights, CanBeRestrictedToWhatOthersAllow) {
  Rights rights, other;
  rights.set(0, Access::read_write);
  rights.set(1, Access::read);
  rights.set(Rights::kHost, Access::read_write);
  other.set(0, Access::read);
  other.set(2, Access::read_write);
  rights.restrict_to(other);
  EXPECT_EQ(rights.of(0), Access::read);
  EXPECT_EQ(rights.of(1), Access::none);
  EXPECT_EQ(rights.of(2), Access::none);
  EXPECT_EQ(rights.of(Rights::kHost), Access::none);
}

}  // namespace
}  // namespace softgpu::memory
