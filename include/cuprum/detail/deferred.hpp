// What the driver let go of on a thread of its own, where CUDA may not be used, waits: the library releases it when it
// next waits for work, or a graph ends. Bindings of other languages, whose users see when an object is gone, do it
// earlier.
#pragma once

#include <cuprum/detail/export.hpp>

namespace cuprum::inline CUPRUM_ABI::detail {

/// Releases what waits, unless a driver called this. Costs a load when there is nothing.
CUPRUM_API void release_deferred() noexcept;

/// Has `notice` called when something begins to wait, on a thread of the driver: it must not use CUDA, wait or throw.
/// There is one; null is none.
CUPRUM_API void set_deferred_notice(void (*notice)()) noexcept;

}  // namespace cuprum::inline CUPRUM_ABI::detail
