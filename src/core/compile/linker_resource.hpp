#pragma once

#include <memory>

#include "core/compile/link_state.hpp"
#include "core/compile/linked_from.hpp"
#include "support/counted.hpp"

namespace cuprum::inline CUPRUM_ABI::detail {

struct LinkerResource : support::Counted<LinkerResource> {
  std::shared_ptr<const core::LinkedFrom> inputs;
  CompilerBackendType backend;
  std::unique_ptr<core::LinkState> state;
  bool is_linked = false;  ///< the state is used up; another link needs another
};

}  // namespace cuprum::inline CUPRUM_ABI::detail
