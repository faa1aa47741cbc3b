#include "gather.hpp"

#include <unistd.h>

#include <cstdlib>
#include <cuprum/pathfinder.hpp>
#include <cuprum/version.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace cuprum::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* telling_variables[] = {
    "CUPRUM_DRIVER",
    "CUPRUM_SOFTGPU_PATH",
    "CUPRUM_NVRTC",
    "CUPRUM_NVJITLINK",
    "CUPRUM_NVVM",
    "CUPRUM_NVML",
    "CUPRUM_LIBDEVICE",
    "CUDA_PATH",
    "CUDA_HOME",
    "CONDA_PREFIX",
    "VIRTUAL_ENV",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "CUDA_VISIBLE_DEVICES",
    "SOFTGPU_CONFIG",
    "SOFTGPU_DEVICES",
    "SOFTGPU_COMPUTE_CAPABILITY",
    "SOFTGPU_CACHE_DIR",
    "CUPRUM_CACHE_DIR",
};

std::map<std::string, std::string> set_variables() {
  std::map<std::string, std::string> values;
  for (const char* name : telling_variables) {
    if (const char* value = std::getenv(name)) values[name] = value;
  }
  return values;
}

// "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.82.07  Release Build …": the first word that is a
// version.
std::string kernel_module_version() {
  std::ifstream file("/proc/driver/nvidia/version");
  std::string line;
  std::getline(file, line);
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    if (word.find_first_not_of("0123456789.") == std::string::npos && word.find('.') != std::string::npos) return word;
  }
  return {};
}

std::vector<std::string> forbidden_device_files() {
  std::vector<std::string> files;
  std::error_code error;
  for (auto entry = fs::directory_iterator("/dev", error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with("nvidia") || name.find("cap") != std::string::npos) continue;
    if (entry->is_character_file(error) && access(entry->path().c_str(), R_OK | W_OK) != 0) {
      files.push_back(entry->path().string());
    }
  }
  return files;
}

std::string find_libdevice() {
  const auto found = pathfinder::locate_all(pathfinder::Kind::bitcode_lib, "device");
  return found.empty() ? std::string() : found.front().path;
}

}  // namespace

Facts gather_facts() {
  Facts facts;
  facts.version = version();
  facts.variables = set_variables();
  facts.kernel_module = kernel_module_version();
  facts.forbidden_devices = forbidden_device_files();
  facts.nvidia = gather_nvidia_driver();
  facts.softgpu = gather_softgpu();
  facts.nvrtc = gather_nvrtc();
  facts.libraries = gather_libraries();
  note_linker_path(facts);
  facts.headers = gather_headers();
  facts.libdevice = find_libdevice();
  facts.caches = gather_caches();
  facts.tour = run_tour();
  return facts;
}

}  // namespace cuprum::cli
