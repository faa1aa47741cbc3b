// Unix sockets that keep messages apart (SOCK_SEQPACKET), with deadlines and with file descriptors in the messages.
// Failures are ChannelErrors.
#pragma once

#include <chrono>
#include <cuprum/ipc_channel.hpp>
#include <span>
#include <string>
#include <vector>

#include "support/file_descriptor.hpp"

namespace cuprum::core {

class Deadline {
 public:
  explicit Deadline(int timeout_ms) : timeout_ms_(timeout_ms), begin_(std::chrono::steady_clock::now()) {}

  /// Waits until `poll` reports one of `events` or the other end hung up. Throws `timed_out`, saying what was waited
  /// for.
  void wait(int socket, short events, const char* what) const;

 private:
  int remaining_ms() const;
  int timeout_ms_;
  std::chrono::steady_clock::time_point begin_;
};

struct Packet {
  std::span<const std::byte> bytes;                  ///< in the buffer of whoever received it
  std::vector<support::FileDescriptor> descriptors;  ///< at most 253, which is as many as Linux sends at once
  bool truncated = false;                            ///< it was longer than the buffer
  bool descriptors_lost = false;                     ///< more came than this process may have open
};

/// Sends the parts as one message, with a file descriptor unless that is -1.
void send_packet(int socket, std::span<const std::byte> head, std::span<const std::byte> body, int descriptor,
                 const Deadline& deadline);

/// All file descriptors that came are owned by the result, wanted or not.
Packet receive_packet(int socket, std::span<std::byte> buffer, const Deadline& deadline);

support::FileDescriptor new_socket();

/// Binds to a path that only this user can connect to, and listens. The identity of the file is stored, so that
/// remove_socket() removes no other.
struct SocketFile {
  std::string path;
  unsigned long long device = 0;
  unsigned long long inode = 0;
};
SocketFile listen_at(int socket, const std::string& path);
void remove_socket(const SocketFile& file) noexcept;

support::FileDescriptor accept_from(int socket, const Deadline& deadline);
void connect_to(int socket, const std::string& path, int timeout_ms);

/// Throws InvalidArgument unless it is a connected Unix socket of the right type.
void check_socket(int socket);

ipc::Peer peer_of(int socket);

/// Throws `refused` when the other end belongs to another user.
void check_same_user(const ipc::Peer& peer);

}  // namespace cuprum::core
