#include "support/environment.hpp"

#include <cstdlib>

namespace cuprum::support {

std::optional<std::string> environment(const char* name) {
  const char* value = secure_getenv(name);  // it decides which libraries are loaded
  if (!value || !*value) return std::nullopt;
  return value;
}

}  // namespace cuprum::support
