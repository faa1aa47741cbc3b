#include "core/ipc/socket.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "support/text.hpp"

namespace cuprum::core {
namespace {

using ipc::ChannelError;
using ipc::ChannelFault;
using support::FileDescriptor;
using support::text;

constexpr std::size_t max_descriptors = 253;  // SCM_MAX_FD of Linux
constexpr int backlog = 64;

[[noreturn]] void fail(const std::string& doing, int error) {
  throw ChannelError(ChannelFault::failed, text(doing, ": ", std::strerror(error)));
}

[[noreturn]] void report_closed() {
  throw ChannelError(ChannelFault::closed, "the other process has closed the channel or has ended");
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path) || path.find('\0') != std::string::npos) {
    throw InvalidArgument(text("'", path, "' can't be the path of a socket: expected 1 to ",
                               sizeof(address.sun_path) - 1, " bytes without zeros"));
  }
  path.copy(address.sun_path, path.size());
  return address;
}

const sockaddr* generic(const sockaddr_un& address) { return reinterpret_cast<const sockaddr*>(&address); }

int integer_option(int socket, int option) {
  int value = -1;
  socklen_t size = sizeof(value);
  if (getsockopt(socket, SOL_SOCKET, option, &value, &size) == 0) return value;
  if (errno != EBADF && errno != ENOTSOCK) fail("asking what kind of socket a channel has got", errno);
  return -1;
}

// Takes the file descriptors out of a message, whatever else is in it. There must be room for them, so that nothing is
// thrown while some of them have no owner.
void take_descriptors(msghdr& message, std::vector<FileDescriptor>& taken) noexcept {
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(part) + i * sizeof(int), sizeof(int));
      taken.emplace_back(number);
    }
  }
}

// An empty message and the end of the connection look the same to recvmsg.
bool is_hung_up(int socket) {
  pollfd state{socket, POLLRDHUP, 0};
  return poll(&state, 1, 0) == 1 && (state.revents & (POLLHUP | POLLRDHUP)) != 0;
}

}  // namespace

int Deadline::remaining_ms() const {
  if (timeout_ms_ < 0) return -1;
  using std::chrono::ceil;
  using std::chrono::milliseconds;
  const auto passed = std::chrono::steady_clock::now() - begin_;
  return static_cast<int>(
      std::max<milliseconds::rep>(0, ceil<milliseconds>(milliseconds(timeout_ms_) - passed).count()));
}

void Deadline::wait(int socket, short events, const char* what) const {
  for (;;) {
    pollfd state{socket, events, 0};
    const int ready = poll(&state, 1, remaining_ms());
    if (ready > 0) return;
    if (ready == 0) {
      throw ChannelError(ChannelFault::timed_out, text("waited ", timeout_ms_, " ms for ", what, " in vain"));
    }
    if (errno != EINTR) fail(text("waiting for ", what), errno);
  }
}

void send_packet(int socket, std::span<const std::byte> head, std::span<const std::byte> body, int descriptor,
                 const Deadline& deadline) {
  std::array<iovec, 2> parts{iovec{const_cast<std::byte*>(head.data()), head.size()},
                             iovec{const_cast<std::byte*>(body.data()), body.size()}};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  if (descriptor >= 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(rights), &descriptor, sizeof(int));
  }
  while (sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
    if (errno == EINTR) continue;
    if (errno == EPIPE || errno == ECONNRESET) report_closed();
    if (errno != EAGAIN) fail("sending a message to another process", errno);
    deadline.wait(socket, POLLOUT, "the other process to read its messages");
  }
}

Packet receive_packet(int socket, std::span<std::byte> buffer, const Deadline& deadline) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(max_descriptors * sizeof(int))> control{};
  iovec part{buffer.data(), buffer.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  Packet packet;
  packet.descriptors.reserve(max_descriptors);
  ssize_t received = -1;
  for (;;) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    received = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (received >= 0) break;
    if (errno == EINTR) continue;
    if (errno == ECONNRESET) report_closed();
    if (errno != EAGAIN) fail("receiving a message from another process", errno);
    deadline.wait(socket, POLLIN, "a message from the other process");
  }
  take_descriptors(message, packet.descriptors);
  packet.bytes = buffer.first(static_cast<std::size_t>(received));
  packet.truncated = (message.msg_flags & MSG_TRUNC) != 0;
  packet.descriptors_lost = (message.msg_flags & MSG_CTRUNC) != 0;
  if (received == 0 && packet.descriptors.empty() && is_hung_up(socket)) report_closed();
  return packet;
}

FileDescriptor new_socket() {
  FileDescriptor made(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!made) fail("making a socket", errno);
  return made;
}

SocketFile listen_at(int socket, const std::string& path) {
  const sockaddr_un address = address_of(path);
  // The file gets the mode of the socket, so there is no moment at which others could connect.
  if (fchmod(socket, S_IRUSR | S_IWUSR) != 0) fail("making a socket private", errno);
  SocketFile file{.path = path};
  if (bind(socket, generic(address), sizeof(address)) != 0) {
    const int error = errno;
    fail(text("making the socket ", path,
              error == EADDRINUSE ? " (if it was left behind by a process that is gone, remove it)" : ""),
         error);
  }
  struct stat state{};
  if (stat(path.c_str(), &state) != 0) {  // this moment, it is the one that was just made
    const int error = errno;
    unlink(path.c_str());
    fail(text("looking at the socket ", path), error);
  }
  file.device = state.st_dev;
  file.inode = state.st_ino;
  if (listen(socket, backlog) != 0) {
    const int error = errno;
    unlink(path.c_str());
    fail(text("listening at ", path), error);
  }
  return file;
}

void remove_socket(const SocketFile& file) noexcept {
  struct stat state{};
  if (stat(file.path.c_str(), &state) != 0 || state.st_dev != file.device || state.st_ino != file.inode) return;
  unlink(file.path.c_str());
}

FileDescriptor accept_from(int socket, const Deadline& deadline) {
  for (;;) {
    deadline.wait(socket, POLLIN, "another process to connect");
    FileDescriptor accepted(accept4(socket, nullptr, nullptr, SOCK_CLOEXEC));
    if (accepted) return accepted;
    // Whoever connected may be gone again.
    if (errno != EINTR && errno != EAGAIN && errno != ECONNABORTED) fail("accepting a connection", errno);
  }
}

void connect_to(int socket, const std::string& path, int timeout_ms) {
  const sockaddr_un address = address_of(path);
  // Linux bounds how long connecting waits by the time for sending; 0 would mean no bound.
  if (timeout_ms >= 0) {
    const int bound = std::max(timeout_ms, 1);
    const timeval time{bound / 1000, bound % 1000 * 1000};
    if (setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof(time)) != 0) fail("setting a time-out", errno);
  }
  while (connect(socket, generic(address), sizeof(address)) != 0) {
    if (errno == EINTR) continue;
    if (errno == EAGAIN) {
      throw ChannelError(ChannelFault::timed_out,
                         text("waited ", timeout_ms, " ms for the process that listens at ", path, " in vain"));
    }
    fail(text("connecting to ", path, errno == ECONNREFUSED || errno == ENOENT ? " (no process listens there)" : ""),
         errno);
  }
}

void check_socket(int socket) {
  sockaddr_un peer{};
  socklen_t size = sizeof(peer);
  if (integer_option(socket, SO_DOMAIN) == AF_UNIX && integer_option(socket, SO_TYPE) == SOCK_SEQPACKET) {
    if (getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &size) == 0) return;
    if (errno != ENOTCONN) fail("asking who is at the other end of a channel", errno);
  }
  throw InvalidArgument(text("a channel can't use file descriptor ", socket,
                             ": expected a connected Unix socket of type SOCK_SEQPACKET"));
}

ipc::Peer peer_of(int socket) {
  ucred credentials{};
  socklen_t size = sizeof(credentials);
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) {
    fail("asking who is at the other end of a channel", errno);
  }
  return {credentials.pid, credentials.uid};
}

void check_same_user(const ipc::Peer& peer) {
  if (peer.user == geteuid()) return;
  throw ChannelError(ChannelFault::refused,
                     text("the other end of the channel, process ", peer.process, ", belongs to user ", peer.user,
                          ": only processes of this user (", geteuid(), ") may share memory"));
}

}  // namespace cuprum::core
