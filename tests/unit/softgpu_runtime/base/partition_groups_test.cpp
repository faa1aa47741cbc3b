// Groups of different sizes: the examples of CUDA's documentation, and what is refused.
#include "softgpu/runtime/base/partition_groups.hpp"

#include <gmock/gmock.h>

namespace softgpu::runtime {
namespace {

using testing::ElementsAre;
using testing::Optional;

constexpr PartitionRules kHopper{8, 8};

auto sizes(unsigned available, std::vector<GroupRequest> requests, PartitionRules rules = kHopper) {
  return group_sizes(available, rules, rules.alignment == 8 ? 32 : 2, requests);
}

TEST(PartitionGroups, AreDiscoveredInWholeUnits) {
  EXPECT_THAT(sizes(132, {{}}), Optional(ElementsAre(128)));
  EXPECT_THAT(sizes(132, {{.coscheduled = 2}}), Optional(ElementsAre(132)));
  EXPECT_THAT(sizes(132, {{.backfill = true}}), Optional(ElementsAre(132)));
  EXPECT_THAT(sizes(6, {{}}), Optional(ElementsAre(0)));
}

TEST(PartitionGroups, AreAsLargeAsAskedFor) {
  EXPECT_THAT(sizes(132, {{.count = 10, .coscheduled = 2}}), Optional(ElementsAre(10)));
  EXPECT_THAT(sizes(132, {{.count = 8, .coscheduled = 4}, {.coscheduled = 2, .backfill = true}}),
              Optional(ElementsAre(8, 124)));
  EXPECT_THAT(sizes(132, {{.count = 16}, {.count = 64}, {}}), Optional(ElementsAre(16, 64, 48)));
}

TEST(PartitionGroups, FillTheirLastUnitOnlyIfTheyMay) {
  EXPECT_EQ(sizes(132, {{.count = 12}}), std::nullopt);
  EXPECT_THAT(sizes(132, {{.count = 12, .backfill = true}}), Optional(ElementsAre(12)));
}

TEST(PartitionGroups, ThatCanNotBeAreNone) {
  EXPECT_EQ(sizes(132, {{.count = 136}}), std::nullopt);
  EXPECT_EQ(sizes(132, {{.count = 72}, {.count = 72}}), std::nullopt);
  EXPECT_EQ(sizes(132, {{.count = 7, .coscheduled = 2}}), std::nullopt);
  EXPECT_EQ(sizes(132, {{.coscheduled = 3}}), std::nullopt);
  EXPECT_EQ(sizes(132, {{.coscheduled = 64}}), std::nullopt);
  EXPECT_EQ(sizes(80, {{.coscheduled = 4}}, {2, 2}), std::nullopt);
}

}  // namespace
}  // namespace softgpu::runtime
