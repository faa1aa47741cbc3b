// `cuprum exec`: runs a program with softgpu as its CUDA driver. docs/design/exec.md says how that works.
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <cuprum/driver_choice.hpp>
#include <filesystem>
#include <iostream>

#include "command.hpp"

namespace cuprum::cli {
namespace {

namespace fs = std::filesystem;

// As env(1) and others that run programs have them.
constexpr int own_failure = 125, not_executable = 126, not_found = 127;

void put_first(const char* variable, const std::string& value) {
  const char* others = std::getenv(variable);
  setenv(variable, (others && *others ? value + ":" + others : value).c_str(), 1);
}

void put_last(const char* variable, const std::string& value) {
  const char* others = std::getenv(variable);
  setenv(variable, (others && *others ? others + (":" + value) : value).c_str(), 1);
}

// What has to be there, in the folder that has to come first.
fs::path softgpu_folder() {
  const fs::path driver = driver::softgpu_path();
  const fs::path folder = driver.parent_path();
  for (const fs::path& file : {driver, folder / "libsoftgpu-forward.so"}) {
    if (!fs::exists(file)) {
      throw std::runtime_error("there is no " + file.string() +
                               ". Build Cuprum with -DCUPRUM_SOFTGPU=ON, or set CUPRUM_SOFTGPU_PATH");
    }
  }
  if (folder.string().find_first_of(" :;") != std::string::npos) {
    throw std::runtime_error("softgpu's folder is '" + folder.string() +
                             "', and the loader takes no blanks, colons and semicolons in names. Install it elsewhere");
  }
  return folder;
}

int run_exec(const Arguments& arguments) {
  if (arguments.operands.empty()) throw UsageError("there is no program to run");
  try {
    const fs::path folder = softgpu_folder();
    put_first("LD_LIBRARY_PATH", folder.string());
    // Behind what the user preloads: a sanitizer's library insists on being the first.
    put_last("LD_PRELOAD", (folder / "libsoftgpu-forward.so").string());
    setenv("CUPRUM_DRIVER", "softgpu", 1);
  } catch (const std::exception& error) {
    std::cerr << "cuprum exec: " << error.what() << '\n';
    return own_failure;
  }
  std::vector<char*> words;
  for (const std::string& word : arguments.operands) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execvp(words.front(), words.data());
  const int error = errno;
  std::cerr << "cuprum exec: " << words.front() << ": " << std::strerror(error) << '\n';
  return error == ENOENT ? not_found : not_executable;
}

}  // namespace

const Verb exec_verb = {
    .name = "exec",
    .operands = "[--] PROGRAM [ARGUMENT...]",
    .summary = "run a program with softgpu as its CUDA driver",
    .description =
        {"Runs the program, and what it starts in turn, with softgpu where it expects NVIDIA's libcuda.so.1 and "
         "libnvidia-ml.so.1, however "
         "it "
         "opens that. Programs that compile to machine code work, too: their NVRTC and nvJitLink, linked to or opened "
         "at "
         "run time, and nvcc --cubin give images that carry the PTX from which the machine code was made, and softgpu "
         "takes that.",
         "Programs must use the CUDA driver API. Calls of NVIDIA's CUDA runtime (cudart) fail with error 500, because "
         "it "
         "asks the driver for private tables that softgpu doesn't offer; programs that are linked statically or change "
         "their user are out of reach, too. SOFTGPU_DEVICES and its like say what the device is to be."},
    .options = {},
    .exit_codes = {{"125", "softgpu is not there, or the command line made no sense"},
                   {"126", "the program is there, but can't be run"},
                   {"127", "there is no such program"},
                   {"other", "the program's own"}},
    .examples = {"cuprum exec -- ./program", "SOFTGPU_DEVICES=2 cuprum exec -- python program.py --verbose"},
    .usage_exit_code = own_failure,
    .run = run_exec,
};

}  // namespace cuprum::cli
