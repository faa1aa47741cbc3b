// The raw tables of NVRTC, nvJitLink, libNVVM and NVML.
#include "toolchain/library_table.hpp"

#include <cuprum/nvjitlink.hpp>
#include <cuprum/nvml.hpp>
#include <cuprum/nvrtc.hpp>
#include <cuprum/nvvm.hpp>
#include <functional>

#include "unit/toolchain/fake_tree.hpp"

// NVIDIA's own declarations, to compare ours with, where they are installed.
#include <nvrtc.h>
#if __has_include(<nvJitLink.h>)
  #define NVJITLINK_NO_INLINE
  #include <nvJitLink.h>
  #define HAVE_NVJITLINK_H
#endif
#if __has_include(<nvvm.h>)
  #include <nvvm.h>
  #define HAVE_NVVM_H
#endif
#if __has_include(<nvml.h>)
  #include <nvml.h>
  #define HAVE_NVML_H
#endif

namespace cuprum {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using toolchain::error_of;

static_assert(std::is_same_v<nvrtc::Program, nvrtcProgram>);
static_assert(static_cast<int>(nvrtc::Result::compilation) == NVRTC_ERROR_COMPILATION);
static_assert(static_cast<int>(nvrtc::Result::name_expression_not_valid) == NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID);
static_assert(static_cast<int>(nvrtc::Result::time_trace_file_write_failed) ==
              NVRTC_ERROR_TIME_TRACE_FILE_WRITE_FAILED);
#ifdef HAVE_NVJITLINK_H
static_assert(std::is_same_v<nvjitlink::Handle, nvJitLinkHandle>);
static_assert(static_cast<int>(nvjitlink::Result::lto_not_enabled) == NVJITLINK_ERROR_LTO_NOT_ENABLED);
static_assert(static_cast<int>(nvjitlink::InputType::index) == NVJITLINK_INPUT_INDEX);
static_assert(static_cast<int>(nvjitlink::InputType::any) == NVJITLINK_INPUT_ANY);
#endif
#ifdef HAVE_NVVM_H
static_assert(std::is_same_v<nvvm::Program, nvvmProgram>);
static_assert(static_cast<int>(nvvm::Result::compilation) == NVVM_ERROR_COMPILATION);
#endif
#ifdef HAVE_NVML_H
static_assert(std::is_same_v<nvml::Device, nvmlDevice_t>);
static_assert(sizeof(nvml::PciInfo) == sizeof(nvmlPciInfo_t));
static_assert(sizeof(nvml::MemoryWithReserve) == sizeof(nvmlMemory_v2_t));
static_assert(sizeof(nvml::ProcessInfo) == sizeof(nvmlProcessInfo_t));
static_assert(static_cast<int>(nvml::Result::invalid_state) == NVML_ERROR_INVALID_STATE);
#endif
static_assert(sizeof(nvml::PciInfo) == 68 && sizeof(nvml::MemoryWithReserve) == 40 && sizeof(nvml::ProcessInfo) == 24);

// Parameters must be those of NVIDIA's header, enumerations and their results aside: those are ints either way.
template <typename T>
using Plain = std::conditional_t<std::is_enum_v<T>, int, T>;
template <typename Ours, typename Theirs>
struct SamePrototype;
template <typename R, typename... A, typename S, typename... B>
struct SamePrototype<R (*)(A...), S (*)(B...)> : std::is_same<Plain<R> (*)(Plain<A>...), Plain<S> (*)(Plain<B>...)> {};

template <typename Slot>
using FunctionOf = decltype(Slot::function);

#define CUPRUM_ENTRY_POINT(name, since, result, parameters) \
  static_assert(SamePrototype<FunctionOf<decltype(nvrtc::Api::name)>, decltype(&::name)>::value, #name);
#include <cuprum/detail/nvrtc_entry_points.def>
#ifdef HAVE_NVVM_H
  #define CUPRUM_ENTRY_POINT(name, since, result, parameters) \
    static_assert(SamePrototype<FunctionOf<decltype(nvvm::Api::name)>, decltype(&::name)>::value, #name);
  #include <cuprum/detail/nvvm_entry_points.def>
#endif

TEST(NvrtcTableTest, IsOpenedWithItsBuiltinsAndHeaders) {
  int major = 0;
  int minor = 0;
  nvrtc::call<&nvrtc::Api::nvrtcVersion>(&major, &minor);
  EXPECT_EQ(nvrtc::info().version, 1000 * major + 10 * minor);
  EXPECT_THAT(nvrtc::info().builtins, EndsWith(support::text("libnvrtc-builtins.so.", major, '.', minor)));
  ASSERT_FALSE(nvrtc::info().header_folders.empty());
  EXPECT_TRUE(std::filesystem::exists(nvrtc::info().header_folders.front() + "/cuda_fp16.h"));
}

TEST(NvrtcTableTest, AFailedCallNamesItselfAndGivesTheLibrarysWords) {
  try {
    nvrtc::call<&nvrtc::Api::nvrtcCompileProgram>(nullptr, 0, nullptr);
    FAIL() << "no exception";
  } catch (const LibraryError& error) {
    EXPECT_EQ(error.library(), "NVRTC");
    EXPECT_EQ(error.call(), "nvrtcCompileProgram");
    EXPECT_EQ(error.code(), static_cast<int>(nvrtc::Result::invalid_program));
    EXPECT_EQ(error.description(), "NVRTC_ERROR_INVALID_PROGRAM");
    EXPECT_EQ(error.path(), nvrtc::info().path);
    EXPECT_THAT(error.what(),
                StartsWith("NVRTC: nvrtcCompileProgram failed with code 4 (NVRTC_ERROR_INVALID_PROGRAM)"));
  }
}

TEST(NvrtcTableTest, ATriedCallReturnsItsCode) {
  EXPECT_EQ(nvrtc::try_call<&nvrtc::Api::nvrtcCompileProgram>(nullptr, 0, nullptr), nvrtc::Result::invalid_program);
}

TEST(NvrtcTableTest, AnEntryPointThatAnOldLibraryLacksIsRefusedWhenItIsUsed) {
  const decltype(nvrtc::Api::nvrtcGetPCHHeapSize) lacking{};
  std::size_t size = 0;
  EXPECT_THAT(error_of<NotSupported>([&] { detail::call_library<detail::Library::nvrtc>(lacking, &size); }),
              AllOf(StartsWith("nvrtcGetPCHHeapSize is not in " + nvrtc::info().path),
                    HasSubstr("it came with the NVRTC of CUDA 12.8. Install a newer NVRTC")));
}

TEST(NvJitLinkTableTest, IsFoundWhereNvrtcIs) {
  EXPECT_EQ(nvjitlink::info().how, nvrtc::info().how);
  EXPECT_EQ(nvjitlink::info().version, nvrtc::info().version);
}

TEST(NvJitLinkTableTest, HasAllEntryPoints) {
#define CUPRUM_ENTRY_POINT(name, since, result, parameters) EXPECT_NE(nvjitlink::api().name.function, nullptr) << #name;
#include <cuprum/detail/nvjitlink_entry_points.def>
}

TEST(NvJitLinkTableTest, AFailedCallIsDescribed) {
  nvjitlink::Handle handle = nullptr;
  const char* options[] = {"-no-such-option"};
  EXPECT_THAT(error_of<LibraryError>([&] { nvjitlink::call<&nvjitlink::Api::nvJitLinkCreate>(&handle, 1u, options); }),
              HasSubstr("nvJitLink: nvJitLinkCreate failed with code 1 (unrecognized option)"));
  if (handle != nullptr) nvjitlink::call<&nvjitlink::Api::nvJitLinkDestroy>(&handle);  // it is made all the same
}

TEST(NvvmTableTest, SaysWhichIrItTakes) {
  int major = 0;
  int minor = 0;
  int debug_major = 0;
  int debug_minor = 0;
  nvvm::call<&nvvm::Api::nvvmIRVersion>(&major, &minor, &debug_major, &debug_minor);
  EXPECT_GE(major, 2);
  EXPECT_THAT(error_of<LibraryError>(
                  [] { nvvm::call<&nvvm::Api::nvvmCompileProgram>(nullptr, 0, static_cast<const char**>(nullptr)); }),
              HasSubstr("libNVVM: nvvmCompileProgram failed with code 5 (NVVM_ERROR_INVALID_PROGRAM)"));
}

// In a process of its own, which can have another library than the rest.
void expect_elsewhere(const std::function<bool()>& statement) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(_Exit(statement() ? 0 : 1), ::testing::ExitedWithCode(0), "");
}

template <typename E>
bool throws(const std::function<void()>& statement, std::initializer_list<const char*> parts) {
  try {
    statement();
  } catch (const E& error) {
    for (const char* part : parts) {
      if (std::string(error.what()).find(part) == std::string::npos) {
        fprintf(stderr, "'%s' is not in: %s\n", part, error.what());
        return false;
      }
    }
    return true;
  }
  return false;
}

TEST(NvrtcTableDeathTest, AWrongVariableIsReported) {
  expect_elsewhere([] {
    setenv("CUPRUM_NVRTC", "/nowhere/libnvrtc.so", 1);
    return throws<NotSupported>([] { nvrtc::api(); },
                                {"'nvrtc' can't be opened: CUPRUM_NVRTC is '/nowhere/libnvrtc.so'"});
  });
}

TEST(NvrtcTableDeathTest, AFailureIsNotRemembered) {
  expect_elsewhere([] {
    setenv("CUPRUM_NVRTC", "/nowhere/libnvrtc.so", 1);
    const bool refused = throws<NotSupported>([] { nvrtc::api(); }, {});
    unsetenv("CUPRUM_NVRTC");
    return refused && nvrtc::info().version >= 12000;
  });
}

TEST(NvJitLinkTableDeathTest, FunctionsAreFoundUnderTheNamesOfOlderReleases) {
  expect_elsewhere([] {
    setenv("CUPRUM_NVJITLINK", FAKE_NVJITLINK, 1);
    nvjitlink::Handle handle = nullptr;
    const char* options[] = {"-arch=sm_90"};
    nvjitlink::call<&nvjitlink::Api::nvJitLinkCreate>(&handle, 1u, options);
    return nvjitlink::info().version == 0 &&
           throws<LibraryError>([&] { nvjitlink::call<&nvjitlink::Api::nvJitLinkCreate>(&handle, 0u, options); },
                                {"nvJitLinkCreate failed with code 2 (option -arch=sm_NN not given)"});
  });
}

TEST(NvJitLinkTableDeathTest, WhatAnOlderReleaseLacksIsRefusedWhenItIsUsed) {
  expect_elsewhere([] {
    setenv("CUPRUM_NVJITLINK", FAKE_NVJITLINK, 1);
    unsigned version = 0;
    return throws<NotSupported>(
        [&] { nvjitlink::call<&nvjitlink::Api::nvJitLinkVersion>(&version, &version); },
        {"nvJitLinkVersion is not in " FAKE_NVJITLINK, "it came with the nvJitLink of CUDA 12.3"});
  });
}

TEST(NvmlTableDeathTest, IsInitialisedAtTheFirstUse) {
  expect_elsewhere([] {
    setenv("CUPRUM_NVML", FAKE_NVML, 1);
    unsigned count = 0;
    nvml::call<&nvml::Api::nvmlDeviceGetCount_v2>(&count);
    return count == 3 && nvml::info().version == 13000 && nvml::info().how == "CUPRUM_NVML";
  });
}

TEST(NvmlTableDeathTest, ADriverThatIsNotLoadedIsReported) {
  expect_elsewhere([] {
    setenv("CUPRUM_NVML", FAKE_NVML, 1);
    setenv("FAKE_NVML_INIT", "9", 1);
    return throws<LibraryError>([] { nvml::api(); }, {"NVML: nvmlInit_v2 failed with code 9 (Driver Not Loaded), in "});
  });
}

TEST(NvmlTableDeathTest, CodesBecomeExceptions) {
  expect_elsewhere([] {
    setenv("CUPRUM_NVML", FAKE_NVML, 1);
    nvml::Device device = nullptr;
    unsigned value = 0;
    return throws<LibraryError>([&] { nvml::call<&nvml::Api::nvmlDeviceGetHandleByIndex_v2>(0u, &device); },
                                {"nvmlDeviceGetHandleByIndex_v2 failed with code 2 (Something Else)"}) &&
           throws<NotSupported>([&] { nvml::call<&nvml::Api::nvmlDeviceGetPowerUsage>(device, &value); },
                                {"nvmlDeviceGetPowerUsage failed with code 3"}) &&
           throws<NotSupported>([&] { nvml::call<&nvml::Api::nvmlDeviceGetFanSpeed>(device, &value); },
                                {"nvmlDeviceGetFanSpeed is not in " FAKE_NVML, "Install a newer NVML"});
  });
}

TEST(NvmlTableDeathTest, ALibraryThatIsNotNvmlIsRefused) {
  expect_elsewhere([] {
    setenv("CUPRUM_NVML", FAKE_NOTHING, 1);
    return throws<NotSupported>([] { nvml::api(); }, {"is not NVML: it has no nvmlInit_v2"});
  });
}

}  // namespace
}  // namespace cuprum
