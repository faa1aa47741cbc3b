#include "api/failing_api.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cuprum/cuprum.hpp>
#include <span>

#include "api/captured_log.hpp"
#include "api/faults.hpp"

namespace cuprum::tests {
namespace {

using driver::Api;

struct Plan {
  const Api* real = nullptr;
  int calls_left = 0;
  bool and_all_after = false;
  bool has_failed = false;
  std::string only;
  CUresult code = CUDA_SUCCESS;
  std::string failed;
  std::atomic<int> memory_held = 0;
  std::atomic<int> handles_held = 0;
};

Plan plan;

bool is_release(std::string_view name) {
  for (const char* word : {"Destroy", "Free", "Unload", "Unmap", "Release", "PopCurrent", "GetCurrent", "GetError"}) {
    if (name.find(word) != std::string_view::npos) return true;
  }
  return false;
}

struct MemoryCalls {
  std::string_view take[3];
  std::string_view give_back;
};

constexpr MemoryCalls memory_calls[] = {
    {{"cuMemAlloc", "cuMemAllocPitch", "cuMemAllocManaged"}, "cuMemFree"},
    {{"cuMemAllocAsync", "cuMemAllocFromPoolAsync", "cuMemPoolImportPointer"}, "cuMemFreeAsync"},
    {{"cuMemHostAlloc", "cuMemAllocHost"}, "cuMemFreeHost"},
    {{"cuMemCreate", "cuMemRetainAllocationHandle"}, "cuMemRelease"},
    {{"cuMemAddressReserve"}, "cuMemAddressFree"},
    {{"cuMemMap"}, "cuMemUnmap"},
};

/// Captures into bodies of conditional nodes end without another graph, so scenarios that count have none.
constexpr MemoryCalls handle_calls[] = {
    {{"cuStreamCreate", "cuStreamCreateWithPriority"}, "cuStreamDestroy"},
    {{"cuEventCreate", "cuIpcOpenEventHandle"}, "cuEventDestroy"},
    {{"cuMemPoolCreate", "cuMemPoolImportFromShareableHandle"}, "cuMemPoolDestroy"},
    {{"cuLibraryLoadData", "cuLibraryLoadFromFile"}, "cuLibraryUnload"},
    {{"cuLinkCreate"}, "cuLinkDestroy"},
    {{"cuGraphCreate", "cuGraphClone", "cuStreamEndCapture"}, "cuGraphDestroy"},
    {{"cuGraphInstantiateWithParams"}, "cuGraphExecDestroy"},
    {{"cuArray3DCreate"}, "cuArrayDestroy"},
    {{"cuMipmappedArrayCreate"}, "cuMipmappedArrayDestroy"},
    {{"cuTexObjectCreate"}, "cuTexObjectDestroy"},
    {{"cuSurfObjectCreate"}, "cuSurfObjectDestroy"},
};

int change(std::span<const MemoryCalls> kinds, std::string_view name) {
  for (const MemoryCalls& calls : kinds) {
    if (name == calls.give_back) return -1;
    if (std::ranges::find(calls.take, name) != std::end(calls.take)) return 1;
  }
  return 0;
}

bool must_fail(const char* name) {
  if ((!plan.only.empty() && plan.only != name) || is_release(name)) return false;
  // Behind a failure it is how captures are given up. What a driver does with streams that it still captures when they
  // are destroyed is its own affair.
  if (plan.has_failed && std::string_view(name) == "cuStreamEndCapture") return false;
  if (plan.has_failed && plan.and_all_after) return true;
  if (plan.calls_left == 0 || --plan.calls_left != 0) return false;
  plan.failed = name;
  plan.has_failed = true;
  return true;
}

/// Calls that fail when work has failed, which is over then: what comes next may take it at its word, and take memory
/// away that the work would still use.
bool is_waiting(std::string_view name) {
  return name == "cuStreamSynchronize" || name == "cuEventSynchronize" || name == "cuCtxSynchronize";
}

// A driver that crashes because of what a failure left behind does not say where. So it is told on stderr which call
// failed, and each call behind that one before it is made: the last line names the culprit. Not for softgpu, which
// checks what it is given; CUPRUM_TELL_FAILURES=1 or 0 switches it on or off.
bool tells_failures() {
  static const bool tells = [] {
    const char* setting = std::getenv("CUPRUM_TELL_FAILURES");
    if (setting) return std::string_view(setting) != "0";
    return driver::info().kind != driver::Choice::softgpu;
  }();
  return tells;
}

void tell_call(const char* name, bool fails) {
  if (!plan.has_failed || !tells_failures()) return;
  if (fails)
    std::fprintf(stderr, "%s fails with code %d%s\n", name, static_cast<int>(plan.code),
                 plan.and_all_after ? ", and all after it" : "");
  else
    std::fprintf(stderr, "  then %s\n", name);
  std::fflush(stderr);
}

template <auto Entry, typename Function>
struct Wrapper;

template <auto Entry, typename... Arguments>
struct Wrapper<Entry, CUresult (*)(Arguments...)> {
  static CUresult call(Arguments... arguments) {
    const auto& entry = plan.real->*Entry;
    const char* const name = driver::entry_point_info(entry.index).name;
    const bool fails = must_fail(name);
    tell_call(name, fails);
    const OutsideTheLibrary outside;
    if (fails && is_waiting(name)) entry.function(arguments...);
    if (fails) return plan.code;
    const CUresult code = entry.function(arguments...);
    if (code == CUDA_SUCCESS) {
      plan.memory_held += change(memory_calls, name);
      plan.handles_held += change(handle_calls, name);
    }
    return code;
  }
};

template <auto Entry>
void wrap(Api& table) {
  auto& function = (table.*Entry).function;
  if (function) function = Wrapper<Entry, std::remove_reference_t<decltype(function)>>::call;
}

}  // namespace

FailingApi::FailingApi() : table_(driver::api()) {
#define CUPRUM_DRIVER_ENTRY_POINT(name, version) wrap<&Api::name>(table_);
#include <cuprum/detail/driver_entry_points.def>
  stop();
  plan.failed.clear();
  plan.memory_held = 0;
  plan.handles_held = 0;
  plan.real = &driver::replace_api(table_);
}

FailingApi::~FailingApi() { driver::replace_api(*plan.real); }

void FailingApi::fail_nth(int n, CUresult code) {
  plan.calls_left = n;
  plan.code = code;
  plan.and_all_after = false;
  plan.has_failed = false;
  plan.only.clear();
  plan.failed.clear();
}

void FailingApi::fail_from_nth(int n, CUresult code) {
  fail_nth(n, code);
  plan.and_all_after = true;
}

void FailingApi::fail_next(std::string_view name, CUresult code) {
  fail_nth(1, code);
  plan.only = name;
}

namespace {

/// Failures that the library takes for an answer, whatever it is doing.
bool is_an_answer(std::string_view call, CUresult code) {
  // Asked before something is released, whether its context is still there: one of which nothing is known is taken to
  // be, and the release itself will tell.
  if (call == "cuCtxGetId") return true;
  // What older drivers don't know, kernels don't have: clusters.
  if (call == "cuFuncGetAttribute") return true;
  // A driver that has shut down has nothing left to release, and what waits for work before that need not, nor what
  // asks how it may be done.
  return code == CUDA_ERROR_DEINITIALIZED && (call == "cuStreamSynchronize" || call == "cuStreamIsCapturing");
}

/// What was thrown for the failure of one call.
struct Thrown {
  bool any = false;
  std::string call = {};  ///< as far as the exception says
};

/// Whether something that was told to the log names the call: failures in destructors, which can't throw.
bool names(const CapturedLog& log, const std::string& call) {
  return std::ranges::any_of(log.lines, [&](const std::string& line) { return line.find(call) != std::string::npos; });
}

template <typename Scenario>
Thrown run(const Scenario& scenario, CUresult code) {
  try {
    scenario();
    return {};
  } catch (const DriverError& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_EQ(dynamic_cast<const OutOfMemory*>(&error) != nullptr, code == CUDA_ERROR_OUT_OF_MEMORY) << error.what();
    return {true, error.call()};
  } catch (const NotSupported& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return {true};
  }
}

}  // namespace

int FailingApi::fail_each_call_with(CUresult code, bool and_all_after, const std::function<void()>& scenario,
                                    const std::vector<MayBeSwallowed>& may_be_swallowed) {
  constexpr int more_than_any_scenario_makes = 2000;
  int count = 0;
  for (int n = 1; n < more_than_any_scenario_makes; ++n) {
    and_all_after ? fail_from_nth(n, code) : fail_nth(n, code);
    const LiveObjects before = live_objects();
    const CapturedLog log;
    const Thrown thrown = run(scenario, code);
    stop();
    for (const Device& device : Device::all()) device.sync();
    EXPECT_EQ(live_objects(), before) << "after " << failed();
    if (failed().empty()) return count;  // the scenario makes fewer calls than n
    const bool may_be = names(log, failed()) || is_an_answer(failed(), code) ||
                        std::ranges::any_of(may_be_swallowed, [&](const auto& entry) {
                          return entry.call.empty() || entry.call == failed();
                        });
    EXPECT_TRUE(thrown.any || may_be) << "nobody noticed that " << failed() << " (call number " << n
                                      << ") failed with code " << code << (and_all_after ? ", and all after it" : "");
    if (thrown.any && !thrown.call.empty() && !and_all_after) {
      EXPECT_EQ(thrown.call, failed());
    }
    count += thrown.any;
  }
  ADD_FAILURE() << "the scenario never got by without a failing call";
  return count;
}

int FailingApi::fail_each_call(const std::function<void()>& scenario,
                               const std::vector<MayBeSwallowed>& may_be_swallowed) {
  for (const CUresult code :
       {CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_DEINITIALIZED, CUDA_ERROR_NOT_SUPPORTED})
    fail_each_call_with(code, false, scenario, may_be_swallowed);
  for (const CUresult code : {CUDA_ERROR_UNKNOWN, CUDA_ERROR_ILLEGAL_ADDRESS})
    fail_each_call_with(code, true, scenario, may_be_swallowed);
  return fail_each_call_with(CUDA_ERROR_UNKNOWN, false, scenario, may_be_swallowed);
}

void FailingApi::stop() {
  plan.calls_left = 0;
  plan.and_all_after = false;
}

int FailingApi::memory_held() const { return plan.memory_held; }

int FailingApi::handles_held() const { return plan.handles_held; }

const std::string& FailingApi::failed() const { return plan.failed; }

}  // namespace cuprum::tests
