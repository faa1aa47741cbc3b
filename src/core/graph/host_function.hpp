#pragma once

#include <cuprum/driver.hpp>
#include <functional>

#include "core/stream/host_calls.hpp"

namespace cuprum::core {

/// A function that nodes of graphs call, in a form that the driver takes.
struct HostFunction {
  std::function<void()> function;

  static void CUDA_CB call(void* self) { run_host_function(static_cast<const HostFunction*>(self)->function); }
};

}  // namespace cuprum::core
