#include "api/faults.hpp"

#include <execinfo.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cuprum/cuprum.hpp>
#include <memory>

namespace cuprum::tests {
namespace {

/// Of one thread, without anything that would have to be allocated.
struct FaultPlan {
  bool is_armed = false;
  FaultSort sort = FaultSort::memory;
  int calls_left = 0;
  bool and_all_after = false;
  int code = 0;
  int outside = 0;  ///< how often the library was left
  const char* failed = nullptr;
  std::array<void*, 16> callers = {};
  int caller_count = 0;
};

thread_local FaultPlan fault_plan;

/// Where the failing call came from, for whoever has to find out.
std::string callers_of_fault() {
  const std::unique_ptr<char*, decltype(&std::free)> lines(
      backtrace_symbols(fault_plan.callers.data(), fault_plan.caller_count), &std::free);
  std::string text;
  for (int i = 2; lines && i < fault_plan.caller_count; ++i) text.append("\n    ").append(lines.get()[i]);
  return text;
}

bool may_be(const std::vector<MayBeSwallowed>& list, const std::string& call) {
  return std::ranges::any_of(list, [&](const auto& entry) { return entry.call.empty() || entry.call == call; });
}

}  // namespace

std::optional<int> fault_at(FaultSort sort, const char* call) noexcept {
  FaultPlan& plan = fault_plan;
  if (!plan.is_armed || plan.sort != sort || plan.outside != 0) return std::nullopt;
  if (plan.failed) return plan.and_all_after ? std::optional(plan.code) : std::nullopt;
  if (--plan.calls_left != 0) return std::nullopt;
  plan.failed = call;
  plan.caller_count = backtrace(plan.callers.data(), static_cast<int>(plan.callers.size()));
  return plan.code;
}

OutsideTheLibrary::OutsideTheLibrary() noexcept { ++fault_plan.outside; }
OutsideTheLibrary::~OutsideTheLibrary() { --fault_plan.outside; }

bool Faults::go_on() { return fault_plan.and_all_after; }

std::string Faults::failed() { return fault_plan.failed ? fault_plan.failed : ""; }

FaultCounts Faults::fail_each(int code, bool and_all_after, const std::function<void()>& scenario,
                              const std::function<void(const Fault&)>& judge,
                              const std::vector<MayBeSwallowed>& may_be_swallowed) {
  constexpr int more_than_any_scenario_makes = 5000;
  std::array<void*, 1> warm;
  backtrace(warm.data(), 1);  // allocates the first time
  FaultCounts counts;
  for (int n = 1; n < more_than_any_scenario_makes && !::testing::Test::HasFailure(); ++n) {
    const LiveObjects before = live_objects();
    const int memory = driver_.memory_held();
    const int handles = driver_.handles_held();
    bool has_thrown = false;
    fault_plan = {.is_armed = true, .sort = sort_, .calls_left = n, .and_all_after = and_all_after, .code = code};
    try {
      scenario();
      fault_plan.is_armed = false;
    } catch (...) {
      fault_plan.is_armed = false;
      has_thrown = true;
      judge({failed(), code, and_all_after});
    }
    for (const Device& device : Device::all()) device.sync();
    EXPECT_EQ(live_objects(), before) << "after " << failed() << callers_of_fault();
    EXPECT_EQ(driver_.memory_held(), memory) << "after " << failed() << callers_of_fault();
    EXPECT_EQ(driver_.handles_held(), handles) << "after " << failed() << callers_of_fault();
    if (!fault_plan.failed) {  // the scenario makes fewer calls than n
      EXPECT_FALSE(has_thrown);
      return counts;
    }
    counts.thrown += has_thrown;
    if (!has_thrown && counts.swallowed++ == 0) counts.first_swallowed = callers_of_fault();
    EXPECT_TRUE(has_thrown || may_be(may_be_swallowed, failed()))
        << "nobody noticed that " << failed() << " (call number " << n << ") failed with code " << code
        << (and_all_after ? ", and all after it" : "") << callers_of_fault();
  }
  if (!::testing::Test::HasFailure()) ADD_FAILURE() << "the scenario never got by without a failing call";
  return counts;
}

}  // namespace cuprum::tests
