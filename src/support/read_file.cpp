#include "support/read_file.hpp"

#include <cerrno>
#include <cstring>
#include <cuprum/error.hpp>
#include <fstream>
#include <sstream>

#include "support/text.hpp"

namespace cuprum::support {

std::string read_file(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  if (file) bytes << file.rdbuf();
  if (!file || errno == EISDIR) {
    throw InvalidArgument(text("'", path, "' can't be read: ", errno ? std::strerror(errno) : "it is empty"));
  }
  return std::move(bytes).str();
}

}  // namespace cuprum::support
