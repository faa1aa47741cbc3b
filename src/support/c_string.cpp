#include "support/c_string.hpp"

#include <cuprum/error.hpp>

#include "support/text.hpp"

namespace cuprum::support {

const char* c_string(const std::string& string, const char* what) {
  const std::size_t nul = string.find('\0');
  if (nul == std::string::npos) [[likely]]
    return string.c_str();
  throw InvalidArgument(
      text(what, " has a NUL character after '", string.substr(0, nul), "', where it would end: leave it out"));
}

std::vector<const char*> c_strings(const std::vector<std::string>& arguments, const char* what) {
  std::vector<const char*> pointers;
  pointers.reserve(arguments.size());
  for (const std::string& argument : arguments) pointers.push_back(c_string(argument, what));
  return pointers;
}

}  // namespace cuprum::support
