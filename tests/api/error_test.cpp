// The kinds of errors, and that what is thrown can be caught as what the standard library has for it.
#include <cstdlib>
#include <cuprum/driver.hpp>
#include <new>
#include <stdexcept>

#include "api/child_process.hpp"
#include "api/failing_api.hpp"
#include "api/fixture.hpp"
#include "api/gate.hpp"

namespace cuprum::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::StrEq;

class ErrorTest : public ApiTest {
 protected:
  Stream stream = device.create_stream();
};

/// The text of what is thrown, caught as Base; fails the test when it can't be caught as a std::exception, or says
/// something else as such.
template <typename Base, typename Statement>
std::string caught_as(Statement&& statement) {
  std::string text;
  try {
    statement();
    ADD_FAILURE() << "no exception";
  } catch (const std::exception& error) {
    text = error.what();
    const auto* base = dynamic_cast<const Base*>(&error);
    EXPECT_EQ(base ? base->what() : "", text);
  }
  EXPECT_NE(error_of<Base>(statement), "");  // not the same words: other programs take and free memory meanwhile
  return text;
}

TEST_F(ErrorTest, ADriverErrorIsAnErrorAndAStandardException) {
  FailingApi driver;
  const auto fail = [&] {
    driver.fail_next("cuStreamSynchronize", CUDA_ERROR_ILLEGAL_ADDRESS);
    stream.sync();
  };
  EXPECT_THAT(caught_as<DriverError>(fail), HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"));
  EXPECT_THAT(caught_as<Error>(fail), HasSubstr("waiting for stream"));
  EXPECT_THAT(caught_as<std::runtime_error>(fail), HasSubstr("cuStreamSynchronize"));
}

TEST_F(ErrorTest, OutOfMemoryIsABadAlloc) {
  FailingApi driver;
  const auto fail = [&] {
    driver.fail_next(device.properties().memory_pools_supported() ? "cuMemAllocFromPoolAsync" : "cuMemAlloc",
                     CUDA_ERROR_OUT_OF_MEMORY);
    device.allocate(64, stream);
  };
  EXPECT_THAT(caught_as<OutOfMemory>(fail), HasSubstr("allocating 64 bytes"));
  EXPECT_THAT(caught_as<DriverError>(fail), HasSubstr("CUDA_ERROR_OUT_OF_MEMORY"));
  EXPECT_THAT(caught_as<std::bad_alloc>(fail), HasSubstr("allocating 64 bytes"));
  try {
    fail();
    FAIL() << "no exception";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("allocating 64 bytes"));
  }
}

TEST_F(ErrorTest, NotSupportedKeepsItsCode) {
  FailingApi driver;
  driver.fail_next("cuStreamGetId", CUDA_ERROR_NOT_SUPPORTED);
  try {
    (void)stream.id();
    FAIL() << "no exception";
  } catch (const NotSupported& error) {
    EXPECT_EQ(error.code(), CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_THAT(error.what(), HasSubstr("CUDA_ERROR_NOT_SUPPORTED"));
  }
  EXPECT_EQ(NotSupported("no such device").code(), std::nullopt);
}

TEST_F(ErrorTest, AWrongValueAWrongTypeAndAWrongStateAreToldApart) {
  const Kernel scale = compile(scale_source, "scale");
  Buffer data = device.allocate(64, stream);
  const LaunchConfig config{.grid = 1, .block = 1};
  const auto is = [](auto&& statement) -> std::string {
    try {
      statement();
    } catch (const WrongType&) {
      return "type";
    } catch (const WrongState&) {
      return "state";
    } catch (const InvalidArgument&) {
      return "value";
    }
    return "none";
  };
  EXPECT_EQ(is([&] { launch(stream, config, scale, data, 1.0, std::size_t{1}); }), "type");
  EXPECT_EQ(is([&] { launch(stream, config, scale, data); }), "type");
  EXPECT_EQ(is([&] { launch(stream, {.grid = 0, .block = 1}, scale, data, 1.0f, std::size_t{1}); }), "value");
  EXPECT_EQ(is([&] { (void)data.slice(60, 8); }), "value");
  EXPECT_EQ(is([&] { (void)data.as_span<int>(); }), "state");
  EXPECT_EQ(is([&] { (void)(stream.record() - stream.record()); }), "state");
  data.close();
  EXPECT_EQ(is([&] { (void)data.size(); }), "state");
  EXPECT_EQ(is([&] { Stream().sync(); }), "state");
  EXPECT_THROW(Stream().sync(), std::invalid_argument);
}

TEST_F(ErrorTest, DISABLED_InAChildWhoseCompilerFails) {
  const Kernel scale = compile(scale_source, "scale");
  const Buffer data = device.allocate(64, stream);
  try {
    launch(stream, {.grid = 1, .block = 16}, scale, data, 1.0f, std::size_t{16});
    FAIL() << "no exception";
  } catch (const DriverError& error) {
    EXPECT_EQ(error.code(), CUDA_ERROR_INVALID_PTX);
    EXPECT_THAT(error.reason(), HasSubstr("kernel 'scale' can't be compiled: pass make-gangs fails"));
    EXPECT_THAT(error.what(), HasSubstr(error.reason()));
  }
}

TEST_F(ErrorTest, AFailureOfTheCompilerAtLaunchIsInTheMessage) {
  if (!driver::api().cuLogsDumpToMemory.function) GTEST_SKIP() << "the driver keeps no log";
  if (driver::info().kind != driver::Choice::softgpu) GTEST_SKIP() << "softgpu compiles at the first launch";
  ChildProcess child("ErrorTest.DISABLED_InAChildWhoseCompilerFails",
                     {"SOFTGPU_FAILING_PASS=make-gangs", "SOFTGPU_CACHE_SIZE=0"});
  EXPECT_TRUE(child.passed());
}

/// In a process of its own: its context is of no use any more.
TEST_F(ErrorTest, DISABLED_InAChildWhoseKernelFaults) {
  const Kernel faulty = compile("extern \"C\" __global__ void faulty(int* p) { *p = 1; }", "faulty");
  const Event event = device.create_event();
  Gate gate(stream);  // behind a fault no event is recorded any more
  launch(stream, LaunchConfig{.grid = 1, .block = 1}, faulty, DevicePointer{0});
  stream.record(event);
  gate.open();
  for (const std::function<void()>& wait : std::initializer_list<std::function<void()>>{
           [&] { stream.sync(); }, [&] { event.sync(); }, [&] { device.sync(); }}) {
    try {
      wait();
      ADD_FAILURE() << "nothing was thrown";
    } catch (const DriverError& error) {
      EXPECT_EQ(error.code(), CUDA_ERROR_ILLEGAL_ADDRESS);
      EXPECT_THAT(error.reason(), AllOf(HasSubstr("kernel faulty"), HasSubstr("of the PTX")));
      EXPECT_THAT(error.what(), HasSubstr(error.reason()));
    }
  }
  std::_Exit(HasFailure() ? 1 : 0);  // what ends a test would wait for the device
}

TEST_F(ErrorTest, WhoWaitsIsToldWhichKernelFaulted) {
  if (!driver::api().cuLogsDumpToMemory.function) GTEST_SKIP() << "the driver keeps no log";
  if (driver::info().kind != driver::Choice::softgpu) GTEST_SKIP() << "GPUs don't say more than that there was a fault";
  ChildProcess child("ErrorTest.DISABLED_InAChildWhoseKernelFaults");
  EXPECT_TRUE(child.passed());
}

TEST_F(ErrorTest, DamagedCodeIsRefusedByTheLinkerAsByEverybody) {
  std::string bytes = Program("__device__ int f() { return 1; }", {.relocatable_device_code = true})
                          .compile(Target::cubin, {.cache = nullptr})
                          .to_bytes();
  const std::size_t elf = bytes.find(
      "\x7f"
      "ELF");
  ASSERT_NE(elf, std::string::npos);
  constexpr std::size_t section_table = 40;  // where its address is in the header
  bytes.replace(elf + section_table, 8, 8, '\x7f');
  const ObjectCode damaged = ObjectCode::from_bytes(bytes);
  EXPECT_THAT(error_of<InvalidArgument>([&] { Linker({damaged}).link(Target::cubin); }), HasSubstr("damaged"));
}

}  // namespace
}  // namespace cuprum::tests
