// When two handles stand for the same CUDA object.
#pragma once

#include <cstdint>
#include <cuprum/detail/shared.hpp>

namespace cuprum::core {

/// For hashing: the number of the CUDA object, also of a handle that was closed since. 0 for an empty handle.
inline std::uint64_t lasting_number(const detail::SharedState* state) noexcept {
  return state ? state->kept_handle() : 0;
}

/// A closed handle stands for nothing any more, and the driver may use the number again: it equals its copies only.
inline bool are_same(const detail::SharedState* a, const detail::SharedState* b) noexcept {
  if (a == b) return true;
  return a && b && a->kept_handle() == b->kept_handle() && !a->is_closed() && !b->is_closed();
}

}  // namespace cuprum::core
