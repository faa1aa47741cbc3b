#include "softgpu/runtime/checkpoint/control_client.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

#include "softgpu/runtime/base/error.hpp"

namespace softgpu::runtime {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kEnded = "the process has ended meanwhile";

void wait_readable(const memory::Descriptor& connection, Clock::time_point until) {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd waiting{connection.number(), POLLIN, 0};
    const int ready = left > 0 ? poll(&waiting, 1, static_cast<int>(left)) : 0;
    if (ready > 0) return;
    require(ready < 0 && errno == EINTR, CUDA_ERROR_TIMEOUT,
            "the process gives no sign of life: it is stopped, or its machine is too busy. What was asked of it may "
            "still happen");
  }
}

ControlReply receive(const memory::Descriptor& connection) {
  ControlReply reply;
  const Clock::time_point until = Clock::now() + kPatience;
  for (std::size_t done = 0; done < sizeof reply;) {
    wait_readable(connection, until);
    const ssize_t received =
        recv(connection.number(), reinterpret_cast<char*>(&reply) + done, sizeof reply - done, MSG_DONTWAIT);
    if (received < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    require(received > 0, CUDA_ERROR_OPERATING_SYSTEM, kEnded);
    done += static_cast<std::size_t>(received);
  }
  reply.reason.back() = '\0';
  return reply;
}

}  // namespace

ControlReply ask(const memory::Descriptor& connection, const ControlRequest& request) {
  ssize_t sent = 0;
  do sent = send(connection.number(), &request, sizeof request, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  require(sent == sizeof request, CUDA_ERROR_OPERATING_SYSTEM, kEnded);
  for (;;)
    if (const ControlReply reply = receive(connection); reply.is_last) return reply;
}

}  // namespace softgpu::runtime
