// What the driver's log of errors (cuLogs*, since CUDA 12.9) says of a call that failed: the reason that its result
// code can't carry.
#pragma once

#include <cuprum/driver.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace cuprum::inline CUPRUM_ABI::driver {

/// The reason of the calling thread's last failure, if that was this call with this code. Empty where the driver has no
/// log or has nothing to say.
std::string logged_reason(const Api& api, CUresult code, const char* call);

/// The same for the text of a log, of which the lines of the threads with these numbers count. Drivers differ in what
/// number they give a thread and in whether the call is named in front of the reason or behind it.
std::string find_reason(std::string_view log, const std::vector<std::string>& threads, CUresult code,
                        std::string_view call);

}  // namespace cuprum::inline CUPRUM_ABI::driver
