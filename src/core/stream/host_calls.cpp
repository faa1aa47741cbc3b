#include "core/stream/host_calls.hpp"

#include <atomic>
#include <memory>

#include "support/log.hpp"
#include "support/text.hpp"

namespace cuprum::core {
namespace {

using driver::Api;
using driver::Doing;
using support::text;

struct HostCall {
  std::function<void()> function;
  HostCall* next = nullptr;
};

// A stack, because it takes one word and no lock.
std::atomic<HostCall*> finished{nullptr};

void run(const std::function<void()>& function) noexcept {
  try {
    function();
  } catch (const std::exception& error) {
    support::log(text("a host call threw: ", error.what()));
  } catch (...) {
    support::log("a host call threw something that is not a std::exception");
  }
}

void CUDA_CB on_reached(CUstream, CUresult state, void* argument) {
  auto* call = static_cast<HostCall*>(argument);
  if (state == CUDA_SUCCESS) run(call->function);
  call->next = finished.load(std::memory_order_relaxed);
  while (!finished.compare_exchange_weak(call->next, call, std::memory_order_release, std::memory_order_relaxed)) {
  }
}

}  // namespace

// Not cuLaunchHostFunc: after an error that one forgets its function without a word, and what it owns would never be
// released.
void queue_host_call(CUstream stream, std::function<void()> function, const std::function<std::string()>& describe) {
  destroy_finished_host_calls();
  auto call = std::make_unique<HostCall>(HostCall{std::move(function)});
  driver::call<&Api::cuStreamAddCallback>(Doing{describe}, stream, static_cast<CUstreamCallback>(on_reached),
                                          static_cast<void*>(call.get()), 0u);
  static_cast<void>(call.release());  // on_reached has it now
}

void destroy_finished_host_calls() noexcept {
  if (!finished.load(std::memory_order_relaxed)) return;
  HostCall* call = finished.exchange(nullptr, std::memory_order_acquire);
  while (call) {
    std::unique_ptr<HostCall> done(std::exchange(call, call->next));
  }
}

}  // namespace cuprum::core
