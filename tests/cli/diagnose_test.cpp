// What the doctor says about machines that are made up. doctor_test.py provokes the same on this one, where it can.
#include "cuprum/diagnose.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cuprum::cli {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

// A machine with a GPU where all is well.
Facts healthy() {
  Facts facts;
  facts.version = "1.2.3";
  facts.kernel_module = "580.82.07";
  facts.nvidia = {.name = "NVIDIA",
                  .path = "/usr/lib/libcuda.so.1",
                  .version = 13000,
                  .devices = {{.id = 0, .name = "H200", .architecture = "90", .memory = 1}}};
  facts.softgpu = {.name = "softgpu",
                   .path = "/opt/softgpu/libcuda.so.1",
                   .version = 13000,
                   .devices = {{.id = 0, .name = "soft", .architecture = "90", .memory = 1}}};
  facts.nvrtc = {.library = {.name = "nvrtc",
                             .path = "/cuda/lib64/libnvrtc.so.13",
                             .how = "CUDA_HOME",
                             .via = "toolkit",
                             .version = "13.0",
                             .cuda_version = 13000},
                 .builtins = "/cuda/lib64/libnvrtc-builtins.so.13.0",
                 .header_folders = {"/cuda/include"},
                 .architectures = {75, 80, 90}};
  facts.libraries = {{.name = "nvJitLink",
                      .path = "/cuda/lib64/libnvJitLink.so.13",
                      .how = "CUDA_HOME",
                      .via = "toolkit",
                      .version = "13.0",
                      .cuda_version = 13000},
                     {.name = "nvml",
                      .path = "/usr/lib/libnvidia-ml.so.1",
                      .how = "found by the system's linker",
                      .via = "system",
                      .version = "driver 580.82.07",
                      .cuda_version = 13000},
                     {.name = "cuda", .path = "/usr/lib/libcuda.so.1", .via = "system"}};
  facts.tour = {.driver = "NVIDIA", .device = "H200", .seconds = 1};
  return facts;
}

LibraryFacts& library(Facts& facts, const std::string& name) {
  for (LibraryFacts& candidate : facts.libraries) {
    if (candidate.name == name) return candidate;
  }
  return facts.libraries.emplace_back(LibraryFacts{.name = name});
}

// One finding, of that severity and id, with these words in what it says and advises.
auto finds(Severity severity, const char* id, const char* what, const char* advice) {
  return ElementsAre(AllOf(Field(&Finding::severity, severity), Field(&Finding::id, id),
                           Field(&Finding::what, HasSubstr(what)), Field(&Finding::advice, HasSubstr(advice))));
}

TEST(Diagnose, FindsNothingWhenAllIsWell) { EXPECT_THAT(diagnose(healthy()), IsEmpty()); }

TEST(Diagnose, NoDriverNamesBothReasons) {
  Facts facts = healthy();
  facts.nvidia = {.name = "NVIDIA", .problem = "no GPU here"};
  facts.softgpu = {.name = "softgpu", .problem = "not built"};
  EXPECT_EQ(driver_in_use(facts), nullptr);
  EXPECT_THAT(diagnose(facts),
              finds(Severity::error, "no-driver", "NVIDIA: no GPU here. softgpu: not built", "install"));
}

TEST(Diagnose, ADriverThatWasRuledOutIsNotMissed) {
  Facts facts = healthy();
  facts.nvidia = {.name = "NVIDIA", .problem = "no GPU here"};
  EXPECT_EQ(driver_in_use(facts), &facts.softgpu);
  facts.variables["CUPRUM_DRIVER"] = "nvidia";
  EXPECT_EQ(driver_in_use(facts), nullptr);
  EXPECT_THAT(diagnose(facts),
              Contains(Field(&Finding::what, "there is no CUDA driver to run on. NVIDIA: no GPU here")));
}

TEST(Diagnose, AnUnknownChoiceOfDriver) {
  Facts facts = healthy();
  facts.variables["CUPRUM_DRIVER"] = "amd";
  EXPECT_THAT(diagnose(facts), finds(Severity::error, "unknown-driver", "'amd'", "auto, nvidia or softgpu"));
}

TEST(Diagnose, DevicesThatAVariableHides) {
  Facts facts = healthy();
  facts.nvidia.devices.clear();
  facts.nvidia.problem = "it shows no device";
  facts.variables["CUDA_VISIBLE_DEVICES"] = "";
  EXPECT_THAT(diagnose(facts), finds(Severity::warning, "devices-hidden", "CUDA_VISIBLE_DEVICES is ''", "unset"));
}

TEST(Diagnose, DeviceFilesThatMayNotBeOpened) {
  Facts facts = healthy();
  facts.forbidden_devices = {"/dev/nvidia0", "/dev/nvidiactl"};
  EXPECT_THAT(diagnose(facts), finds(Severity::warning, "devices-forbidden", "/dev/nvidia0 and others", "--gpus all"));
}

TEST(Diagnose, ADriverThatIsHalfUpdated) {
  Facts facts = healthy();
  facts.tour = {.problem = "it fails"};
  library(facts, "nvml").version = "driver 580.95.05";
  EXPECT_THAT(diagnose(facts), finds(Severity::error, "driver-half-updated", "580.82.07", "restart the machine"));
}

TEST(Diagnose, NoCompiler) {
  Facts facts = healthy();
  facts.nvrtc = {.library = {.name = "nvrtc", .problem = "not found. Searched: everywhere"}};
  facts.tour.problem = "not found. Searched: everywhere";
  EXPECT_THAT(diagnose(facts),
              finds(Severity::error, "no-nvrtc", "Searched: everywhere", "pip install nvidia-cuda-nvrtc"));
}

TEST(Diagnose, AWheelWithoutHeadersGetsTheCommandForItsRelease) {
  Facts facts = healthy();
  facts.nvrtc.header_folders.clear();
  facts.nvrtc.remarks = {"/venv/include: headers of CUDA 12.4, not used with NVRTC 13.0"};
  facts.nvrtc.library.via = library(facts, "nvJitLink").via = "wheel";
  EXPECT_THAT(diagnose(facts), finds(Severity::warning, "no-headers", "headers of CUDA 12.4, not used",
                                     "pip install nvidia-cuda-runtime==13.0.* nvidia-cuda-cccl==13.0.*"));
}

TEST(Diagnose, PtxThatIsNewerThanTheDriver) {
  Facts facts = healthy();
  facts.tour = {.problem = "it fails"};
  facts.nvidia.version = 12080;
  EXPECT_THAT(diagnose(facts), finds(Severity::error, "ptx-newer-than-driver", "CUDA 13.0, the driver takes CUDA 12.8",
                                     "pip install nvidia-cuda-nvrtc==12.8.*"));
}

TEST(Diagnose, PtxOfANewerMinorReleaseStillLeavesMachineCode) {
  Facts facts = healthy();
  facts.nvrtc.library.cuda_version = library(facts, "nvJitLink").cuda_version = 13010;
  EXPECT_THAT(diagnose(facts), finds(Severity::warning, "ptx-newer-than-driver", "machine code (Target::cubin) it runs",
                                     "Target::cubin"));
}

TEST(Diagnose, ADeviceThatTheCompilerDoesNotKnowYet) {
  Facts facts = healthy();
  facts.nvidia.devices[0].architecture = "120";
  EXPECT_THAT(diagnose(facts), finds(Severity::warning, "architecture-unknown", "120 of device 0", "newer NVRTC"));
}

TEST(Diagnose, ADeviceThatTheCompilerKnowsNoMore) {
  Facts facts = healthy();
  facts.nvidia.devices[0].architecture = "70";
  EXPECT_THAT(diagnose(facts), finds(Severity::warning, "architecture-unknown", "70 of device 0", "older NVRTC"));
}

TEST(Diagnose, WheelsAndToolkitMixed) {
  Facts facts = healthy();
  facts.nvrtc.library.via = "wheel";
  facts.nvrtc.library.how = "packages of VIRTUAL_ENV";
  EXPECT_THAT(diagnose(facts), finds(Severity::warning, "wheels-and-toolkit-mixed", "packages of VIRTUAL_ENV",
                                     "pip install nvidia-nvjitlink==13.0.*"));
}

TEST(Diagnose, ALinkerThatIsOlderThanTheCompiler) {
  Facts facts = healthy();
  library(facts, "nvJitLink").cuda_version = 12040;
  EXPECT_THAT(diagnose(facts),
              finds(Severity::warning, "older-than-nvrtc", "can't link the LTO-IR", "install nvJitLink"));
}

TEST(Diagnose, NvvmWithoutItsMathematics) {
  Facts facts = healthy();
  library(facts, "nvvm") = {.name = "nvvm", .path = "/cuda/libnvvm.so.4", .how = "CUDA_HOME", .via = "toolkit"};
  EXPECT_THAT(diagnose(facts), finds(Severity::warning, "no-libdevice", "no libdevice", "CUPRUM_LIBDEVICE"));
}

TEST(Diagnose, ALibraryThatCrashes) {
  Facts facts = healthy();
  library(facts, "cublas") = {
      .name = "cublas", .path = "/x/libcublas.so.13", .how = "CUDA_HOME", .problem = "it crashed"};
  EXPECT_THAT(diagnose(facts), finds(Severity::warning, "library-unusable",
                                     "/x/libcublas.so.13 (CUDA_HOME), can't be used: it crashed", "anew"));
}

TEST(Diagnose, LdLibraryPathThatPutsAnotherFileFirst) {
  Facts facts = healthy();
  library(facts, "cuda") = {
      .name = "cuda", .path = "/old/libcuda.so.1", .via = "system", .without_linker_path = "/usr/lib/libcuda.so.1"};
  EXPECT_THAT(diagnose(facts), finds(Severity::warning, "linker-path-shadows",
                                     "/old/libcuda.so.1 before /usr/lib/libcuda.so.1", "out of LD_LIBRARY_PATH"));
}

TEST(Diagnose, LdLibraryPathThatGivesOthersAnotherCompiler) {
  Facts facts = healthy();
  facts.variables["LD_LIBRARY_PATH"] = "/elsewhere:/old/lib";
  facts.nvrtc.library.shadowed = {{"/old/lib/libnvrtc.so.13", "found by the system's linker"}};
  EXPECT_THAT(diagnose(facts), finds(Severity::warning, "linker-path-shadows",
                                     "programs that link to nvrtc get /old/lib/libnvrtc.so.13", "LD_LIBRARY_PATH"));
  facts.variables["LD_LIBRARY_PATH"] = "/elsewhere";
  EXPECT_THAT(diagnose(facts), IsEmpty());
}

TEST(Diagnose, AStubInPlaceOfTheDriver) {
  Facts facts = healthy();
  facts.tour = {.problem = "it fails"};
  library(facts, "cuda").path = "/cuda/lib64/stubs/libcuda.so.1";
  EXPECT_THAT(diagnose(facts), finds(Severity::error, "driver-is-a-stub", "stubs/libcuda.so.1", "ld.so.conf.d"));
}

TEST(Diagnose, WhatDoesNoHarmIsAWarning) {
  Facts facts = healthy();
  library(facts, "cuda").path = "/cuda/lib64/stubs/libcuda.so.1";
  EXPECT_THAT(diagnose(facts), finds(Severity::warning, "driver-is-a-stub", "stubs", "stubs"));
}

TEST(Diagnose, VariablesThatNameNothing) {
  Facts facts = healthy();
  facts.variables["CUDA_HOME"] = "/no/such/folder";
  EXPECT_THAT(diagnose(facts),
              finds(Severity::warning, "variable-names-nothing", "CUDA_HOME is '/no/such/folder'", "unset"));
}

TEST(Diagnose, TwoToolkits) {
  Facts facts = healthy();
  facts.variables["CUDA_HOME"] = "/usr";
  facts.variables["CUDA_PATH"] = "/etc";
  EXPECT_THAT(diagnose(facts),
              finds(Severity::warning, "two-toolkits", "CUDA_PATH is /etc and CUDA_HOME is /usr", "same"));
}

TEST(Diagnose, ACacheThatCanNotBeUsed) {
  Facts facts = healthy();
  facts.caches = {{.name = "kernels", .path = "/x", .problem = "/x can't be written to"}};
  EXPECT_THAT(diagnose(facts), finds(Severity::warning, "cache-unusable", "/x can't be written to", "writable"));
}

TEST(Diagnose, WhatNothingElseExplains) {
  Facts facts = healthy();
  facts.tour = {.problem = "out of memory"};
  EXPECT_THAT(diagnose(facts), finds(Severity::error, "tour-fails", "out of memory", "CUPRUM_DRIVER=softgpu"));
}

TEST(Diagnose, TheWorstComesFirst) {
  Facts facts = healthy();
  facts.variables["CUDA_HOME"] = "/no/such/folder";
  facts.tour = {.problem = "out of memory"};
  EXPECT_THAT(diagnose(facts),
              ElementsAre(Field(&Finding::severity, Severity::error), Field(&Finding::severity, Severity::warning)));
}

}  // namespace
}  // namespace cuprum::cli
