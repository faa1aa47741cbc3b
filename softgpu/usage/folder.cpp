#include "softgpu/usage/folder.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>

#include "softgpu/usage/publication.hpp"

namespace softgpu::usage {
namespace {

constexpr mode_t kOthers = S_IRWXG | S_IRWXO;

bool is_ours_alone(const struct stat& status) { return status.st_uid == geteuid() && (status.st_mode & kOthers) == 0; }

// A program works without it, and does not show up in NVML or get checkpointed.
void say_once(const std::string& path, const char* what) {
  static std::atomic_flag said;
  if (!said.test_and_set())
    std::fprintf(stderr,
                 "softgpu: other processes can't see or control this one through %s: %s. SOFTGPU_RUNTIME_DIR names "
                 "another folder\n",
                 path.c_str(), what);
}

}  // namespace

File::~File() {
  if (descriptor_ >= 0) close(descriptor_);
}

File open_folder(const std::string& path, bool make) {
  if (make) mkdir(path.c_str(), S_IRWXU);  // it may be there already; what counts is what is opened
  File folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status;
  if (!folder || fstat(folder.descriptor(), &status) != 0) return File(-1);
  if (is_ours_alone(status)) return folder;
  say_once(path, status.st_uid == geteuid() ? "others may look into it (chmod go-rwx)" : "it is another user's");
  return File(-1);
}

std::string user_folder() {
  char path[64];
  std::snprintf(path, sizeof path, "/run/user/%u", static_cast<unsigned>(geteuid()));
  struct stat status;
  if (lstat(path, &status) == 0 && S_ISDIR(status.st_mode) && is_ours_alone(status))
    return std::string(path) + "/softgpu";
  std::snprintf(path, sizeof path, "/tmp/softgpu-%u", static_cast<unsigned>(geteuid()));
  return path;
}

}  // namespace softgpu::usage
