// The raw driver API and the choice of a driver.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cuprum/driver.hpp>

#include "api/fixture.hpp"

namespace cuprum::tests {
namespace {

using driver::Api;
using ::testing::AllOf;
using ::testing::HasSubstr;

class DriverTest : public ApiTest {};

TEST_F(DriverTest, HasTheFunctionsOfTheDriver) {
  int count = 0;
  EXPECT_EQ(driver::api().cuDeviceGetCount(&count), CUDA_SUCCESS);
  EXPECT_EQ(count, Device::count());
}

TEST_F(DriverTest, CheckedCallsReturnNothingWhenTheySucceed) {
  std::size_t free = 0;
  std::size_t total = 0;
  driver::call<&Api::cuMemGetInfo>(&free, &total);
  EXPECT_GT(total, 0u);
  EXPECT_LE(free, total);
}

TEST_F(DriverTest, CheckedCallsThrowWithTheDriversWords) {
  try {
    CUdevice none = 0;
    driver::call<&Api::cuDeviceGet>(driver::Doing{[] { return "looking for device 1000"; }}, &none, 1000);
    FAIL() << "no exception";
  } catch (const DriverError& error) {
    EXPECT_EQ(error.code(), CUDA_ERROR_INVALID_DEVICE);
    EXPECT_EQ(error.name(), "CUDA_ERROR_INVALID_DEVICE");
    EXPECT_EQ(error.call(), "cuDeviceGet");
    EXPECT_EQ(error.doing(), "looking for device 1000");
    EXPECT_NE(error.description(), "");
    EXPECT_EQ(std::string(error.what()),
              "looking for device 1000: cuDeviceGet failed with CUDA_ERROR_INVALID_DEVICE (101): " +
                  error.description() + (error.reason().empty() ? "" : ". The driver says: " + error.reason()));
  }
}

TEST_F(DriverTest, TellsWhichOneIsInUse) {
  const driver::Info info = driver::info();
  EXPECT_NE(info.kind, driver::Choice::automatic);
  EXPECT_THAT(info.path, HasSubstr("libcuda.so"));
  EXPECT_GE(info.version, 12000);
}

TEST_F(DriverTest, CanNotBeChosenOnceInUse) {
  EXPECT_THAT(error_of<InvalidArgument>([] { driver::select(driver::Choice::softgpu); }),
              AllOf(HasSubstr("can't be chosen any more"), HasSubstr(driver::info().path)));
}

TEST_F(DriverTest, AChildOfAForkIsToldThatItCanNotUseCuda) {
  Stream stream = device.create_stream();  // its destructor must do no harm in the child
  const pid_t child = fork();
  if (child == 0) {
    try {
      stream.sync();
    } catch (const NotSupported& error) {
      const bool clear =
          std::string(error.what()).find("forked after its parent had initialised CUDA") != std::string::npos;
      stream.close();
      std::_Exit(clear ? 0 : 2);
    } catch (...) {
      std::_Exit(3);
    }
    std::_Exit(4);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  stream.sync();
}

}  // namespace
}  // namespace cuprum::tests
