// External semaphores: importing them, and streams that signal them and wait for them.
#include "softgpu/runtime/work/external_semaphore.hpp"

#include "softgpu/api/base/reserved.hpp"
#include "softgpu/api/work/semaphores.hpp"
#include "softgpu/api/work/streams.hpp"
#include "softgpu/runtime/graphs/submit.hpp"
#include "softgpu/runtime/work/stream_capture.hpp"

namespace softgpu::api {
namespace {

template <typename Work, typename Params>
Work work_with(const CUexternalSemaphore* semaphores, const Params* params, unsigned count) {
  require(count == 0 || semaphores != nullptr, CUDA_ERROR_INVALID_VALUE, "no list of semaphores");
  require(count == 0 || params != nullptr, CUDA_ERROR_INVALID_VALUE, "no parameters for the semaphores");
  Work work;
  for (unsigned i = 0; i < count; ++i) {
    require_pointer(semaphores[i], "no semaphore");
    require_no_flags(params[i].flags);
    require_zero(params[i].reserved);
    auto semaphore = find(Driver::get().work().external_semaphores, semaphores[i],
                          "not an external semaphore, or one that was destroyed");
    work.values.push_back({std::move(semaphore), params[i].params.fence.value});
    work.handles.push_back(semaphores[i]);
    work.params.push_back(params[i]);
  }
  return work;
}

// Unlike a node, a stream is given something to do.
void require_some(unsigned count) { require(count != 0, CUDA_ERROR_INVALID_VALUE, "no semaphores"); }

}  // namespace

runtime::SignalSemaphoresWork signals_of(const CUexternalSemaphore* semaphores,
                                         const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS* params, unsigned count) {
  return work_with<runtime::SignalSemaphoresWork>(semaphores, params, count);
}

runtime::WaitSemaphoresWork waits_of(const CUexternalSemaphore* semaphores,
                                     const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS* params, unsigned count) {
  return work_with<runtime::WaitSemaphoresWork>(semaphores, params, count);
}

}  // namespace softgpu::api

using namespace softgpu::api;

extern "C" {

CUresult cuImportExternalSemaphore(CUexternalSemaphore* semaphore, const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC* request) {
  return call_in_context(__func__, [&](Context& context) {
    require_pointer(semaphore);
    require_pointer(request, "no description of the semaphore");
    require(request->type >= CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD &&
                request->type <= CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_WIN32,
            CUDA_ERROR_INVALID_VALUE, "no such type of handle");
    require_no_flags(request->flags);
    require_zero(request->reserved);
    runtime::require_unsafe_calls_allowed();
    *semaphore = Driver::get().work().external_semaphores.add(
        runtime::ExternalSemaphore::import(context.shared_from_this(), request->type, request->handle.fd));
  });
}

// What is under way goes on.
CUresult cuDestroyExternalSemaphore(CUexternalSemaphore semaphore) {
  return call(__func__, [&] {
    require_pointer(semaphore, "no semaphore");
    require_handle(Driver::get().work().external_semaphores.remove(semaphore) != nullptr, CUDA_ERROR_INVALID_HANDLE,
                   "not an external semaphore, or one that was destroyed");
  });
}

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuSignalExternalSemaphoresAsync, _ptsz,
                              (const CUexternalSemaphore* semaphores,
                               const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS* params, unsigned count, CUstream stream),
                              [&] {
                                const auto queue = find_stream(stream, null_stream);
                                require_some(count);
                                runtime::submit_signal(*queue, signals_of(semaphores, params, count));
                              })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuWaitExternalSemaphoresAsync, _ptsz,
                              (const CUexternalSemaphore* semaphores, const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS* params,
                               unsigned count, CUstream stream),
                              [&] {
                                const auto queue = find_stream(stream, null_stream);
                                require_some(count);
                                runtime::submit_wait(*queue, waits_of(semaphores, params, count));
                              })

}  // extern "C"
