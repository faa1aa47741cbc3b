#include "support/write_file.hpp"

#include <fcntl.h>
#include <sys/random.h>

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
  int error = 0;  // why there is none
};

// A name that nobody uses. It is drawn: processes in different containers may have the same number and write to the
// same folder.
NewFile create_beside(const std::string& path) {
  for (;;) {
    std::uint64_t drawn = 0;
    if (getrandom(&drawn, sizeof drawn, 0) != sizeof drawn) return {.error = errno};
    NewFile made{text(path, ".new-", std::hex, drawn), {}};
    made.file = FileDescriptor(open(made.path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (made.file) return made;
    if (errno != EEXIST) return {.error = errno};
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

}  // namespace

int try_write_file(const std::string& path, std::string_view bytes) {
  (void)c_string(path, "the path of a file");  // the calls below would take a part of it
  NewFile temporary = create_beside(path);
  if (temporary.error != 0) return temporary.error;
  int error = write_all(temporary.file, bytes);
  if (error == 0 && std::rename(temporary.path.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) unlink(temporary.path.c_str());
  return error;
}

void write_file(const std::string& path, std::string_view bytes) {
  if (const int error = try_write_file(path, bytes))
    throw InvalidArgument(text("'", path, "' can't be written: ", std::strerror(error)));
}

}  // namespace cuprum::support
