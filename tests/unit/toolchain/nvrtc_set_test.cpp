#include "toolchain/nvrtc_set.hpp"

#include "unit/toolchain/fake_tree.hpp"

namespace cuprum::toolchain {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class NvrtcSetTest : public FakeTree {
 protected:
  void nvrtc_13(const fs::path& lib) {
    copy(FAKE_NVRTC_13_0, lib / "libnvrtc.so.13");
    copy(FAKE_NOTHING, lib / "libnvrtc-builtins.so.13.0");
  }
  void nvrtc_12(const fs::path& lib) {
    copy(FAKE_NVRTC_12_4, lib / "libnvrtc.so.12");
    copy(FAKE_NOTHING, lib / "libnvrtc-builtins.so.12.4");
  }
  void headers(const fs::path& include, int version) {
    file(include / "cuda_fp16.h");
    file(include / "cuda.h", support::text("/* cuda.h */\n#define CUDA_VERSION ", version, "\n"));
  }

  std::vector<std::string> folders(const NvrtcSet& set) {
    std::vector<std::string> result;
    for (const fs::path& folder : set.header_folders) result.push_back(fs::relative(folder, root).string());
    return result;
  }
  std::string library(const NvrtcSet& set) { return fs::relative(set.nvrtc.located.path, root).string(); }
};

TEST_F(NvrtcSetTest, AToolkitIsOne) {
  variables["CUDA_HOME"] = root / "cuda";
  nvrtc_13("cuda/lib64");
  headers("cuda/include", 13000);
  file("cuda/include/cccl/cuda/std/version");
  const NvrtcSet set = open_nvrtc_set(around);
  EXPECT_EQ(set.version, 13000);
  EXPECT_EQ(library(set), "cuda/lib64/libnvrtc.so.13");
  EXPECT_EQ(set.builtins, root / "cuda/lib64/libnvrtc-builtins.so.13.0");
  EXPECT_THAT(folders(set), ElementsAre("cuda/include", "cuda/include/cccl"));
}

TEST_F(NvrtcSetTest, TheWheelsOfCuda13AreOne) {
  variables["VIRTUAL_ENV"] = root / "venv";
  const fs::path packages = "venv/lib/python3.11/site-packages/nvidia/cu13";
  nvrtc_13(packages / "lib");
  headers(packages / "include", 13000);
  EXPECT_THAT(folders(open_nvrtc_set(around)), ElementsAre((packages / "include").string()));
}

TEST_F(NvrtcSetTest, TheWheelsOfCuda12AreOne) {
  variables["VIRTUAL_ENV"] = root / "venv";
  const fs::path packages = "venv/lib/python3.11/site-packages/nvidia";
  nvrtc_12(packages / "cuda_nvrtc/lib");
  file(packages / "cuda_nvrtc/include/nvrtc.h");
  headers(packages / "cuda_runtime/include", 12040);
  file(packages / "cuda_cccl/include/cuda/std/version");
  file(packages / "curand/include/curand_kernel.h");
  const NvrtcSet set = open_nvrtc_set(around);
  EXPECT_EQ(set.version, 12040);
  EXPECT_THAT(folders(set),
              ElementsAre((packages / "cuda_runtime/include").string(), (packages / "cuda_cccl/include").string(),
                          (packages / "curand/include").string()));
}

TEST_F(NvrtcSetTest, AToolkitOfLinksIsOne) {
  nvrtc_13("cuda-13.0/targets/x86_64-linux/lib");
  headers("cuda-13.0/targets/x86_64-linux/include", 13000);
  fs::create_directory_symlink("targets/x86_64-linux/lib", root / "cuda-13.0/lib64");
  variables["CUDA_PATH"] = root / "cuda-13.0";
  EXPECT_THAT(folders(open_nvrtc_set(around)), ElementsAre("cuda-13.0/targets/x86_64-linux/include"));
}

TEST_F(NvrtcSetTest, ALinkToTheLibraryLeadsToItsOwnBuiltinsAndHeaders) {
  nvrtc_13("cuda/lib64");
  headers("cuda/include", 13000);
  fs::create_directories(root / "usr/lib");
  fs::create_symlink(root / "cuda/lib64/libnvrtc.so.13", root / "usr/lib/libnvrtc.so.13");
  linked["libnvrtc.so.13"] = root / "usr/lib/libnvrtc.so.13";
  const NvrtcSet set = open_nvrtc_set(around);
  EXPECT_EQ(set.builtins, root / "cuda/lib64/libnvrtc-builtins.so.13.0");
  EXPECT_THAT(folders(set), ElementsAre("cuda/include"));
}

TEST_F(NvrtcSetTest, ALibraryWithoutBuiltinsIsPassedOver) {
  variables["CUDA_PATH"] = root / "a";
  variables["CUDA_HOME"] = root / "b";
  copy(FAKE_NVRTC_13_0, "a/lib/libnvrtc.so.13");
  headers("a/include", 13000);
  nvrtc_12("b/lib");
  headers("b/include", 12040);
  EXPECT_EQ(library(open_nvrtc_set(around)), "b/lib/libnvrtc.so.12");
}

TEST_F(NvrtcSetTest, BuiltinsOfAnotherReleaseAreNotItsOwn) {
  variables["CUDA_HOME"] = root / "a";
  copy(FAKE_NVRTC_13_0, "a/lib/libnvrtc.so.13");
  copy(FAKE_NOTHING, "a/lib/libnvrtc-builtins.so.13.1");
  EXPECT_THAT(error_of<NotSupported>([&] { open_nvrtc_set(around); }),
              HasSubstr("a/lib/libnvrtc.so.13 (CUDA_HOME): has no libnvrtc-builtins.so.13.0 beside it"));
}

TEST_F(NvrtcSetTest, BuiltinsThatAreLoadedFromElsewhereMakeItUnusable) {
  variables["CUDA_HOME"] = root / "a";
  nvrtc_13("a/lib");
  headers("a/include", 13000);
  loaded["libnvrtc-builtins.so.13.0"] = copy(FAKE_NOTHING, "b/lib/libnvrtc-builtins.so.13.0");
  EXPECT_THAT(error_of<NotSupported>([&] { open_nvrtc_set(around); }),
              HasSubstr("this process has loaded the built-ins of another NVRTC, " + root.string() + "/b/lib"));
}

TEST_F(NvrtcSetTest, HeadersOfAnotherReleaseAreNeverMixedIn) {
  variables["CUDA_HOME"] = root / "cuda";
  nvrtc_13("cuda/lib");
  headers("cuda/include", 12040);
  const NvrtcSet set = open_nvrtc_set(around);
  EXPECT_THAT(set.header_folders, IsEmpty());
  EXPECT_THAT(set.remarks, Contains(HasSubstr("cuda/include: headers of CUDA 12.4, not used with NVRTC 13.0")));
}

TEST_F(NvrtcSetTest, HeadersOfAnotherPlaceAreNeverMixedIn) {
  variables["VIRTUAL_ENV"] = root / "venv";
  variables["CUDA_HOME"] = root / "cuda";
  nvrtc_13("venv/lib/python3.11/site-packages/nvidia/cu13/lib");
  headers("cuda/include", 13000);
  const NvrtcSet set = open_nvrtc_set(around);
  EXPECT_THAT(set.header_folders, IsEmpty());
  EXPECT_THAT(set.remarks, Contains(HasSubstr("nvidia/cu13/include: has no cuda_fp16.h")));
}

TEST_F(NvrtcSetTest, ACompleteSetGoesBeforeAnEarlierOneWithoutHeaders) {
  variables["VIRTUAL_ENV"] = root / "venv";
  variables["CUDA_HOME"] = root / "cuda";
  nvrtc_13("venv/lib/python3.11/site-packages/nvidia/cu13/lib");
  nvrtc_12("cuda/lib");
  headers("cuda/include", 12040);
  const NvrtcSet set = open_nvrtc_set(around);
  EXPECT_EQ(library(set), "cuda/lib/libnvrtc.so.12");
  EXPECT_THAT(folders(set), ElementsAre("cuda/include"));
}

TEST_F(NvrtcSetTest, ALibraryOfTheRightNameThatIsNotNvrtcIsPassedOver) {
  variables["CUDA_HOME"] = root / "cuda";
  copy(FAKE_NOTHING, "cuda/lib/libnvrtc.so.13");
  EXPECT_THAT(error_of<NotSupported>([&] { open_nvrtc_set(around); }),
              HasSubstr("libnvrtc.so.13 (CUDA_HOME): is not NVRTC"));
}

TEST_F(NvrtcSetTest, WhatTheVariableNamesIsTakenOrRefusedWithoutLookingFurther) {
  variables["CUDA_HOME"] = root / "cuda";
  nvrtc_13("cuda/lib");
  headers("cuda/include", 13000);
  variables["CUPRUM_NVRTC"] = copy(FAKE_NVRTC_12_4, "mine/libnvrtc.so.12");
  EXPECT_THAT(error_of<NotSupported>([&] { open_nvrtc_set(around); }),
              AllOf(HasSubstr("CUPRUM_NVRTC is '" + root.string() + "/mine/libnvrtc.so.12', which can't be used"),
                    HasSubstr("it has no libnvrtc-builtins.so.12.4 beside it")));
}

}  // namespace
}  // namespace cuprum::toolchain
