// Initialisation, version, and what profilers and loggers are told.
#include "softgpu/api/base/call.hpp"

using namespace softgpu::api;

extern "C" {

CUresult cuInit(unsigned flags) {
  return call_before_init(__func__, [&] {
    require(flags == 0, CUDA_ERROR_INVALID_VALUE, "flags must be 0");
    return Driver::initialize();
  });
}

CUresult cuDriverGetVersion(int* version) {
  return call_before_init(__func__, [&] {
    require_pointer(version);
    *version = Driver::cuda_version();
  });
}

// There is no profiler to switch.
CUresult cuProfilerStart() {
  return call_in_context(__func__, [](Context&) {});
}

CUresult cuProfilerStop() {
  return call_in_context(__func__, [](Context&) {});
}

}  // extern "C"
