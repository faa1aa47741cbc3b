#include "device_image/architecture.hpp"

#include <gtest/gtest.h>

namespace cuprum::device_image {
namespace {

TEST(Architecture, NamesAreReadAndWritten) {
  for (const char* name : {"sm_75", "sm_90a", "sm_100f", "sm_120"}) {
    const auto read = parse_architecture(name);
    ASSERT_TRUE(read) << name;
    EXPECT_EQ(real_name(*read), name);
  }
  EXPECT_EQ(virtual_name(parse_architecture("lto_90a").value()), "compute_90a");
  EXPECT_EQ(parse_architecture("compute_90"), (Architecture{90, '\0'}));
}

TEST(Architecture, OtherNamesAreNone) {
  for (const char* name : {"", "sm_", "sm_x", "90", "sm_90b", "sm_90aa", "sm_90 ", "SM_90", "sm_99999999999"})
    EXPECT_FALSE(parse_architecture(name)) << name;
}

TEST(Architecture, MachineCodeRunsWithinItsFamily) {
  EXPECT_TRUE(runs_machine_code(90, {90}));
  EXPECT_TRUE(runs_machine_code(89, {80}));
  EXPECT_FALSE(runs_machine_code(80, {89})) << "older device";
  EXPECT_FALSE(runs_machine_code(90, {80})) << "other family";
  EXPECT_FALSE(runs_machine_code(120, {100})) << "other family";
  EXPECT_TRUE(runs_machine_code(103, {100, 'f'}));
  EXPECT_FALSE(runs_machine_code(103, {100, 'a'})) << "one architecture alone";
}

TEST(Architecture, PtxRunsOnWhatIsNewer) {
  EXPECT_TRUE(runs_ptx(90, {75}));
  EXPECT_TRUE(runs_ptx(90, {90, 'a'}));
  EXPECT_FALSE(runs_ptx(90, {100}));
  EXPECT_FALSE(runs_ptx(100, {90, 'a'}));
  EXPECT_TRUE(runs_ptx(103, {100, 'f'}));
  EXPECT_FALSE(runs_ptx(120, {100, 'f'}));
}

}  // namespace
}  // namespace cuprum::device_image
