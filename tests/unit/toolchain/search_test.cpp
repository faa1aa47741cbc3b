#include "toolchain/search.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cuprum/error.hpp>
#include <fstream>

namespace cuprum::toolchain {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

/// A folder that is gone after the test.
class SearchTest : public ::testing::Test {
 protected:
  SearchTest() {
    std::string pattern = (fs::temp_directory_path() / "cuprum-search-XXXXXX").string();
    folder = mkdtemp(pattern.data());
    unsetenv("CUPRUM_TEST_LIBRARY");
  }
  ~SearchTest() override { fs::remove_all(folder); }

  void make_file(const fs::path& path) {
    fs::create_directories((folder / path).parent_path());
    std::ofstream(folder / path) << "contents";
  }

  std::string refusal(const LibrarySpec& library, const std::vector<ToolkitRoot>& roots) {
    try {
      open_library(library, roots);
    } catch (const NotSupported& error) {
      return error.what();
    }
    return "no exception";
  }

  const LibrarySpec absent = {
      "NVFOO", "foos", "CUPRUM_TEST_LIBRARY", {"libnvfoo.so.13", "libnvfoo.so.12"}, "Install nvidia-foo"};
  fs::path folder;
};

TEST_F(SearchTest, WhatIsNotFoundIsReportedWithTheSearchedPlacesAndTheCure) {
  EXPECT_THAT(refusal(absent, {{"/opt/cuda", "CUDA_HOME"}, {"/usr/local/cuda", "usual place"}}),
              AllOf(HasSubstr("NVFOO, which foos, was not found. Install nvidia-foo, or set CUPRUM_TEST_LIBRARY to"),
                    HasSubstr("Searched:\n  /opt/cuda (CUDA_HOME)\n  /usr/local/cuda (usual place)\n"),
                    HasSubstr("libnvfoo.so.13 on the loader's path\n  libnvfoo.so.12 on the loader's path")));
}

TEST_F(SearchTest, AVariableThatNamesNoLibraryIsReported) {
  setenv("CUPRUM_TEST_LIBRARY", "/nowhere/libnvfoo.so", 1);
  EXPECT_THAT(refusal(absent, {}),
              AllOf(HasSubstr("CUPRUM_TEST_LIBRARY is '/nowhere/libnvfoo.so'"), HasSubstr("Unset it")));
  unsetenv("CUPRUM_TEST_LIBRARY");
}

TEST_F(SearchTest, AFileThatIsNoLibraryIsReportedWithTheReason) {
  make_file("lib/libnvfoo.so.13");
  EXPECT_THAT(refusal(absent, {{folder, "CUDA_HOME"}}), HasSubstr("/lib/libnvfoo.so.13: "));
}

TEST_F(SearchTest, AToolkitIsBeforeTheLoadersPath) {
  fs::create_directories(folder / "lib64");
  const support::SharedLibrary math = support::SharedLibrary::open("libm.so.6");
  fs::create_symlink(math.path(), folder / "lib64/libm.so.6");
  const LibrarySpec spec = {"libm", "computes", "CUPRUM_TEST_LIBRARY", {"libm.so.6"}, ""};
  EXPECT_EQ(open_library(spec, {{folder, "CUDA_HOME"}}).path, folder / "lib64/libm.so.6");
  EXPECT_EQ(open_library(spec, {}).path, math.path());
}

TEST_F(SearchTest, HeadersAreThoseNextToTheLibrary) {
  make_file("lib/libnvrtc.so.13");
  make_file("include/cuda_fp16.h");
  EXPECT_THAT(header_folders(folder / "lib/libnvrtc.so.13", {}), ElementsAre(fs::canonical(folder) / "include"));
  make_file("include/cccl/cuda/std/array");
  EXPECT_THAT(header_folders(folder / "lib/libnvrtc.so.13", {}),
              ElementsAre(fs::canonical(folder) / "include", fs::canonical(folder) / "include/cccl"));
}

TEST_F(SearchTest, HeadersOfAPackageOfTheirOwnAreFound) {
  make_file("nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
  make_file("nvidia/cuda_runtime/include/cuda_fp16.h");
  EXPECT_THAT(header_folders(folder / "nvidia/cuda_nvrtc/lib/libnvrtc.so.12", {}),
              ElementsAre(fs::canonical(folder) / "nvidia/cuda_runtime/include"));
}

TEST_F(SearchTest, RootsAreThoseOfTheEnvironmentThatExist) {
  make_file("venv/lib/python3.11/site-packages/nvidia/cu13/lib/libnvrtc.so.13");
  setenv("VIRTUAL_ENV", (folder / "venv").c_str(), 1);
  setenv("CUDA_HOME", folder.c_str(), 1);
  setenv("CUDA_PATH", "/nowhere", 1);
  std::vector<fs::path> roots;
  for (const ToolkitRoot& root : toolkit_roots()) roots.push_back(root.folder);
  EXPECT_EQ(roots.front(), folder);
  EXPECT_THAT(roots, ::testing::Contains(folder / "venv/lib/python3.11/site-packages/nvidia/cu13"));
  EXPECT_THAT(roots, ::testing::Not(::testing::Contains(fs::path("/nowhere"))));
}

}  // namespace
}  // namespace cuprum::toolchain
