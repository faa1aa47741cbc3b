#include "support/write_file.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cuprum/error.hpp>

#include "support/c_string.hpp"
#include "support/file_descriptor.hpp"
#include "support/text.hpp"

namespace cuprum::support {
namespace {

struct NewFile {
  std::string path = {};
  FileDescriptor file = {};
  int error = 0;            // why there is none
  bool is_refused = false;  // the folder takes none of this user
};

// A user may write to a file in a folder in which that user can't make one, or can't replace another's.
bool is_refusal(int error) { return error == EACCES || error == EPERM; }

// A name that nobody uses. It is drawn: processes in different containers may have the same number and write to the
// same folder. It is not made of the other name, which may be as long as names can be.
NewFile create_beside(const std::string& path) {
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  for (;;) {
    std::uint64_t drawn = 0;
    if (getrandom(&drawn, sizeof drawn, 0) != sizeof drawn) return {.error = errno};
    NewFile made{text(folder, ".cuprum-new-", std::hex, drawn), {}};
    made.file = FileDescriptor(open(made.path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (made.file) return made;
    if (errno != EEXIST) return {.error = errno, .is_refused = is_refusal(errno)};
  }
}

// Zero, or what went wrong.
int write_all(FileDescriptor& file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file.get(), bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) return errno;
    if (written > 0) bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return close(file.release()) == 0 ? 0 : errno;
}

// Into what has that name. Zero, or what went wrong.
int write_into(const std::string& path, std::string_view bytes) {
  FileDescriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666));
  return file ? write_all(file, bytes) : errno;
}

int replace_file(const std::string& path, std::string_view bytes, mode_t mode) {
  NewFile temporary = create_beside(path);
  if (!temporary.file) return temporary.is_refused ? write_into(path, bytes) : temporary.error;
  // Some file systems, such as FAT, give all files the same rights.
  const bool has_rights = mode == 0 || fchmod(temporary.file.get(), mode) == 0 || errno == EPERM || errno == EOPNOTSUPP;
  int error = has_rights ? write_all(temporary.file, bytes) : errno;
  const bool is_written = error == 0;
  if (is_written && std::rename(temporary.path.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) unlink(temporary.path.c_str());
  return is_written && is_refusal(error) ? write_into(path, bytes) : error;
}

}  // namespace

int try_write_file(const std::string& path, std::string_view bytes) {
  (void)c_string(path, "the path of a file");  // the calls below would take a part of it
  struct stat there = {};
  if (lstat(path.c_str(), &there) != 0) return errno == ENOENT ? replace_file(path, bytes, 0) : errno;
  if (!S_ISREG(there.st_mode)) return write_into(path, bytes);
  return replace_file(path, bytes, there.st_mode & 07777);
}

void write_file(const std::string& path, std::string_view bytes) {
  if (const int error = try_write_file(path, bytes))
    throw InvalidArgument(text("'", path, "' can't be written: ", std::strerror(error)));
}

}  // namespace cuprum::support
