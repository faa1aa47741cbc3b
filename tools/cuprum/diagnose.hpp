// Judging the facts: what is wrong or surprising, the worst first.
#pragma once

#include <vector>

#include "facts.hpp"

namespace cuprum::cli {

std::vector<Finding> diagnose(const Facts& facts);

/// The driver that libcuprum takes here; null when it would take none.
const DriverFacts* driver_in_use(const Facts& facts);

}  // namespace cuprum::cli
