#include "driver/open.hpp"

#include <cstdio>
#include <filesystem>

#include "driver/driver_failure.hpp"
#include "driver/error_log.hpp"
#include "driver/fill_api.hpp"
#include "support/environment.hpp"
#include "support/shared_library.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI::driver {
namespace {

using support::SharedLibrary;
using support::text;
namespace fs = std::filesystem;

constexpr const char* softgpu_below_our_folder = "cuprum/softgpu/libcuda.so.1";

// The loader can be made to find softgpu under the name libcuda.so.1 (LD_LIBRARY_PATH, or because it is already open in
// this process), which is how other programs use it. That is not NVIDIA's driver.
bool is_softgpu(const std::string& path) {
  std::error_code error;
  if (fs::equivalent(path, softgpu_path(), error) && !error) return true;
  return path.ends_with(softgpu_below_our_folder);
}

OpenDriver initialise(Choice kind, const SharedLibrary& library) {
  OpenDriver driver{{kind, library.path(), 0}, {}};
  fill_api(driver.api, library, driver.info.path);
  auto check = [&](CUresult code, const char* call) {
    if (code == CUDA_SUCCESS) return;
    const char* name = "unknown code";
    const char* description = "";
    driver.api.cuGetErrorName(code, &name);
    driver.api.cuGetErrorString(code, &description);
    throw DriverFailure({code, name, description, call, text("initialising the CUDA driver ", driver.info.path),
                         logged_reason(driver.api, code, call)});
  };
  check(driver.api.cuInit(0), "cuInit");
  check(driver.api.cuDriverGetVersion(&driver.info.version), "cuDriverGetVersion");
  return driver;
}

// `advice` ends the message when it is not there; `auto` follows it by itself and says something else.
OpenDriver open_nvidia(const char* advice) {
  SharedLibrary library = SharedLibrary::open("libcuda.so.1");
  if (!library) {
    throw NotSupported(text("NVIDIA's driver is not installed (", library.error(), ")", advice));
  }
  if (is_softgpu(library.path())) {
    throw NotSupported(
        text("the libcuda.so.1 that the loader finds is softgpu (", library.path(),
             "), not NVIDIA's driver: take its folder out of LD_LIBRARY_PATH or use CUPRUM_DRIVER=softgpu"));
  }
  return initialise(Choice::nvidia, library);
}

OpenDriver open_softgpu() {
  const std::string path = softgpu_path();
  std::error_code error;
  if (!fs::exists(path, error)) {
    throw NotSupported(text("softgpu is not installed: there is no ", path,
                            ". Build Cuprum with -DCUPRUM_SOFTGPU=ON, or set CUPRUM_SOFTGPU_PATH to its libcuda.so.1"));
  }
  SharedLibrary library = SharedLibrary::open(path);
  if (!library) throw NotSupported(text("softgpu can't be opened: ", library.error()));
  return initialise(Choice::softgpu, library);
}

// Why NVIDIA's driver can't serve, or the driver.
struct Attempt {
  std::optional<OpenDriver> driver;
  std::string obstacle;
};

Attempt try_nvidia() {
  try {
    OpenDriver driver = open_nvidia("");
    int devices = 0;
    if (driver.api.cuDeviceGetCount(&devices) == CUDA_SUCCESS && devices > 0) return {driver, {}};
    return {std::nullopt, text("NVIDIA's driver ", driver.info.path, " shows no device")};
  } catch (const Error& error) {
    return {std::nullopt, error.what()};
  }
}

OpenDriver open_automatically() {
  Attempt nvidia = try_nvidia();
  if (nvidia.driver) return *nvidia.driver;
  try {
    OpenDriver driver = open_softgpu();
    std::fprintf(
        stderr,
        "cuprum: using softgpu, the CUDA device in software: %s. CUPRUM_DRIVER=softgpu chooses it without this "
        "message.\n",
        nvidia.obstacle.c_str());
    return driver;
  } catch (const Error& error) {
    throw NotSupported(
        text("there is no CUDA driver to use.\n  NVIDIA: ", nvidia.obstacle, "\n  softgpu: ", error.what()));
  }
}

}  // namespace

std::string softgpu_path() {
  if (auto path = support::environment("CUPRUM_SOFTGPU_PATH")) {
    std::error_code error;
    return fs::is_directory(*path, error) ? (fs::path(*path) / "libcuda.so.1").string() : *path;
  }
  const fs::path folder = support::folder_of_code(reinterpret_cast<const void*>(&open_softgpu));
  return (folder / softgpu_below_our_folder).string();
}

Choice parse_choice(std::string_view word) {
  if (word == "auto") return Choice::automatic;
  if (word == "nvidia") return Choice::nvidia;
  if (word == "softgpu") return Choice::softgpu;
  throw InvalidArgument(text("CUPRUM_DRIVER is '", word, "'; it can be auto, nvidia or softgpu"));
}

Choice choice_from_environment() {
  auto word = support::environment("CUPRUM_DRIVER");
  return word ? parse_choice(*word) : Choice::automatic;
}

OpenDriver open_driver(Choice choice) {
  switch (choice) {
    case Choice::nvidia:
      return open_nvidia(". It comes with the GPU's display driver; CUPRUM_DRIVER=softgpu runs without a GPU");
    case Choice::softgpu: return open_softgpu();
    case Choice::automatic: break;
  }
  return open_automatically();
}

}  // namespace cuprum::inline CUPRUM_ABI::driver
