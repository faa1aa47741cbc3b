#include "core/base/closable.hpp"

#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI::detail {

void Access::refuse(const char* what, bool is_closed) {
  if (is_closed)
    throw InvalidArgument(support::text("this ", what, " is closed: close() was called on it or on a copy"));
  throw InvalidArgument(support::text("this ", what, " is empty: nothing was assigned to it, or it was moved from"));
}

}  // namespace cuprum::inline CUPRUM_ABI::detail
