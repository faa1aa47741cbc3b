#include "core/base/closable.hpp"

#include "core/base/deferred.hpp"
#include "core/base/empty_handle.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI::detail {

void SharedState::close() noexcept {
  if (is_permanent_) return;
  if (keepers_.fetch_or(closed_mark, std::memory_order_acq_rel) == 0) give_back();
}

// The state itself goes when both the handles and the resource are gone: the one who gives the resource back may still
// be at it when the last handle goes.
void SharedState::give_back() noexcept {
  const auto give_back_now = [this] {
    release();
    drop_part();
  };
  if (core::is_inside_host_function() && core::defer_call(give_back_now)) [[unlikely]]
    return;
  give_back_now();
}

void SharedState::last_handle_is_gone() noexcept {
  const bool is_known_to_others =
      keepers_.load(std::memory_order_acquire) != 0 || parts_.load(std::memory_order_acquire) != 2;
  if (!is_known_to_others && !core::is_inside_host_function()) {
    release();
    delete this;
    return;
  }
  close();
  drop_part();
}

void SharedState::drop_part() noexcept {
  if (parts_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

void Access::refuse(const char* what, bool is_closed) {
  if (is_closed) throw WrongState(support::text("this ", what, " is closed: close() was called on it or on a copy"));
  core::refuse_empty(what);
}

}  // namespace cuprum::inline CUPRUM_ABI::detail

namespace cuprum::core {

void refuse_empty(const char* what) {
  throw WrongState(support::text("this ", what, " is empty: nothing was assigned to it, or it was moved from"));
}

}  // namespace cuprum::core
