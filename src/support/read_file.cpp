#include "support/read_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <cuprum/error.hpp>

#include "support/c_string.hpp"
#include "support/file_descriptor.hpp"
#include "support/text.hpp"

namespace cuprum::support {
namespace {

[[noreturn]] void refuse(const std::string& path) {
  throw InvalidArgument(text("'", path, "' can't be read: ", std::strerror(errno)));
}

// Of files that the system makes up while they are read, such as those in /proc, it is 0.
std::size_t expected_size(const FileDescriptor& file) {
  struct stat status{};
  return fstat(file.get(), &status) == 0 && status.st_size > 0 ? static_cast<std::size_t>(status.st_size) : 0;
}

}  // namespace

std::string read_file(const std::string& path) {
  const FileDescriptor file(open(c_string(path, "the path of a file"), O_RDONLY | O_CLOEXEC));
  if (!file) refuse(path);
  constexpr std::size_t more = 4096;
  std::string bytes(expected_size(file) + more, '\0');
  std::size_t filled = 0;
  for (;;) {
    if (filled == bytes.size()) bytes.resize(bytes.size() * 2);
    const ssize_t got = read(file.get(), bytes.data() + filled, bytes.size() - filled);
    if (got == 0) break;
    if (got < 0 && errno != EINTR) refuse(path);
    if (got > 0) filled += static_cast<std::size_t>(got);
  }
  bytes.resize(filled);
  return bytes;
}

}  // namespace cuprum::support
