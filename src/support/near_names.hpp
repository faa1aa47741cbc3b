// Near misses, for messages about names that don't exist.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cuprum::support {

/// How many letters have to be inserted, left out, replaced or swapped with their neighbour.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The one that a typing error was most likely meant to be; empty when none is close.
std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace cuprum::support
