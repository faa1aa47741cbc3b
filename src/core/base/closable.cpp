#include "core/base/closable.hpp"

#include "support/text.hpp"

namespace cuprum::detail {

void Access::refuse_closed(const char* what) {
  throw InvalidArgument(support::text("this ", what, " is closed: close() was called on it or on a copy"));
}

}  // namespace cuprum::detail
