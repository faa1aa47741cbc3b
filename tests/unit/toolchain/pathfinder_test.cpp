#include <cuprum/pathfinder.hpp>

#include "unit/toolchain/fake_tree.hpp"

namespace cuprum::pathfinder {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using toolchain::error_of;
namespace fs = std::filesystem;

class PathfinderTest : public toolchain::FakeTree {};

TEST_F(PathfinderTest, LocatesTheFirstOfAll) {
  const std::vector<Located> all = locate_all(Kind::dynamic_lib, "nvrtc");
  ASSERT_THAT(all, Not(IsEmpty()));
  const Located first = locate(Kind::dynamic_lib, "nvrtc");
  EXPECT_EQ(first.path, all.front().path);
  EXPECT_EQ(first.name, "nvrtc");
  EXPECT_FALSE(first.how.empty());
}

TEST_F(PathfinderTest, RefusesUnknownNames) {
  EXPECT_THAT(error_of<InvalidArgument>([] { locate(Kind::static_lib, "nvrtc"); }),
              HasSubstr("knows no static library 'nvrtc'; it knows cudadevrt"));
  EXPECT_THAT(error_of<InvalidArgument>([] { locate_all(Kind::binary, ""); }), HasSubstr("knows no binary ''"));
  EXPECT_THAT(error_of<InvalidArgument>([] { load_dynamic_lib("cudnn9"); }), HasSubstr("cudnn"));
}

TEST_F(PathfinderTest, WhatIsMissingIsToldWithEverythingTried) {
  if (!locate_all(Kind::header_directory, "nvshmem").empty()) GTEST_SKIP() << "this machine has NVSHMEM";
  EXPECT_THAT(error_of<NotSupported>([] { locate(Kind::header_directory, "nvshmem"); }),
              AllOf(StartsWith("the header directory 'nvshmem' was not found"), HasSubstr("nvshmem.h (")));
}

TEST_F(PathfinderTest, LoadsALibraryOnceForAll) {
  const LoadedLib first = load_dynamic_lib("nvrtc");
  EXPECT_NE(first.handle, nullptr);
  EXPECT_EQ(load_dynamic_lib("nvrtc").handle, first.handle);
  EXPECT_EQ(load_dynamic_lib("nvrtc").found_via, first.found_via);
}

// Last: it changes what later searches of this process see.
TEST_F(PathfinderTest, SearchesPackagesThatTheProgramNames) {
  copy(FAKE_NOTHING, "packages/nvidia/nvshmem/lib/libnvshmem_host.so.3");
  EXPECT_THAT(error_of<InvalidArgument>([] { add_site_packages(""); }), HasSubstr("has no name"));
  add_site_packages((root / "packages").string());
  const LoadedLib library = load_dynamic_lib("nvshmem_host");
  EXPECT_THAT(library.path, EndsWith("packages/nvidia/nvshmem/lib/libnvshmem_host.so.3"));
  EXPECT_EQ(library.how, "packages named by the program");
  EXPECT_NE(library.handle, nullptr);
}

}  // namespace
}  // namespace cuprum::pathfinder
