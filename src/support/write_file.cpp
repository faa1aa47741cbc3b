#include "support/write_file.hpp"

#include <fcntl.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <cuprum/error.hpp>

#include "support/file_descriptor.hpp"
#include "support/text.hpp"

namespace cuprum::support {
namespace {

[[noreturn]] void refuse(const std::string& path, int error) {
  throw InvalidArgument(text("'", path, "' can't be written: ", std::strerror(error)));
}

// No other thread or process uses this name.
std::string temporary_beside(const std::string& path) {
  static std::atomic<unsigned> count{0};
  return text(path, ".new-", getpid(), '-', count++);
}

// Zero, or what went wrong.
int write_all(const std::string& path, std::string_view bytes) {
  FileDescriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file) return errno;
  while (!bytes.empty()) {
    const ssize_t written = write(file.get(), bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) return errno;
    if (written > 0) bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return close(file.release()) == 0 ? 0 : errno;
}

}  // namespace

void write_file(const std::string& path, std::string_view bytes) {
  const std::string temporary = temporary_beside(path);
  int error = write_all(temporary, bytes);
  if (error == 0 && std::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return;
  unlink(temporary.c_str());
  refuse(path, error);
}

}  // namespace cuprum::support
