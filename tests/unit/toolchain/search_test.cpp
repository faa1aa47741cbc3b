#include "toolchain/search.hpp"

#include <unistd.h>

#include "unit/toolchain/fake_tree.hpp"

namespace cuprum::toolchain {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class SearchTest : public FakeTree {
 protected:
  Findings look(Kind kind, const char* name) { return look_for(item(kind, name), around); }

  /// A virtual environment; the path of its packages.
  std::string venv() {
    variables["VIRTUAL_ENV"] = root / "venv";
    return "venv/lib/python3.11/site-packages/";
  }
};

TEST_F(SearchTest, FindsALibraryInTheWheelsOfCuda13) {
  file(venv() + "nvidia/cu13/lib/libcublas.so.13");
  const Findings findings = look(Kind::dynamic_lib, "cublas");
  EXPECT_THAT(paths(findings), ElementsAre(venv() + "nvidia/cu13/lib/libcublas.so.13"));
  EXPECT_EQ(findings.found.front().found_via, Via::wheel);
  EXPECT_EQ(findings.found.front().how, "packages of VIRTUAL_ENV");
}

TEST_F(SearchTest, FindsALibraryInItsWheelOfCuda12) {
  file(venv() + "nvidia/cublas/lib/libcublas.so.12");
  EXPECT_THAT(paths(look(Kind::dynamic_lib, "cublas")), ElementsAre(venv() + "nvidia/cublas/lib/libcublas.so.12"));
}

TEST_F(SearchTest, FindsWhatCondaInstalled) {
  variables["CONDA_PREFIX"] = root / "conda";
  file("conda/lib/libcufft.so.12");
  file("conda/targets/x86_64-linux/include/cufft.h");
  file("conda/nvvm/lib64/libnvvm.so.4");
  file("conda/nvvm/libdevice/libdevice.10.bc");
  const Findings library = look(Kind::dynamic_lib, "cufft");
  EXPECT_THAT(paths(library), ElementsAre("conda/lib/libcufft.so.12"));
  EXPECT_EQ(library.found.front().found_via, Via::conda);
  EXPECT_THAT(paths(look(Kind::header_directory, "cufft")), ElementsAre("conda/targets/x86_64-linux/include"));
  EXPECT_THAT(paths(look(Kind::dynamic_lib, "nvvm")), ElementsAre("conda/nvvm/lib64/libnvvm.so.4"));
  EXPECT_THAT(paths(look(Kind::bitcode_lib, "device")), ElementsAre("conda/nvvm/libdevice/libdevice.10.bc"));
}

TEST_F(SearchTest, FindsAToolkitByEitherVariable) {
  file("a/lib64/libcurand.so.10");
  file("b/lib64/libcurand.so.10");
  variables["CUDA_HOME"] = root / "a";
  variables["CUDA_PATH"] = root / "b";
  const Findings findings = look(Kind::dynamic_lib, "curand");
  EXPECT_THAT(paths(findings), ElementsAre("b/lib64/libcurand.so.10", "a/lib64/libcurand.so.10"));
  EXPECT_EQ(findings.found[0].how, "CUDA_PATH");
  EXPECT_EQ(findings.found[1].how, "CUDA_HOME");
}

TEST_F(SearchTest, FindsWhatTheSystemsLinkerFinds) {
  linked["libnccl.so.2"] = file("usr/lib/libnccl.so.2");
  const Findings findings = look(Kind::dynamic_lib, "nccl");
  EXPECT_THAT(paths(findings), ElementsAre("usr/lib/libnccl.so.2"));
  EXPECT_EQ(findings.found.front().found_via, Via::system);
}

TEST_F(SearchTest, FindsDriverLibrariesOnlyByTheLinker) {
  file("cuda/lib64/libnvidia-ml.so.1");
  variables["CUDA_HOME"] = root / "cuda";
  EXPECT_THAT(paths(look(Kind::dynamic_lib, "nvml")), IsEmpty());
  linked["libnvidia-ml.so.1"] = file("usr/lib/libnvidia-ml.so.1");
  EXPECT_THAT(paths(look(Kind::dynamic_lib, "nvml")), ElementsAre("usr/lib/libnvidia-ml.so.1"));
}

TEST_F(SearchTest, FindsDefaultFolders) {
  file("usr/local/cuda/lib64/libcurand.so.10");
  around.default_folders = {root / "opt/cuda", root / "usr/local/cuda"};
  const Findings findings = look(Kind::dynamic_lib, "curand");
  EXPECT_THAT(paths(findings), ElementsAre("usr/local/cuda/lib64/libcurand.so.10"));
  EXPECT_EQ(findings.found.front().found_via, Via::default_folder);
}

TEST_F(SearchTest, KeepsToTheOrder) {
  loaded["libnvrtc.so.12"] = file("loaded/libnvrtc.so.12");
  file(venv() + "nvidia/cu13/lib/libnvrtc.so.13");
  file(venv() + "nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
  variables["CONDA_PREFIX"] = root / "conda";
  file("conda/lib/libnvrtc.so.13");
  variables["CUDA_PATH"] = root / "toolkit";
  file("toolkit/lib64/libnvrtc.so.13");
  linked["libnvrtc.so.13"] = file("usr/lib/libnvrtc.so.13");
  around.default_folders = {root / "usr/local/cuda"};
  file("usr/local/cuda/lib64/libnvrtc.so.12");
  EXPECT_THAT(
      paths(look(Kind::dynamic_lib, "nvrtc")),
      ElementsAre("loaded/libnvrtc.so.12", venv() + "nvidia/cu13/lib/libnvrtc.so.13",
                  venv() + "nvidia/cuda_nvrtc/lib/libnvrtc.so.12", "conda/lib/libnvrtc.so.13",
                  "toolkit/lib64/libnvrtc.so.13", "usr/lib/libnvrtc.so.13", "usr/local/cuda/lib64/libnvrtc.so.12"));
}

TEST_F(SearchTest, AVariableThatNamesTheFileEndsTheSearch) {
  variables["CUPRUM_NVRTC"] = "/mine/libnvrtc.so";
  loaded["libnvrtc.so.13"] = file("loaded/libnvrtc.so.13");
  const Findings findings = look(Kind::dynamic_lib, "nvrtc");
  ASSERT_EQ(findings.found.size(), 1u);
  EXPECT_EQ(findings.found.front().path, "/mine/libnvrtc.so");
  EXPECT_EQ(findings.found.front().found_via, Via::variable);
}

TEST_F(SearchTest, TakesTheNewestOfOneFolder) {
  variables["CUDA_HOME"] = root / "toolkit";
  file("toolkit/lib/libcudart.so.12");
  file("toolkit/lib/libcudart.so.13");
  EXPECT_THAT(paths(look(Kind::dynamic_lib, "cudart")),
              ElementsAre("toolkit/lib/libcudart.so.13", "toolkit/lib/libcudart.so.12"));
}

TEST_F(SearchTest, ListsAFileOnceHoweverManyPathsLeadToIt) {
  file("cuda-13.0/targets/x86_64-linux/lib/libcudart.so.13");
  fs::create_directory_symlink("targets/x86_64-linux/lib", root / "cuda-13.0/lib64");
  fs::create_directory_symlink("cuda-13.0", root / "cuda");
  variables["CUDA_HOME"] = root / "cuda";
  around.default_folders = {root / "cuda", root / "cuda-13.0"};
  EXPECT_THAT(paths(look(Kind::dynamic_lib, "cudart")), ::testing::SizeIs(1));
}

TEST_F(SearchTest, HeadersAreTheFolderThatHasThem) {
  variables["CUDA_HOME"] = root / "toolkit";
  file("toolkit/include/cccl/cuda/std/version");
  file("toolkit/include/cuda_runtime.h");
  EXPECT_THAT(paths(look(Kind::header_directory, "cccl")), ElementsAre("toolkit/include/cccl"));
  EXPECT_THAT(paths(look(Kind::header_directory, "cudart")), ElementsAre("toolkit/include"));
  EXPECT_THAT(paths(look(Kind::header_directory, "curand")), IsEmpty());
}

TEST_F(SearchTest, HeadersOfCuda12WheelsAreInFoldersOfTheirOwn) {
  file(venv() + "nvidia/cuda_cccl/include/cuda/std/version");
  file(venv() + "nvidia/curand/include/curand_kernel.h");
  EXPECT_THAT(paths(look(Kind::header_directory, "cccl")), ElementsAre(venv() + "nvidia/cuda_cccl/include"));
  EXPECT_THAT(paths(look(Kind::header_directory, "curand")), ElementsAre(venv() + "nvidia/curand/include"));
}

TEST_F(SearchTest, FindsStaticLibrariesAndBitcodeInWheels) {
  file(venv() + "nvidia/cuda_runtime/lib/libcudadevrt.a");
  file(venv() + "nvidia/cuda_nvcc/nvvm/libdevice/libdevice.10.bc");
  EXPECT_THAT(paths(look(Kind::static_lib, "cudadevrt")),
              ElementsAre(venv() + "nvidia/cuda_runtime/lib/libcudadevrt.a"));
  EXPECT_THAT(paths(look(Kind::bitcode_lib, "device")),
              ElementsAre(venv() + "nvidia/cuda_nvcc/nvvm/libdevice/libdevice.10.bc"));
}

TEST_F(SearchTest, ABinaryMustBeExecutable) {
  variables["CUDA_HOME"] = root / "toolkit";
  const fs::path nvcc = file("toolkit/bin/nvcc");
  const Findings without = look(Kind::binary, "nvcc");
  EXPECT_THAT(without.found, IsEmpty());
  EXPECT_THAT(without.tried, Contains(AllOf(HasSubstr("toolkit/bin/nvcc"), EndsWith("not executable"))));
  fs::permissions(nvcc, fs::perms::owner_exec, fs::perm_options::add);
  EXPECT_THAT(paths(look(Kind::binary, "nvcc")), ElementsAre("toolkit/bin/nvcc"));
}

TEST_F(SearchTest, ABrokenLinkIsPassedOverAndNamed) {
  variables["CUDA_HOME"] = root / "toolkit";
  fs::create_directories(root / "toolkit/lib64");
  fs::create_symlink("/nowhere/libcurand.so.10", root / "toolkit/lib64/libcurand.so.10");
  file("toolkit/lib/libcurand.so.10");
  const Findings findings = look(Kind::dynamic_lib, "curand");
  EXPECT_THAT(paths(findings), ElementsAre("toolkit/lib/libcurand.so.10"));
  EXPECT_THAT(findings.tried, Contains(EndsWith("(CUDA_HOME): broken link to /nowhere/libcurand.so.10")));
}

TEST_F(SearchTest, ALinkToItselfIsPassedOverAndNamed) {
  variables["CUDA_HOME"] = root / "toolkit";
  fs::create_directories(root / "toolkit/lib");
  fs::create_symlink("libcurand.so.10", root / "toolkit/lib/libcurand.so.10");
  EXPECT_THAT(look(Kind::dynamic_lib, "curand").tried, Contains(HasSubstr("Too many levels of symbolic links")));
}

TEST_F(SearchTest, AFolderWithTheNameOfAFileIsNotIt) {
  variables["CUDA_HOME"] = root / "toolkit";
  fs::create_directories(root / "toolkit/lib/libcurand.so.10");
  EXPECT_THAT(look(Kind::dynamic_lib, "curand").tried, Contains(EndsWith("(CUDA_HOME): not a file")));
}

TEST_F(SearchTest, AFolderThatCantBeReadIsPassedOverAndNamed) {
  variables["CUDA_HOME"] = root / "toolkit";
  file("toolkit/lib/libcurand.so.10");
  fs::permissions(root, fs::perms::all);
  fs::permissions(root / "toolkit/lib", fs::perms::none);
  const bool was_root = geteuid() == 0;
  ASSERT_EQ(was_root ? seteuid(65534) : 0, 0);  // nothing is unreadable to root
  const Findings findings = look(Kind::dynamic_lib, "curand");
  ASSERT_EQ(was_root ? seteuid(0) : 0, 0);
  fs::permissions(root / "toolkit/lib", fs::perms::owner_all);
  EXPECT_THAT(findings.found, IsEmpty());
  EXPECT_THAT(findings.tried, Contains(AllOf(HasSubstr("toolkit/lib/"), EndsWith("Permission denied"))));
}

TEST_F(SearchTest, AVariableThatLeadsNowhereIsNamed) {
  variables["CUDA_HOME"] = "/nowhere";
  variables["CUDA_PATH"] = file("toolkit");
  const Findings findings = look(Kind::dynamic_lib, "curand");
  EXPECT_THAT(findings.tried, Contains("/nowhere (CUDA_HOME): No such file or directory"));
  EXPECT_THAT(findings.tried, Contains(EndsWith("toolkit (CUDA_PATH): not a folder")));
}

TEST_F(SearchTest, WhatIsMissingIsReportedWithEverythingTriedAndTheCure) {
  around.default_folders = {"/usr/local/no-cuda"};
  variables["CUDA_HOME"] = root;
  const Item& nvrtc = item(Kind::dynamic_lib, "nvrtc");
  const std::string message = error_of<NotSupported>([&] { open_first(nvrtc, look_for(nvrtc, around)); });
  EXPECT_THAT(message,
              AllOf(StartsWith("the dynamic library 'nvrtc' was not found: NVRTC compiles CUDA C++ at run time"),
                    HasSubstr("pip (nvidia-cuda-nvrtc"), HasSubstr("set CUPRUM_NVRTC to its file. Searched:"),
                    HasSubstr("\n  libnvrtc.so.13: not loaded already"), HasSubstr("\n  wheels: no Python is running"),
                    HasSubstr("\n  CONDA_PREFIX: not set"), HasSubstr("\n  CUDA_PATH: not set")));
  EXPECT_THAT(message, AllOf(HasSubstr((root / "lib64/libnvrtc.so.13").string() + " (CUDA_HOME): No such file"),
                             HasSubstr("\n  libnvrtc.so.12: not found by the system's linker"),
                             HasSubstr("\n  /usr/local/no-cuda (default folder): No such file or directory")));
}

TEST_F(SearchTest, OpensTheFirstThatCanBeOpened) {
  variables["CUDA_HOME"] = root / "toolkit";
  file("toolkit/lib64/libcurand.so.10", "not a library");
  copy(FAKE_NOTHING, "toolkit/lib/libcurand.so.10");
  const Item& curand = item(Kind::dynamic_lib, "curand");
  EXPECT_THAT(open_first(curand, look_for(curand, around)).located.path, EndsWith("toolkit/lib/libcurand.so.10"));
}

TEST_F(SearchTest, AFileThatIsNoLibraryIsReportedWithTheLoadersReason) {
  variables["CUDA_HOME"] = root / "toolkit";
  file("toolkit/lib/libcurand.so.10", "not a library");
  const Item& curand = item(Kind::dynamic_lib, "curand");
  EXPECT_THAT(error_of<NotSupported>([&] { open_first(curand, look_for(curand, around)); }),
              AllOf(HasSubstr("toolkit/lib/libcurand.so.10 (CUDA_HOME): "), HasSubstr("file too short")));
}

TEST_F(SearchTest, AVariableThatNamesNoLibraryIsReported) {
  variables["CUPRUM_NVJITLINK"] = "/nowhere/libnvJitLink.so";
  const Item& linker = item(Kind::dynamic_lib, "nvJitLink");
  EXPECT_THAT(error_of<NotSupported>([&] { open_first(linker, look_for(linker, around)); }),
              AllOf(HasSubstr("CUPRUM_NVJITLINK is '/nowhere/libnvJitLink.so'"), HasSubstr("Unset it"),
                    Not(HasSubstr("Searched"))));
}

}  // namespace
}  // namespace cuprum::toolchain
