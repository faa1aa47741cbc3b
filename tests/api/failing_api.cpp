#include "api/failing_api.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cuprum/cuprum.hpp>

namespace cuprum::tests {
namespace {

using driver::Api;

struct Plan {
  const Api* real = nullptr;
  int calls_left = 0;
  std::string only;
  CUresult code = CUDA_SUCCESS;
  std::string failed;
  std::atomic<int> memory_held = 0;
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

int change_of_memory(std::string_view name) {
  for (const MemoryCalls& calls : memory_calls) {
    if (name == calls.give_back) return -1;
    if (std::ranges::find(calls.take, name) != std::end(calls.take)) return 1;
  }
  return 0;
}

bool must_fail(const char* name) {
  if (plan.calls_left == 0 || (!plan.only.empty() && plan.only != name) || is_release(name)) return false;
  if (--plan.calls_left != 0) return false;
  plan.failed = name;
  return true;
}

template <auto Entry, typename Function>
struct Wrapper;

template <auto Entry, typename... Arguments>
struct Wrapper<Entry, CUresult (*)(Arguments...)> {
  static CUresult call(Arguments... arguments) {
    const auto& entry = plan.real->*Entry;
    const char* const name = driver::entry_point_info(entry.index).name;
    if (must_fail(name)) return plan.code;
    const CUresult code = entry.function(arguments...);
    if (code == CUDA_SUCCESS) plan.memory_held += change_of_memory(name);
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
  plan.real = &driver::replace_api(table_);
}

FailingApi::~FailingApi() { driver::replace_api(*plan.real); }

void FailingApi::fail_nth(int n, CUresult code) {
  plan.calls_left = n;
  plan.code = code;
  plan.only.clear();
  plan.failed.clear();
}

void FailingApi::fail_next(std::string_view name, CUresult code) {
  fail_nth(1, code);
  plan.only = name;
}

int FailingApi::fail_each_call(const std::function<void()>& scenario) {
  constexpr int more_than_any_scenario_makes = 2000;
  int thrown = 0;
  for (int n = 1; n < more_than_any_scenario_makes; ++n) {
    fail_nth(n, CUDA_ERROR_UNKNOWN);
    const LiveObjects before = live_objects();
    try {
      scenario();
    } catch (const DriverError& error) {
      ++thrown;
      EXPECT_EQ(error.code(), CUDA_ERROR_UNKNOWN) << error.what();
      EXPECT_EQ(error.call(), failed()) << error.what();
    }
    stop();
    for (const Device& device : Device::all()) device.sync();
    EXPECT_EQ(live_objects(), before) << "after " << failed();
    if (failed().empty()) return thrown;  // the scenario makes fewer calls than n
  }
  ADD_FAILURE() << "the scenario never got by without a failing call";
  return thrown;
}

void FailingApi::stop() { plan.calls_left = 0; }

int FailingApi::memory_held() const { return plan.memory_held; }

const std::string& FailingApi::failed() const { return plan.failed; }

}  // namespace cuprum::tests
