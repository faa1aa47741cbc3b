#pragma once

#include <memory>
#include <thread>

#include "core/compile/link_state.hpp"
#include "core/compile/linked_from.hpp"
#include "support/counted.hpp"

namespace cuprum::inline CUPRUM_ABI::detail {

struct LinkerResource : support::Counted<LinkerResource> {
  LinkerResource(std::shared_ptr<const core::LinkedFrom> the_inputs, CompilerBackendType the_backend,
                 std::unique_ptr<core::LinkState> the_state) noexcept
      : inputs(std::move(the_inputs)), backend(the_backend), state(std::move(the_state)) {}

  std::uint64_t number() const noexcept { return 0; }

  std::shared_ptr<const core::LinkedFrom> inputs;
  CompilerBackendType backend;
  std::unique_ptr<core::LinkState> state;
  bool is_linked = false;                               ///< the state is used up; another link needs another
  std::thread::id thread = std::this_thread::get_id();  ///< that made the state
};

}  // namespace cuprum::inline CUPRUM_ABI::detail
