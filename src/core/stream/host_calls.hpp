// Functions that a stream calls on the host.
#pragma once

#include <cuprum/driver.hpp>
#include <functional>

namespace cuprum::core {

/// Queues a call of `function`. The stream's context must be current.
void queue_host_call(CUstream stream, std::function<void()> function, const std::function<std::string()>& describe);

/// Destroys the functions that have been called. The threads on which streams call them may not use CUDA, and what a
/// function owns may have to be released with it, so that is left to the threads that wait for streams. Costs a load
/// when there are none.
void destroy_finished_host_calls() noexcept;

/// Does that at the end of a scope, however it ends.
struct FinishedHostCalls {
  FinishedHostCalls() = default;
  FinishedHostCalls(const FinishedHostCalls&) = delete;
  FinishedHostCalls& operator=(const FinishedHostCalls&) = delete;
  ~FinishedHostCalls() { destroy_finished_host_calls(); }
};

}  // namespace cuprum::core
