// Giving back what lives in a context and knows that itself.
#pragma once

#include "core/base/context.hpp"
#include "driver/release.hpp"

namespace cuprum::core {

/// Calls an entry point that gives something back, whichever context is current. What is gone with its context needs no
/// release, and must not have one: the driver would follow its handle to nowhere. The context is asked only when it is
/// not one that we hold, or when the release fails.
template <auto Entry, typename... Arguments>
void release_in(const ContextRecord& context, Arguments... arguments) noexcept {
  if (!context.held.load(std::memory_order_acquire) && !is_alive(context)) [[unlikely]]
    return;
  const driver::Released released = driver::try_release<Entry>(arguments...);
  if (!released && is_alive(context)) [[unlikely]]
    released.log();
}

}  // namespace cuprum::core
