// A channel to another process of the same user, over which memory pools, buffers, events and words are sent.
//
//   ipc::Listener listener("/run/user/1000/worker");            // one process
//   ipc::Channel channel = listener.accept();
//   channel.send(pool.allocation_handle());
//
//   ipc::Channel channel = ipc::connect("/run/user/1000/worker");      // the other one
//   auto pool = DeviceMemoryResource::from_allocation_handle(device, channel.receive<IPCAllocationHandle>());
//
// A child process can inherit its end instead: make a pair(), start the child with a duplicate of one handle(), and let
// it construct a Channel from the number.
#pragma once

#include <cuprum/detail/export.hpp>
#include <cuprum/error.hpp>
#include <cuprum/ipc.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

/// Talking to another process of the machine.
namespace cuprum::inline CUPRUM_ABI::ipc {

/// What a ChannelError is about.
enum class ChannelFault {
  closed,     ///< by the other process, or because that has ended; or by close() here
  timed_out,  ///< the other process did not answer, or does not read what it is sent
  refused,    ///< what came, or who it came from, is not acceptable; the text says why
  failed,     ///< the operating system could not do it
};

/// Something is wrong with a channel or with what came over it.
class CUPRUM_API ChannelError : public Error, public std::runtime_error {
 public:
  /// `message` is what() in full.
  ChannelError(ChannelFault fault, const std::string& message)
      : Error(message), std::runtime_error(""), fault_(fault) {}
  ChannelError(const ChannelError&) = default;
  ChannelError& operator=(const ChannelError&) = default;
  ~ChannelError() override;

  const char* what() const noexcept override;

  /// What a program can decide by; the text is for people.
  ChannelFault fault() const noexcept { return fault_; }

 private:
  ChannelFault fault_;
};

/// How long to wait for the other process.
struct ChannelOptions {
  int timeout_ms = 30'000;  ///< for each send, receive, accept and connect; negative: no limit
};

/// Who is at the other end, as the operating system knows it.
struct Peer {
  int process;    ///< its number; of the process that made the socket
  unsigned user;  ///< its effective user
};

/// A cheap handle: copies share one connection, which is closed when the last copy goes or at close(). Threads may
/// share it: messages are sent and received one at a time.
///
/// The other process is not trusted. A message is taken only when it is whole, of the expected kind, carries exactly
/// the file descriptors that belong to it, and was not sent before; a message that is refused is gone, what came with
/// it is closed, and the next one can be received. What a message describes is checked when it is imported.
class CUPRUM_API Channel {
 public:
  /// The longest text that can be sent, in bytes.
  static constexpr std::size_t max_text = 65536;

  /// Takes over a connected Unix socket of type SOCK_SEQPACKET (also when this throws). Throws InvalidArgument for
  /// another kind of file descriptor, ChannelError (refused) when the other end belongs to another user.
  explicit Channel(int socket, const ChannelOptions& options = {});

  /// Two ends that are connected to each other.
  static std::pair<Channel, Channel> pair(const ChannelOptions& options = {});

  /// Sends a duplicate of the file descriptor too, so the handle may be closed right after. Waits while the other
  /// process does not read. All of these throw ChannelError.
  void send(const IPCAllocationHandle& handle) const;
  /// The buffer must stay open as long as the other process uses it.
  void send(const IPCBufferDescriptor& descriptor) const;
  /// The event must stay open as long as the other process uses it.
  void send(const IPCEventDescriptor& descriptor) const;

  /// A text, or any bytes, for what the processes have to tell each other: "done", say. Up to max_text bytes.
  void send(std::string_view text) const;

  /// The next message, which must be of this type: IPCAllocationHandle, IPCBufferDescriptor, IPCEventDescriptor or
  /// std::string. Waits for it. Throws ChannelError.
  template <typename Message>
  Message receive() const {
    if constexpr (std::is_same_v<Message, IPCAllocationHandle>) {
      return receive_pool();
    } else if constexpr (std::is_same_v<Message, IPCBufferDescriptor>) {
      return receive_buffer();
    } else if constexpr (std::is_same_v<Message, IPCEventDescriptor>) {
      return receive_event();
    } else {
      static_assert(std::is_same_v<Message, std::string>, "no message is of this type");
      return receive_text();
    }
  }

  /// The process at the other end, as it was when the channel was made. Throws ChannelError (closed) after close().
  Peer peer() const;
  /// The socket; it stays this object's. It is not inherited by programs that this process starts.
  int handle() const;

  /// Closes this end for all copies; later use throws ChannelError (closed). Closing twice does nothing.
  void close();

 private:
  struct Connection;
  Connection& open() const;
  IPCAllocationHandle receive_pool() const;
  IPCBufferDescriptor receive_buffer() const;
  IPCEventDescriptor receive_event() const;
  std::string receive_text() const;

  std::shared_ptr<Connection> connection_;
};

/// A place in the file system where processes of the same user can connect. The socket is made with mode 0600. It goes
/// with the object, which can be moved only. One thread at a time.
class CUPRUM_API Listener {
 public:
  /// Throws InvalidArgument when the path is too long for a socket (107 bytes), ChannelError (failed) when there is
  /// something already, even a socket that a dead process left behind.
  explicit Listener(std::string path, const ChannelOptions& options = {});
  /// The socket goes along.
  Listener(Listener&&) noexcept;
  /// The same; the socket that was here is removed.
  Listener& operator=(Listener&&) noexcept;
  ~Listener();

  /// The next connection. Throws ChannelError: timed_out, refused when a process of another user connected, or closed
  /// when this was moved from, as path() does then.
  Channel accept() const;

  /// Where the socket is, as it was given.
  const std::string& path() const;

 private:
  struct Socket;
  const Socket& socket() const;
  std::unique_ptr<Socket> socket_;
};

/// Connects to the Listener of a process of the same user. Throws ChannelError: failed when nobody listens there,
/// timed_out when nobody accepts, refused when the listening process belongs to another user.
CUPRUM_API Channel connect(const std::string& path, const ChannelOptions& options = {});

}  // namespace cuprum::inline CUPRUM_ABI::ipc
