#include "softgpu/jit/private_folder.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <utility>

namespace softgpu::jit {
namespace {

constexpr mode_t kWritableByOthers = S_IWGRP | S_IWOTH;

bool is_ours_alone(const struct stat& status) {
  return status.st_uid == geteuid() && (status.st_mode & kWritableByOthers) == 0;
}

// Whoever wrote a link decides where it leads. The administrator's are followed.
bool is_link_of_another(const std::string& path) {
  struct stat status;
  return lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode) && status.st_uid != geteuid() &&
         status.st_uid != 0;
}

void say_once(const std::string& path, const char* what) {
  static std::atomic_flag said;
  if (!said.test_and_set())
    std::fprintf(stderr, "softgpu: kernels are not cached in %s: %s. SOFTGPU_CACHE_DIR names another folder\n",
                 path.c_str(), what);
}

OpenFile open_folder(const std::string& path) {
  if (is_link_of_another(path)) {
    say_once(path, "it is another user's link");
    return OpenFile();
  }
  OpenFile folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat status;
  if (!folder || fstat(folder.descriptor(), &status) != 0) return OpenFile();
  if (is_ours_alone(status)) return folder;
  say_once(path, status.st_uid == geteuid() ? "others can write to it (chmod go-w)" : "it is another user's");
  return OpenFile();
}

}  // namespace

OpenFile::~OpenFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

bool OpenFile::read_all(void* to, std::size_t bytes) const {
  for (auto* at = static_cast<char*>(to); bytes > 0;) {
    const ssize_t got = read(descriptor_, at, bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

bool OpenFile::write_all(std::string_view data) const {
  while (!data.empty()) {
    const ssize_t put = write(descriptor_, data.data(), data.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    data.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

PrivateFolder::PrivateFolder(const std::string& path) : folder_(open_folder(path)) {}

PrivateFolder::Found PrivateFolder::open(const std::string& name) const {
  OpenFile file(openat(folder_.descriptor(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status;
  const bool usable =
      file && fstat(file.descriptor(), &status) == 0 && S_ISREG(status.st_mode) && is_ours_alone(status);
  if (!usable) return {};
  return {std::move(file), static_cast<std::size_t>(status.st_size)};
}

OpenFile PrivateFolder::create(const std::string& name) const {
  return OpenFile(
      openat(folder_.descriptor(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
}

bool PrivateFolder::rename(const std::string& from, const std::string& to) const {
  return renameat(folder_.descriptor(), from.c_str(), folder_.descriptor(), to.c_str()) == 0;
}

void PrivateFolder::remove(const std::string& name) const { unlinkat(folder_.descriptor(), name.c_str(), 0); }

}  // namespace softgpu::jit
