// The side that controls.
#pragma once

#include "softgpu/runtime/checkpoint/control_socket.hpp"
#include "softgpu/runtime/checkpoint/message.hpp"

namespace softgpu::runtime {

// Sends the request and waits for the answer, however long that takes, but not for a process that gives no sign of
// life: then throws CUDA_ERROR_TIMEOUT, and CUDA_ERROR_INVALID_VALUE for one that ended meanwhile. Whoever is gone
// before the answer has not got a lock: the process gives it up.
ControlReply ask(const memory::Descriptor& connection, const ControlRequest& request);

}  // namespace softgpu::runtime
