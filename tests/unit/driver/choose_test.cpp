// Which driver is opened, and what is said when none can be. Each case needs a process that has not opened one yet, so
// it runs in one of its own; there, the loader finds a fake driver as libcuda.so.1 (see CMakeLists.txt).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cuprum/driver.hpp>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "driver/open.hpp"

namespace cuprum::driver {
namespace {

using ::testing::ExitedWithCode;
using ::testing::HasSubstr;

struct Setting {
  const char* name;
  const char* value;
};

// What the driver is chosen by.
void set(std::vector<Setting> settings) {
  for (const char* name : {"CUPRUM_DRIVER", "CUPRUM_SOFTGPU_PATH"}) unsetenv(name);
  for (const Setting& setting : settings) setenv(setting.name, setting.value, 1);
}

// Prints the driver that is chosen, or why there is none, and ends the process.
[[noreturn]] void report() {
  try {
    const Info driver = info();
    std::cerr << (driver.kind == Choice::nvidia ? "nvidia " : "softgpu ") << driver.version << ' ' << driver.path
              << '\n';
    std::_Exit(0);
  } catch (const InvalidArgument& error) {
    std::cerr << "InvalidArgument: " << error.what() << '\n';
  } catch (const NotSupported& error) {
    std::cerr << "NotSupported: " << error.what() << '\n';
  } catch (const DriverError& error) {
    std::cerr << "DriverError: " << error.what() << '\n';
  }
  std::_Exit(1);
}

class ChooseDriver : public ::testing::Test {
 protected:
  ChooseDriver() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};
using ChooseDriverDeathTest = ChooseDriver;

TEST_F(ChooseDriverDeathTest, NvidiaIsTheLibraryThatTheLoaderFinds) {
  EXPECT_EXIT((set({{"CUPRUM_DRIVER", "nvidia"}}), report()), ExitedWithCode(0),
              "^nvidia 12020 .*fake/libcuda.so.1\n$");
}

TEST_F(ChooseDriverDeathTest, AutoTakesNvidiaSilentlyWhenItHasADevice) {
  EXPECT_EXIT((set({}), report()), ExitedWithCode(0), "^nvidia 12020 .*\n$");
}

TEST_F(ChooseDriverDeathTest, AutoSaysSoWhenItTakesSoftgpu) {
  EXPECT_EXIT(
      (set({{"CUPRUM_DRIVER", "auto"}, {"FAKE_DRIVER_DEVICES", "0"}, {"CUPRUM_SOFTGPU_PATH", FAKE_SOFTGPU}}), report()),
      ExitedWithCode(0), "^cuprum: using softgpu.*shows no device.*CUPRUM_DRIVER=softgpu.*\nsoftgpu 12020 .*\n$");
}

TEST_F(ChooseDriverDeathTest, SoftgpuIsTheLibraryThatTheVariableNames) {
  EXPECT_EXIT((set({{"CUPRUM_DRIVER", "softgpu"}, {"CUPRUM_SOFTGPU_PATH", FAKE_SOFTGPU}}), report()), ExitedWithCode(0),
              "^softgpu 12020 .*other/libcuda.so.1\n$");
}

TEST_F(ChooseDriverDeathTest, SelectIsOverTheEnvironment) {
  EXPECT_EXIT(
      (set({{"CUPRUM_DRIVER", "nvidia"}, {"CUPRUM_SOFTGPU_PATH", FAKE_SOFTGPU}}), select(Choice::softgpu), report()),
      ExitedWithCode(0), "^softgpu ");
}

TEST_F(ChooseDriverDeathTest, AnUnknownWordIsRefusedWithTheKnownOnes) {
  EXPECT_EXIT((set({{"CUPRUM_DRIVER", "amd"}}), report()), ExitedWithCode(1),
              "InvalidArgument: CUPRUM_DRIVER is 'amd'; it can be auto, nvidia or softgpu");
}

TEST_F(ChooseDriverDeathTest, SoftgpuThatIsNotInstalledIsReportedWithItsPlace) {
  EXPECT_EXIT((set({{"CUPRUM_DRIVER", "softgpu"}, {"CUPRUM_SOFTGPU_PATH", "/nowhere/libcuda.so.1"}}), report()),
              ExitedWithCode(1), "NotSupported: softgpu is not installed: there is no /nowhere/libcuda.so.1");
}

TEST_F(ChooseDriverDeathTest, NoDriverAtAllIsReportedWithBothReasons) {
  EXPECT_EXIT((set({{"FAKE_DRIVER_DEVICES", "0"}, {"CUPRUM_SOFTGPU_PATH", "/nowhere"}}), report()), ExitedWithCode(1),
              "NotSupported: there is no CUDA driver to use.\n  NVIDIA: .*shows no device\n  softgpu: .*not installed");
}

TEST_F(ChooseDriverDeathTest, SoftgpuIsNotTakenForNvidia) {
  EXPECT_EXIT((set({{"CUPRUM_DRIVER", "nvidia"}, {"CUPRUM_SOFTGPU_PATH", FAKE_NVIDIA}}), report()), ExitedWithCode(1),
              "NotSupported: the libcuda.so.1 that the loader finds is softgpu");
}

TEST_F(ChooseDriverDeathTest, AnOldDriverIsRefused) {
  EXPECT_EXIT((set({{"CUPRUM_DRIVER", "nvidia"}, {"FAKE_DRIVER_VERSION", "11080"}}), report()), ExitedWithCode(1),
              "NotSupported: .*is a driver of CUDA 11.8; CUDA 12.0 or newer is needed");
}

TEST_F(ChooseDriverDeathTest, ADriverThatDoesNotInitialiseIsReportedWithItsWords) {
  EXPECT_EXIT(
      (set({{"CUPRUM_DRIVER", "nvidia"}, {"FAKE_DRIVER_INIT", "100"}}), report()), ExitedWithCode(1),
      "DriverError: initialising the CUDA driver .*: cuInit failed with CUDA_ERROR_NO_DEVICE .100.: the fake driver");
}

// Calls what a driver of CUDA 12.2 doesn't have: it came with 12.4.
[[noreturn]] void call_what_is_missing() {
  try {
    call<&Api::cuKernelGetParamInfo>(CUkernel{}, std::size_t{}, nullptr, nullptr);
  } catch (const NotSupported& error) {
    std::cerr << error.what() << '\n';
    std::_Exit(0);
  }
  std::_Exit(1);
}

TEST_F(ChooseDriverDeathTest, AFunctionNewerThanTheDriverIsRefusedWhenCalled) {
  EXPECT_EXIT((set({}), call_what_is_missing()), ExitedWithCode(0),
              "cuKernelGetParamInfo needs a driver of CUDA 12.4 or newer; .* is one of CUDA 12.2");
}

[[noreturn]] void load_from_many_threads() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back([] { api(); });
  for (std::thread& thread : threads) thread.join();
  unsigned initialisations = 0;
  call<&Api::cuCtxGetFlags>(&initialisations);
  std::_Exit(static_cast<int>(initialisations));
}

TEST_F(ChooseDriverDeathTest, ThreadsThatRaceForTheFirstUseInitialiseOnce) {
  EXPECT_EXIT((set({}), load_from_many_threads()), ExitedWithCode(1), "");
}

[[noreturn]] void select_after_use() {
  api();
  try {
    select(Choice::softgpu);
  } catch (const InvalidArgument& error) {
    std::cerr << error.what() << '\n';
    std::_Exit(0);
  }
  std::_Exit(1);
}

TEST_F(ChooseDriverDeathTest, SelectIsRefusedAfterTheFirstUse) {
  EXPECT_EXIT((set({}), select_after_use()), ExitedWithCode(0), "can't be chosen any more: .*libcuda.so.1 is in use");
}

// A thread is busy opening the driver when another one forks.
[[noreturn]] void fork_during_the_first_use() {
  int ends[2];
  if (pipe(ends) != 0) std::_Exit(2);
  set({{"FAKE_DRIVER_INIT_PIPE", std::to_string(ends[1]).c_str()}});
  std::thread([] { api(); }).detach();
  char entered = 0;
  if (read(ends[0], &entered, 1) != 1) std::_Exit(3);
  const pid_t child = fork();
  if (child == 0) {
    alarm(10);  // ends a child that waits for good
    report();
  }
  int status = 0;
  waitpid(child, &status, 0);
  std::_Exit(WIFSIGNALED(status) ? 4 : WEXITSTATUS(status));
}

TEST_F(ChooseDriverDeathTest, AForkDuringTheFirstUseIsRefusedInTheChild) {
  EXPECT_EXIT(fork_during_the_first_use(), ExitedWithCode(1), "NotSupported: CUDA can't be used in this process");
}

TEST(ParseChoice, KnowsItsWords) {
  EXPECT_EQ(parse_choice("auto"), Choice::automatic);
  EXPECT_EQ(parse_choice("nvidia"), Choice::nvidia);
  EXPECT_EQ(parse_choice("softgpu"), Choice::softgpu);
  EXPECT_THROW(parse_choice("Auto"), InvalidArgument);
}

TEST(SoftgpuPath, IsWhatTheVariableNamesOrBesideTheLibrary) {
  EXPECT_TRUE(softgpu_path().ends_with("/cuprum/softgpu/libcuda.so.1")) << softgpu_path();
  set({{"CUPRUM_SOFTGPU_PATH", "/nowhere/libcuda.so.7"}});
  EXPECT_EQ(softgpu_path(), "/nowhere/libcuda.so.7");
  set({{"CUPRUM_SOFTGPU_PATH", "/usr"}});
  EXPECT_EQ(softgpu_path(), "/usr/libcuda.so.1") << "of a folder, the file in it";
  unsetenv("CUPRUM_SOFTGPU_PATH");
}

}  // namespace
}  // namespace cuprum::driver
