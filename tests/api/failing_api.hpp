// A driver table in which chosen calls fail, and which counts what of the driver's memory is held.
#pragma once

#include <cuprum/driver.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace cuprum::tests {

/// A call whose failure may go unnoticed, and why that is right. An empty name stands for all calls.
struct MayBeSwallowed {
  std::string call;
  std::string why;
};

/// While an object of this class lives, the library's calls of the driver go through it. Calls that
/// releases make are left alone: failing them would leak what later tests count.
class FailingApi {
 public:
  FailingApi();
  ~FailingApi();
  FailingApi(const FailingApi&) = delete;
  FailingApi& operator=(const FailingApi&) = delete;

  /// Makes the n-th call from now on (the first is 1) return `code` instead of being made.
  void fail_nth(int n, CUresult code);

  /// The same for that call and all that follow.
  void fail_from_nth(int n, CUresult code);

  /// Makes the next call of one entry point return `code`.
  void fail_next(std::string_view name, CUresult code);

  /// Lets everything succeed again.
  void stop();

  /// Runs `scenario` again and again, each time with another of its driver calls failing, until all of them had their
  /// turn: with several codes, and also with all calls failing from there on. Each time it must throw what stands for
  /// the code and names the call; nothing may be left alive. Only the failures that are listed may go unnoticed, and
  /// then the scenario, which checks its own results, must get by. Returns how many failures of single calls were
  /// thrown.
  int fail_each_call(const std::function<void()>& scenario, const std::vector<MayBeSwallowed>& may_be_swallowed = {});

  /// How many pieces of memory and addresses were taken from the driver since this object was made and not given back:
  /// allocations, mappings and reservations. Exact, whatever other programs do on the device.
  int memory_held() const;

  /// The same for streams, events, pools, libraries, links, graphs, arrays, textures and surfaces.
  int handles_held() const;

  /// The name of the call that was failed; empty when none was since it was last asked to.
  const std::string& failed() const;

 private:
  int fail_each_call_with(CUresult code, bool and_all_after, const std::function<void()>& scenario,
                          const std::vector<MayBeSwallowed>& may_be_swallowed);

  driver::Api table_;
};

}  // namespace cuprum::tests
