// From the driver's codes to exceptions and messages.
#include <cuprum/driver.hpp>

#include "driver/capture_failures.hpp"
#include "driver/driver_failure.hpp"
#include "driver/error_log.hpp"
#include "driver/release.hpp"
#include "driver_abi/entry_points.hpp"
#include "support/log.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI::driver {
namespace {

using support::text;

DriverError::Details details_of(CUresult code, std::size_t entry_point, const std::string& doing) {
  const char* name = nullptr;
  const char* description = nullptr;
  const char* const call = entry_point_info(entry_point).name;
  std::string reason;
  if (const Api* table = usable_api()) {
    table->cuGetErrorName(code, &name);
    table->cuGetErrorString(code, &description);
    reason = logged_reason(*table, code, call);
  }
  return {code,
          name ? name : text("CUresult ", static_cast<int>(code)),
          description ? description : "no description",
          call,
          doing,
          std::move(reason)};
}

}  // namespace

EntryPointInfo entry_point_info(std::size_t index) {
  const driver_abi::EntryPoint& entry = driver_abi::entry_points()[index];
  return {entry.name, entry.version};
}

void detail::raise(CUresult code, std::size_t entry_point, const std::string& doing) {
  DriverError::Details details = details_of(code, entry_point, doing);
  if (breaks_capture(code)) note_capture_failure(DriverFailure(details).what());
  if (code == CUDA_ERROR_OUT_OF_MEMORY) throw OutOfMemory(std::move(details));
  if (code == CUDA_ERROR_NOT_SUPPORTED) throw NotSupported(DriverFailure(std::move(details)).what(), code);
  throw DriverFailure(std::move(details));
}

void detail::raise_missing(std::size_t entry_point, const std::string& doing) {
  const EntryPointInfo entry = entry_point_info(entry_point);
  const Info driver = info();
  throw NotSupported(text(doing, doing.empty() ? "" : ": ", entry.name, " needs a driver of CUDA ",
                          driver_abi::CudaVersion{entry.version}, " or newer; ", driver.path, " is one of CUDA ",
                          driver_abi::CudaVersion{driver.version}));
}

void log_failed_release(CUresult code, std::size_t entry_point) noexcept {
  try {
    support::log(DriverFailure(details_of(code, entry_point, "releasing a resource")).what());
  } catch (...) {
    support::log("releasing a resource failed");
  }
}

}  // namespace cuprum::inline CUPRUM_ABI::driver
