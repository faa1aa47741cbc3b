// Making what the library calls fail, beside the driver (failing_api.hpp): compilers, the host's memory, and the
// system.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/failing_api.hpp"

namespace cuprum::tests {

enum class FaultSort {
  compilers,  ///< functions of NVRTC, nvJitLink and libNVVM
  memory,     ///< operator new
  system,     ///< system calls
};

/// The error that this call has to report instead of being made; none when it is to be made. Only calls that the
/// library makes on the thread that runs a scenario are counted.
std::optional<int> fault_at(FaultSort sort, const char* call) noexcept;

/// While one lives, this thread is not in the library: what a driver or a compiler does for itself does not fail.
class OutsideTheLibrary {
 public:
  OutsideTheLibrary() noexcept;
  ~OutsideTheLibrary();
  OutsideTheLibrary(const OutsideTheLibrary&) = delete;
  OutsideTheLibrary& operator=(const OutsideTheLibrary&) = delete;
};

/// While the result lives, the library calls the compilers through tables that know when it is left, and in which calls
/// can fail.
std::shared_ptr<void> watched_compilers();

/// What came of a scenario whose calls failed in turn.
struct FaultCounts {
  int thrown = 0;
  int swallowed = 0;                 ///< nobody noticed, and the scenario got by
  std::string first_swallowed = {};  ///< where the first of those was called from
};

/// What the error handler of a test is told of a failure; it is called while the exception is being handled.
struct Fault {
  std::string call;
  int code;
  bool and_all_after;
};

/// Makes calls of one sort fail, with the driver's calls left alone.
class Faults {
 public:
  explicit Faults(FaultSort sort) : sort_(sort) {}

  /// Runs `scenario` again and again, each time with another of its calls failing with `code`, alone or with all that
  /// follow, until all of them had their turn. Each time it must throw what `judge` accepts, and nothing may be left
  /// alive. Only the failures that are listed may go unnoticed, and then the scenario, which checks its own results,
  /// must get by.
  FaultCounts fail_each(int code, bool and_all_after, const std::function<void()>& scenario,
                        const std::function<void(const Fault&)>& judge,
                        const std::vector<MayBeSwallowed>& may_be_swallowed = {});

  /// The call that was failed last.
  static std::string failed();

  /// Whether all calls after that fail, too.
  static bool go_on();

 private:
  const FaultSort sort_;
  const FailingApi driver_;  // knows when the library is left
  const std::shared_ptr<void> compilers_ = watched_compilers();
};

/// Every allocation of the host's memory that `scenario` makes fails in turn: std::bad_alloc must come out.
/// `may_be_swallowed` says how many failures the library may get over, and why that is right is for the test to say.
void fail_each_allocation(const std::function<void()>& scenario, int may_be_swallowed = 0);

/// Every system call that `scenario` makes fails in turn, with several errors. What is thrown must be a cuprum::Error
/// that has the system's words for the error. Returns how many failures of single calls were thrown.
int fail_each_system_call(const std::function<void()>& scenario,
                          const std::vector<MayBeSwallowed>& may_be_swallowed = {});

/// Every call of a compiler that `scenario` makes fails in turn, with several codes. What is thrown must name the call
/// or what the compiler says of the code, and as many of its objects must be destroyed as were made. Returns how many
/// failures of single calls were thrown.
int fail_each_compiler_call(const std::function<void()>& scenario,
                            const std::vector<MayBeSwallowed>& may_be_swallowed = {});

}  // namespace cuprum::tests
