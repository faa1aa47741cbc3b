// Checkpoints of processes. None of these waits while this process is locked, and none needs cuInit here: it is the
// other process that does what is asked.
#include <unistd.h>

#include <algorithm>
#include <span>

#include "softgpu/api/base/call.hpp"
#include "softgpu/runtime/checkpoint/control_client.hpp"

namespace softgpu::api {
namespace {

using runtime::ControlOperation;
using runtime::ControlRequest;

// The whole of an argument that is reserved.
void require_zero(std::span<const char> reserved) {
  require(std::all_of(reserved.begin(), reserved.end(), [](char byte) { return byte == 0; }), CUDA_ERROR_INVALID_VALUE,
          "what is reserved must be zero");
}
template <typename T>
std::span<const char> bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

memory::Descriptor connect(int pid) {
  require(pid > 0, CUDA_ERROR_OPERATING_SYSTEM, "a process has a positive number");
  const CUresult refused = refusal();
  require(refused != CUDA_ERROR_NOT_PERMITTED, refused, "host functions may not call the driver");
  if (pid != getpid()) return runtime::connect_to(Driver::runtime_folder(), pid);
  require(refused == CUDA_SUCCESS, refused, "this process has not called cuInit");
  return Driver::get().connect_to_control();
}

int ask(int pid, const ControlRequest& request) {
  const runtime::ControlReply reply = runtime::ask(connect(pid), request);
  if (reply.code != CUDA_SUCCESS) throw Failure(reply.code, reply.reason.data());
  return reply.value;
}

int ask(int pid, ControlOperation operation) {
  ControlRequest request;
  request.operation = operation;
  return ask(pid, request);
}

}  // namespace
}  // namespace softgpu::api

using namespace softgpu::api;

extern "C" {

CUresult cuCheckpointProcessGetState(int pid, CUprocessState* state) {
  return call_before_init(__func__, [&] {
    require_pointer(state);
    *state = static_cast<CUprocessState>(ask(pid, ControlOperation::state));
  });
}

CUresult cuCheckpointProcessGetRestoreThreadId(int pid, int* thread) {
  return call_before_init(__func__, [&] {
    require_pointer(thread);
    *thread = ask(pid, ControlOperation::restore_thread);
  });
}

CUresult cuCheckpointProcessLock(int pid, CUcheckpointLockArgs* arguments) {
  return call_before_init(__func__, [&] {
    ControlRequest request;
    request.operation = ControlOperation::lock;
    if (arguments != nullptr) {
      require_zero(bytes_of(arguments->reserved0));
      require_zero(bytes_of(arguments->reserved1));
      request.timeout_ms = arguments->timeoutMs;
    }
    ask(pid, request);
  });
}

CUresult cuCheckpointProcessCheckpoint(int pid, CUcheckpointCheckpointArgs* arguments) {
  return call_before_init(__func__, [&] {
    if (arguments != nullptr) require_zero(bytes_of(*arguments));
    ask(pid, ControlOperation::checkpoint);
  });
}

CUresult cuCheckpointProcessRestore(int pid, CUcheckpointRestoreArgs* arguments) {
  return call_before_init(__func__, [&] {
    ControlRequest request;
    request.operation = ControlOperation::restore;
    if (arguments != nullptr) {
      require_zero(bytes_of(arguments->reserved));
      require_zero(bytes_of(arguments->reserved1));
      require(arguments->gpuPairsCount <= ControlRequest::kMostPairs, CUDA_ERROR_INVALID_VALUE,
              "there are more pairs than there can be devices");
      require(arguments->gpuPairsCount == 0 || arguments->gpuPairs != nullptr, CUDA_ERROR_INVALID_VALUE,
              "a null pointer for pairs");
      request.pair_count = arguments->gpuPairsCount;
      std::copy_n(arguments->gpuPairs, request.pair_count, request.pairs.begin());
    }
    ask(pid, request);
  });
}

CUresult cuCheckpointProcessUnlock(int pid, CUcheckpointUnlockArgs* arguments) {
  return call_before_init(__func__, [&] {
    if (arguments != nullptr) require_zero(bytes_of(*arguments));
    ask(pid, ControlOperation::unlock);
  });
}

}  // extern "C"
