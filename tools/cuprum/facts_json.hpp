// Facts as JSON: for `doctor --json`, and to bring them from the processes that find them out.
#pragma once

#include <string>
#include <vector>

#include "facts.hpp"

namespace cuprum::cli {

/// For DriverFacts, LibraryFacts, CompilerFacts, TourFacts and std::vector<LibraryFacts>. Bytes that are no UTF-8, in
/// the name of a folder say, are replaced.
template <typename T>
std::string encode(const T& facts);
template <typename T>
T decode(const std::string& text);

/// The whole report, indented.
std::string report_json(const Facts& facts, const std::vector<Finding>& findings);

}  // namespace cuprum::cli
