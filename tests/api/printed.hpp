// What operator<< writes of values.
#pragma once

#include <sstream>
#include <string>

namespace cuprum::tests {

std::string printed(const auto& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

}  // namespace cuprum::tests
