// Handles that stand for nothing.
#pragma once

namespace cuprum::core {

/// Throws WrongState: that such a handle, "stream" say, was default-constructed or moved from.
[[noreturn]] void refuse_empty(const char* what);

/// The pointer that a handle has; throws as refuse_empty() does when it is null.
template <typename Pointer>
const Pointer& not_empty(const Pointer& pointer, const char* what) {
  if (!pointer) refuse_empty(what);
  return pointer;
}

}  // namespace cuprum::core
