#include <cuprum/device.hpp>
#include <cuprum/driver.hpp>
#include <cuprum/scoped_current.hpp>

#include "core/base/context.hpp"
#include "core/stream/resources.hpp"
#include "driver/release.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI {

using driver::Api;
using driver::Doing;

ScopedCurrent::ScopedCurrent(const Device& device)
    : ScopedCurrent(core::context_handle(core::revived_primary_context(device.device_id()))) {}

// The handle that is kept is one of its own: close() of the caller's must not end it.
ScopedCurrent::ScopedCurrent(const Context& context)
    : context_(core::context_handle(detail::Access::keep(context)->context)) {
  driver::call<&Api::cuCtxPushCurrent>(Doing{[&] { return support::text("making ", context, " current"); }},
                                       context_.handle());
}

ScopedCurrent::~ScopedCurrent() {
  CUcontext popped = nullptr;
  driver::release<&Api::cuCtxPopCurrent>(&popped);
}

}  // namespace cuprum::inline CUPRUM_ABI
