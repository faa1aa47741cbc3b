#include "driver/releasing.hpp"

namespace cuprum::inline CUPRUM_ABI::driver {

void WithoutHarmToCaptures::exchange() noexcept {
  const auto& entry = api_->cuThreadExchangeStreamCaptureMode;
  const CUresult code = entry.function ? entry.function(&mode_) : CUDA_ERROR_NOT_SUPPORTED;
  if (code == CUDA_SUCCESS) return;
  log_failed_release(code, entry.index);
  api_ = nullptr;  // nothing was changed that would have to be changed back
}

}  // namespace cuprum::inline CUPRUM_ABI::driver
