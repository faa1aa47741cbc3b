// Strings for interfaces that take them to end at a NUL.
#pragma once

#include <string>
#include <vector>

namespace cuprum::support {

/// The characters of `string`, with a NUL behind them. Throws InvalidArgument for a string with a NUL inside, of which
/// a C interface would leave out the rest without a word; `what` begins the message: "the name of a kernel".
const char* c_string(const std::string& string, const char* what);

/// The same for each of the arguments of a compiler.
std::vector<const char*> c_strings(const std::vector<std::string>& arguments, const char* what);

}  // namespace cuprum::support
