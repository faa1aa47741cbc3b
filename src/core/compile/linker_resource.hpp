#pragma once

#include <memory>
#include <vector>

#include "core/code/object_code_resource.hpp"
#include "core/compile/link_state.hpp"
#include "support/counted.hpp"

namespace cuprum::detail {

/// What code was linked from, and how.
struct LinkedFrom {
  std::vector<std::shared_ptr<const Code>> codes;
  LinkerOptions options;
};

struct LinkerResource : support::Counted<LinkerResource> {
  std::shared_ptr<const LinkedFrom> inputs;
  CompilerBackendType backend;
  std::unique_ptr<core::LinkState> state;
  bool is_linked = false;  ///< the state is used up; another link needs another
};

}  // namespace cuprum::detail
