#include "toolchain/catalog.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cuprum/error.hpp>
#include <set>

#include "unit/toolchain/fake_tree.hpp"

namespace cuprum::toolchain {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

TEST(CatalogTest, HasEachNameOnce) {
  std::set<std::pair<Kind, std::string>> names;
  for (const Item& row : catalog()) {
    EXPECT_TRUE(names.emplace(row.kind, row.name).second) << row.name;
    EXPECT_FALSE(row.files.empty()) << row.name;
  }
}

TEST(CatalogTest, HasWhatTheLibraryNeedsItself) {
  EXPECT_THAT(pathfinder::supported(Kind::dynamic_lib),
              IsSupersetOf({"nvrtc", "nvJitLink", "nvvm", "nvml", "cudart", "cublas", "cuda"}));
  EXPECT_THAT(pathfinder::supported(Kind::header_directory), IsSupersetOf({"cudart", "cccl", "curand"}));
  EXPECT_THAT(pathfinder::supported(Kind::bitcode_lib), IsSupersetOf({"device"}));
  EXPECT_THAT(pathfinder::supported(Kind::static_lib), IsSupersetOf({"cudadevrt"}));
  EXPECT_THAT(pathfinder::supported(Kind::binary), IsSupersetOf({"nvcc", "nvdisasm"}));
}

TEST(CatalogTest, AsksForTheNewestVersionFirst) {
  EXPECT_THAT(item(Kind::dynamic_lib, "nvrtc").files, ElementsAre("libnvrtc.so.13", "libnvrtc.so.12"));
}

TEST(CatalogTest, KnowsEveryLibraryThatAnotherNeeds) {
  for (const Item& row : catalog()) {
    for (const std::string& name : row.needs) EXPECT_EQ(item(Kind::dynamic_lib, name).name, name) << row.name;
  }
}

TEST(CatalogTest, RefusesAnUnknownNameWithThoseThereAre) {
  EXPECT_THAT(error_of<InvalidArgument>([] { item(Kind::binary, "nvc"); }),
              AllOf(HasSubstr("knows no binary 'nvc'"), HasSubstr("nvcc, ptxas")));
}

}  // namespace
}  // namespace cuprum::toolchain
