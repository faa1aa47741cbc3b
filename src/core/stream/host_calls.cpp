#include "core/stream/host_calls.hpp"

#include <memory>

#include "core/base/deferred.hpp"
#include "support/log.hpp"
#include "support/text.hpp"

namespace cuprum::core {
namespace {

using driver::Api;
using driver::Doing;
using support::text;

struct HostCall : Deferred {
  explicit HostCall(std::function<void()> the_function) : function(std::move(the_function)) {}
  std::function<void()> function;
};

void CUDA_CB on_reached(CUstream, CUresult state, void* argument) {
  auto* call = static_cast<HostCall*>(argument);
  if (state == CUDA_SUCCESS) run_host_function(call->function);
  defer(call);
}

}  // namespace

void run_host_function(const std::function<void()>& function) noexcept {
  const InsideHostFunction inside;
  try {
    function();
  } catch (const std::exception& error) {
    support::log(text("a host call threw: ", error.what()));
  } catch (...) {
    support::log("a host call threw something that is not a std::exception");
  }
}

// Not cuLaunchHostFunc: after an error that one forgets its function without a word, and what it owns would never be
// released.
void queue_host_call(CUstream stream, std::function<void()> function, const std::function<std::string()>& describe) {
  destroy_deferred();
  auto call = std::make_unique<HostCall>(std::move(function));
  driver::call<&Api::cuStreamAddCallback>(Doing{describe}, stream, static_cast<CUstreamCallback>(on_reached),
                                          static_cast<void*>(call.get()), 0u);
  static_cast<void>(call.release());  // on_reached has it now
}

}  // namespace cuprum::core
