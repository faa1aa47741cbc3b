// Functions that a stream calls on the host.
#pragma once

#include <cuprum/driver.hpp>
#include <functional>

namespace cuprum::core {

/// Queues a call of `function`, which is destroyed later: see deferred.hpp. The stream's context must be current.
void queue_host_call(CUstream stream, std::function<void()> function, const std::function<std::string()>& describe);

/// Calls it, on a thread of the driver; what it throws goes to the log, and what it lets go of is released later.
void run_host_function(const std::function<void()>& function) noexcept;

}  // namespace cuprum::core
