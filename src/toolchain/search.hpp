// Looking for one item of the catalog in all places, in the documented order.
#pragma once

#include <string>
#include <vector>

#include "support/shared_library.hpp"
#include "toolchain/catalog.hpp"
#include "toolchain/surroundings.hpp"

namespace cuprum::toolchain {

using pathfinder::Located;
using pathfinder::Via;

/// What there is, best first and each file once, and what was tried, a line each, for the message when that isn't
/// enough.
struct Findings {
  std::vector<Located> found;
  std::vector<std::string> tried;
};

Findings look_for(const Item& item, const Surroundings& surroundings);

/// Throws NotSupported: what wasn't found, how to get it, every place that was tried.
[[noreturn]] void refuse_missing(const Item& item, const Findings& findings);

struct OpenLibrary {
  Located located;
  support::SharedLibrary library;
};

/// Opens a file that was found. When that fails, `tried` gets the reason and the result is empty. A variable that names
/// a file which can't be opened is an error of the user's: NotSupported.
OpenLibrary open_located(const Item& item, const Located& located, std::vector<std::string>& tried);

/// The first of the findings that can be opened. Throws NotSupported when none can.
OpenLibrary open_first(const Item& item, Findings findings);

}  // namespace cuprum::toolchain
