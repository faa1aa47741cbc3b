// Recording an event for the Python package, which records often and needs no second handle of the event.
#pragma once

#include <cuprum/detail/export.hpp>
#include <cuprum/event.hpp>
#include <cuprum/stream.hpp>

namespace cuprum::inline CUPRUM_ABI::detail {

/// As Stream::record(event). Does nothing and returns false when the event is shared between processes.
CUPRUM_API bool record_unless_shared(const Stream& stream, const Event& event);

}  // namespace cuprum::inline CUPRUM_ABI::detail
