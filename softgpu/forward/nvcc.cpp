// What `nvcc --cubin` writes carries PTX, too. nvcc leaves the last step to ptxas, whose output then is the program's.
// So this library, which is loaded into both, tells ptxas from within nvcc, and puts the PTX into the file when ptxas
// ends.
//
// Only then: what ptxas writes for others (fatbinary, nvlink, clang) has to be machine code alone.
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>

#include "softgpu/forward/image.hpp"

namespace softgpu::forward {
namespace {

// Set in nvcc and what it starts.
constexpr const char* kVariable = "SOFTGPU_PTXAS_KEEPS_PTX";

struct Files {
  const char* ptx = nullptr;
  const char* cubin = nullptr;
};
Files files;  // of this process, if it is ptxas

std::string contents_of_file(const char* name) {
  std::ifstream file(name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void put_ptx_into_cubin(int status, void*) {
  if (status != 0) return;
  const std::string image = with_ptx(contents_of_file(files.cubin), {contents_of_file(files.ptx)});
  if (!image.empty()) std::ofstream(files.cubin, std::ios::binary | std::ios::trunc) << image;
}

bool asks_for_cubin(int count, char** words) {
  for (int i = 1; i < count; ++i) {
    if (std::strcmp(words[i], "-cubin") == 0 || std::strcmp(words[i], "--cubin") == 0) return true;
  }
  return false;
}

// As nvcc writes the words: ptxas -arch=sm_90 -m64 "kernel.ptx" -o "kernel.cubin"
Files files_of(int count, char** words) {
  Files found;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    if (word == "-o" && i + 1 < count) found.cubin = words[++i];
    if (word.ends_with(".ptx") && !word.starts_with("-")) found.ptx = words[i];
  }
  return found;
}

__attribute__((constructor)) void look_at_the_program(int count, char** words, char**) {
  if (count < 2) return;
  const char* slash = std::strrchr(words[0], '/');
  const std::string_view program = slash ? slash + 1 : words[0];
  if (program == "nvcc") {
    if (asks_for_cubin(count, words))
      setenv(kVariable, "1", 1);
    else
      unsetenv(kVariable);
  }
  if (program == "ptxas" && std::getenv(kVariable)) {
    files = files_of(count, words);
    if (files.ptx && files.cubin) on_exit(put_ptx_into_cubin, nullptr);
  }
}

}  // namespace
}  // namespace softgpu::forward
