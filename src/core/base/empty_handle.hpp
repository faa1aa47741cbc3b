// Handles that stand for nothing.
#pragma once

namespace cuprum::core {

/// Throws WrongState: that such a handle, "stream" say, was default-constructed or moved from.
[[noreturn]] void refuse_empty(const char* what);

}  // namespace cuprum::core
