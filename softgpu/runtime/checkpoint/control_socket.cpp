#include "softgpu/runtime/checkpoint/control_socket.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "softgpu/runtime/base/error.hpp"
#include "softgpu/usage/folder.hpp"
#include "softgpu/usage/process.hpp"
#include "softgpu/usage/publication.hpp"

namespace softgpu::runtime {
namespace {

// Beside the page of the same process.
std::string socket_name(pid_t pid) {
  return std::to_string(pid) + "-" + std::to_string(usage::pid_namespace()) + usage::kControlSuffix;
}

// The folder's path may be longer than an address of a socket can be; its descriptor's is not.
sockaddr_un address_in(const usage::File& folder, const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%s", folder.descriptor(), name.c_str());
  return address;
}

const sockaddr* raw(const sockaddr_un& address) { return reinterpret_cast<const sockaddr*>(&address); }

memory::Descriptor new_socket(int flags) {
  return memory::Descriptor(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0));
}

// Who is at the other end, as the system knows it.
bool is_at_other_end(const memory::Descriptor& connection, uid_t user, pid_t pid) {
  ucred credentials{};
  socklen_t bytes = sizeof credentials;
  return getsockopt(connection.number(), SOL_SOCKET, SO_PEERCRED, &credentials, &bytes) == 0 &&
         credentials.uid == user && (pid == 0 || credentials.pid == pid);
}

bool belongs_to_other(pid_t pid) {
  struct stat status;
  return stat(("/proc/" + std::to_string(pid)).c_str(), &status) == 0 && status.st_uid != geteuid();
}

}  // namespace

ControlSocket::ControlSocket(const std::string& folder)
    : folder_(folder.empty() ? usage::user_folder() : folder), name_(socket_name(getpid())) {
  constexpr int kMostUnanswered = 16;
  const usage::File opened = usage::open_folder(folder_, true);
  if (!opened) return;
  memory::Descriptor made = new_socket(SOCK_NONBLOCK);
  const sockaddr_un address = address_in(opened, name_);
  unlinkat(opened.descriptor(), name_.c_str(), 0);  // of a process that had this number before
  if (!made || bind(made.number(), raw(address), sizeof address) != 0) return;
  if (listen(made.number(), kMostUnanswered) == 0)
    socket_ = std::move(made);
  else
    unlinkat(opened.descriptor(), name_.c_str(), 0);
}

memory::Descriptor ControlSocket::accept() const {
  memory::Descriptor connection(accept4(socket_.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (connection && !is_at_other_end(connection, geteuid(), 0)) return memory::Descriptor();
  return connection;
}

void ControlSocket::withdraw() {
  if (!socket_) return;
  if (const usage::File opened = usage::open_folder(folder_, false)) unlinkat(opened.descriptor(), name_.c_str(), 0);
}

void ControlSocket::forget() { socket_ = memory::Descriptor(); }

memory::Descriptor connect_to(const std::string& folder, pid_t pid) {
  require(kill(pid, 0) == 0 || errno != ESRCH, CUDA_ERROR_OPERATING_SYSTEM, "there is no process of this number");
  require(usage::start_time(static_cast<std::uint32_t>(pid)).has_value(), CUDA_ERROR_NOT_INITIALIZED,
          "the process has ended, and nobody has waited for it");
  require(!belongs_to_other(pid), CUDA_ERROR_NOT_PERMITTED, "the process belongs to another user");
  const usage::File opened = usage::open_folder(folder.empty() ? usage::user_folder() : folder, false);
  memory::Descriptor connection = new_socket(0);
  require(static_cast<bool>(connection), CUDA_ERROR_OPERATING_SYSTEM, "the process has too many open files");
  const timeval patience{.tv_sec = 5, .tv_usec = 0};  // where too many wait to be answered
  setsockopt(connection.number(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  const sockaddr_un address = address_in(opened, socket_name(pid));
  const bool connected = opened && connect(connection.number(), raw(address), sizeof address) == 0;
  require(connected || !opened || errno != EAGAIN, CUDA_ERROR_TIMEOUT, "the process does not answer");
  require(connected && is_at_other_end(connection, geteuid(), pid), CUDA_ERROR_NOT_INITIALIZED,
          "the process does not use softgpu, or has not called cuInit, or has another SOFTGPU_RUNTIME_DIR");
  return connection;
}

}  // namespace softgpu::runtime
