#include <sys/socket.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <cuprum/ipc_channel.hpp>
#include <mutex>

#include "core/base/closable.hpp"
#include "core/ipc/resources.hpp"
#include "core/ipc/socket.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI::ipc {

using core::Deadline;
using core::Packet;
using support::FileDescriptor;
using support::text;

namespace {

constexpr std::array<char, 4> magic{'C', 'u', 'C', 'h'};

enum class Kind : std::uint32_t { pool = 1, buffer = 2, event = 3, text = 4 };

/// Before each message. The sequence goes up by at least one from message to message, so none is taken twice.
struct Frame {
  std::array<char, 4> magic;
  Kind kind;
  std::uint64_t sequence;
};
static_assert(std::has_unique_object_representations_v<Frame>);

const char* title(Kind kind) {
  switch (kind) {
    case Kind::pool: return "a memory pool";
    case Kind::buffer: return "a buffer";
    case Kind::event: return "an event";
    case Kind::text: return "a text";
  }
  return "nothing known";
}

template <typename... Parts>
[[noreturn]] void refuse(const Parts&... reason) {
  throw ChannelError(ChannelFault::refused, text("refused a message from another process: ", reason...));
}

[[noreturn]] void refuse_closed() {
  throw ChannelError(ChannelFault::closed, "this channel is closed: close() was called on it or on a copy");
}

}  // namespace

ChannelError::~ChannelError() = default;

const char* ChannelError::what() const noexcept { return Error::what(); }

struct Channel::Connection {
  struct Message {
    std::span<const std::byte> body;
    FileDescriptor descriptor;
  };

  explicit Connection(FileDescriptor the_socket, const ChannelOptions& options)
      : socket(std::move(the_socket)), timeout_ms(options.timeout_ms) {
    core::check_socket(socket.get());
    peer = core::peer_of(socket.get());
    core::check_same_user(peer);
  }

  /// What close() ends on this side looks as if the other process had closed its own.
  template <typename Exchange>
  auto unless_closed_here(Exchange&& exchange) const {
    try {
      return exchange();
    } catch (const ChannelError& error) {
      if (error.fault() == ChannelFault::closed && closed) refuse_closed();
      throw;
    }
  }

  void send(Kind kind, std::span<const std::byte> body, int descriptor = -1) {
    std::lock_guard lock(sending);
    const Frame frame{magic, kind, ++sent};
    unless_closed_here([&] {
      core::send_packet(socket.get(), std::as_bytes(std::span(&frame, 1)), body, descriptor, Deadline(timeout_ms));
    });
  }

  /// Waits for a message and gives it to `read`, which returns what it stands for.
  template <typename Read>
  auto receive(Kind kind, Read&& read) {
    std::lock_guard lock(receiving);
    buffer.resize(sizeof(Frame) + max_text);
    Packet packet =
        unless_closed_here([&] { return core::receive_packet(socket.get(), buffer, Deadline(timeout_ms)); });
    Message message{check(packet, kind), {}};
    if (!packet.descriptors.empty()) message.descriptor = std::move(packet.descriptors.front());
    try {
      return read(message);
    } catch (const InvalidArgument& error) {
      throw ChannelError(ChannelFault::refused, error.what());
    }
  }

  /// The body of an acceptable message.
  std::span<const std::byte> check(const Packet& packet, Kind expected) {
    Frame frame;
    if (packet.truncated) refuse("it is longer than ", sizeof(frame) + max_text, " bytes");
    if (packet.descriptors_lost) {
      refuse("file descriptors that came with it are lost: this process has as many files open as it may (ulimit -n)");
    }
    if (packet.bytes.size() < sizeof(frame)) {
      refuse("it has ", packet.bytes.size(), " bytes and is truncated: expected at least ", sizeof(frame));
    }
    std::memcpy(&frame, packet.bytes.data(), sizeof(frame));
    if (frame.magic != magic) refuse("it was not sent by a Channel");
    if (frame.sequence <= received) {
      refuse("it was sent before: it is number ", frame.sequence, ", and number ", received, " is here already");
    }
    received = frame.sequence;
    if (frame.kind != expected) refuse("it is ", title(frame.kind), ", expected ", title(expected));
    const std::size_t wanted = expected == Kind::pool ? 1 : 0;
    if (packet.descriptors.size() != wanted) {
      refuse("it came with ", packet.descriptors.size(), " file descriptors: expected ", wanted, " with ",
             title(expected));
    }
    return packet.bytes.subspan(sizeof(frame));
  }

  FileDescriptor socket;
  const int timeout_ms;
  Peer peer{};
  std::atomic<bool> closed{false};
  std::mutex sending;
  std::uint64_t sent = 0;
  std::mutex receiving;
  std::uint64_t received = 0;
  std::vector<std::byte> buffer;
};

Channel::Channel(int socket, const ChannelOptions& options) {
  FileDescriptor owned(socket);
  connection_ = std::make_shared<Connection>(std::move(owned), options);
}

std::pair<Channel, Channel> Channel::pair(const ChannelOptions& options) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    throw ChannelError(ChannelFault::failed, text("making a pair of sockets: ", std::strerror(errno)));
  }
  FileDescriptor second(ends[1]);
  Channel here(ends[0], options);
  Channel there(second.release(), options);
  return {std::move(here), std::move(there)};
}

Channel::Connection& Channel::open() const {
  if (!connection_ || connection_->closed) refuse_closed();
  return *connection_;
}

void Channel::send(const IPCAllocationHandle& handle) const {
  const auto kept = detail::Access::keep(handle);  // the number must not become another file's meanwhile
  open().send(Kind::pool, handle.to_bytes(), kept->descriptor->get());
}

void Channel::send(const IPCBufferDescriptor& descriptor) const { open().send(Kind::buffer, descriptor.to_bytes()); }

void Channel::send(const IPCEventDescriptor& descriptor) const { open().send(Kind::event, descriptor.to_bytes()); }

void Channel::send(std::string_view message) const {
  if (message.size() > max_text) {
    throw InvalidArgument(
        text("a text of ", message.size(), " bytes can't be sent: at most ", max_text, "; share a buffer for more"));
  }
  open().send(Kind::text, std::as_bytes(std::span(message)));
}

IPCAllocationHandle Channel::receive_pool() const {
  return open().receive(Kind::pool, [](Connection::Message& message) {
    return IPCAllocationHandle::from_bytes(message.body, message.descriptor.release());
  });
}

IPCBufferDescriptor Channel::receive_buffer() const {
  return open().receive(
      Kind::buffer, [](const Connection::Message& message) { return IPCBufferDescriptor::from_bytes(message.body); });
}

IPCEventDescriptor Channel::receive_event() const {
  return open().receive(
      Kind::event, [](const Connection::Message& message) { return IPCEventDescriptor::from_bytes(message.body); });
}

std::string Channel::receive_text() const {
  return open().receive(Kind::text, [](const Connection::Message& message) {
    return std::string(reinterpret_cast<const char*>(message.body.data()), message.body.size());
  });
}

Peer Channel::peer() const { return open().peer; }

int Channel::handle() const { return open().socket.get(); }

// Another thread may be about to use the file descriptor, whose number must not become another file's meanwhile. So it
// is only shut down here, which ends what waits for it, and closed with the last copy.
void Channel::close() {
  if (!connection_ || connection_->closed.exchange(true)) return;
  shutdown(connection_->socket.get(), SHUT_RDWR);
}

struct Listener::Socket {
  Socket(const std::string& path, const ChannelOptions& the_options)
      : options(the_options), descriptor(core::new_socket()), file(core::listen_at(descriptor.get(), path)) {}
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket() { core::remove_socket(file); }

  const ChannelOptions options;
  const FileDescriptor descriptor;
  const core::SocketFile file;
};

Listener::Listener(std::string path, const ChannelOptions& options)
    : socket_(std::make_unique<Socket>(path, options)) {}
Listener::Listener(Listener&&) noexcept = default;
Listener& Listener::operator=(Listener&&) noexcept = default;
Listener::~Listener() = default;

const Listener::Socket& Listener::socket() const {
  if (socket_) return *socket_;
  throw ChannelError(ChannelFault::closed, "this listener is empty: it was moved from");
}

Channel Listener::accept() const {
  const Socket& here = socket();
  const Deadline deadline(here.options.timeout_ms);
  return Channel(core::accept_from(here.descriptor.get(), deadline).release(), here.options);
}

const std::string& Listener::path() const { return socket().file.path; }

Channel connect(const std::string& path, const ChannelOptions& options) {
  FileDescriptor socket = core::new_socket();
  core::connect_to(socket.get(), path, options.timeout_ms);
  return Channel(socket.release(), options);
}

}  // namespace cuprum::inline CUPRUM_ABI::ipc
