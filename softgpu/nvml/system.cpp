// What is not of one device: versions, and the names of processes.
#include <cstdio>
#include <fstream>

#include "softgpu/nvml/library.hpp"

using namespace softgpu::nvml;

namespace {

// The release of NVIDIA's driver that came with the CUDA whose interface softgpu offers, then softgpu's own version:
// programs read the first number to know what they may ask for.
std::string driver_version(int cuda_version) {
  struct Row {
    int cuda, driver;
  };
  static constexpr Row kRows[] = {{13000, 580}, {12090, 575}, {12080, 570}, {12060, 560}, {12050, 555},
                                  {12040, 550}, {12030, 545}, {12020, 535}, {12010, 530}, {12000, 525}};
  int driver = kRows[0].driver;
  for (const Row& row : kRows)
    if (cuda_version >= row.cuda) {
      driver = row.driver;
      break;
    }
  return std::to_string(driver) + "." SOFTGPU_NVML_VERSION;
}

// As the process was called; of a process that wrote nothing there, the kernel's name for it.
std::string process_name(unsigned pid) {
  const std::string folder = "/proc/" + std::to_string(pid);
  std::string name;
  std::ifstream command(folder + "/cmdline");
  std::getline(command, name, '\0');
  if (name.empty()) {
    std::ifstream kernel_name(folder + "/comm");
    std::getline(kernel_name, name);
  }
  return name;
}

}  // namespace

SOFTGPU_NVML nvmlSystemGetDriverVersion(char* version, unsigned length) {
  return with_library(
      [&](const Library& found) { return give_text(driver_version(found.config.cuda_version), version, length); });
}

// The release of CUDA before the driver's.
SOFTGPU_NVML nvmlSystemGetNVMLVersion(char* version, unsigned length) {
  return with_library([&](const Library& found) {
    const int cuda = found.config.cuda_version;
    return give_text(std::to_string(cuda / 1000) + "." + driver_version(cuda), version, length);
  });
}

SOFTGPU_NVML nvmlSystemGetCudaDriverVersion_v2(int* version) {
  return with_library([&](const Library& found) {
    if (version == nullptr) return Return::invalid_argument;
    *version = found.config.cuda_version;
    return Return::success;
  });
}
SOFTGPU_NVML nvmlSystemGetCudaDriverVersion(int* version) { return nvmlSystemGetCudaDriverVersion_v2(version); }

SOFTGPU_NVML nvmlSystemGetDriverBranch(DriverBranch* info, unsigned length) {
  return with_library([&](const Library&) {
    if (info == nullptr) return Return::invalid_argument;
    if (info->version != version_of<DriverBranch>(1)) return Return::argument_version_mismatch;
    return give_text("softgpu", info->branch, length < sizeof info->branch ? length : sizeof info->branch);
  });
}

SOFTGPU_NVML nvmlSystemGetProcessName(unsigned pid, char* name, unsigned length) {
  return with_library([&](const Library&) {
    if (name == nullptr || length == 0) return Return::invalid_argument;
    const std::string found = process_name(pid);
    if (found.empty()) return Return::not_found;
    return give_text(found.substr(0, length - 1), name, length);
  });
}

// Cards for synchronising displays, S-class units and devices that are kept from use: none.
SOFTGPU_NVML nvmlSystemGetHicVersion(unsigned* count, void*) {
  return with_library([&](const Library&) {
    if (count == nullptr) return Return::invalid_argument;
    *count = 0;
    return Return::success;
  });
}
SOFTGPU_NVML nvmlUnitGetCount(unsigned* count) { return nvmlSystemGetHicVersion(count, nullptr); }
SOFTGPU_NVML nvmlGetExcludedDeviceCount(unsigned* count) { return nvmlSystemGetHicVersion(count, nullptr); }
