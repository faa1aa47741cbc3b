#include "conformance/child.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "support/own_process.hpp"

namespace conformance {
namespace {

constexpr const char* kSocketVariable = "CONFORMANCE_CHANNEL";
constexpr int kSecondsToWait = 60;

struct Sockets {
  int ends[2] = {-1, -1};
  Sockets() {
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw std::runtime_error("no socket");
  }
};

}  // namespace

Channel::~Channel() { close(socket_); }

void Channel::send_bytes(const void* data, std::size_t bytes, int descriptor) {
  iovec part{const_cast<void*>(data), bytes};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (descriptor >= 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  }
  if (sendmsg(socket_, &message, MSG_NOSIGNAL) != static_cast<ssize_t>(bytes))
    throw std::runtime_error("the other process is gone");
}

int Channel::receive_bytes(void* data, std::size_t bytes) {
  int descriptor = -1;
  for (std::size_t done = 0; done < bytes;) {
    pollfd waiting{socket_, POLLIN, 0};
    if (poll(&waiting, 1, kSecondsToWait * 1000) != 1) throw std::runtime_error("the other process says nothing");
    iovec part{static_cast<char*>(data) + done, bytes - done};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t received = recvmsg(socket_, &message, MSG_CMSG_CLOEXEC);
    if (received <= 0) throw std::runtime_error("the other process is gone");
    if (const cmsghdr* header = CMSG_FIRSTHDR(&message)) std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
    done += static_cast<std::size_t>(received);
  }
  return descriptor;
}

bool Channel::has_something(int milliseconds) {
  pollfd waiting{socket_, POLLIN, 0};
  return poll(&waiting, 1, milliseconds) == 1;
}

void Channel::send_descriptor(int descriptor) { send_bytes("d", 1, descriptor); }

int Channel::receive_descriptor() {
  char mark = 0;
  return receive_bytes(&mark, 1);
}

Child::Child(const std::string& test, const std::vector<std::string>& settings)
    : Child(test, settings, Sockets().ends) {}

Child::Child(const std::string& test, const std::vector<std::string>& settings, const int (&sockets)[2])
    : channel_(sockets[0]) {
  constexpr int kSocketThere = 3;
  std::vector<std::string> variables = settings;
  variables.push_back(std::string(kSocketVariable) + "=" + std::to_string(kSocketThere));
  process_ = own_process::start(test, variables, {{sockets[1], kSocketThere}});
  close(sockets[1]);
  if (process_ < 0) throw std::runtime_error("no child process");
}

Child::~Child() { kill(); }

int Child::wait() {
  int status = -1;
  if (process_ > 0) waitpid(process_, &status, 0);
  process_ = -1;
  return status;
}

void Child::kill() {
  if (process_ > 0) ::kill(process_, SIGKILL);
  wait();
}

Channel& parent() {
  static Channel channel(std::atoi(std::getenv(kSocketVariable)));
  return channel;
}

}  // namespace conformance
