// The side that is controlled: a thread of this process that others ask to lock, checkpoint, restore and unlock it, and
// that does it. It is the "restore thread", and goes on while the process is locked.
//
// It does one transition at a time. Questions are answered meanwhile. A lock that waits for calls and work goes on
// waiting while the thread does other things; when whoever asked for it is gone, it is given up. Everything else is
// done to its end, whether or not somebody waits for the answer.
#pragma once

#include <poll.h>

#include <chrono>
#include <list>
#include <mutex>
#include <string>
#include <vector>

#include "softgpu/runtime/checkpoint/control_socket.hpp"
#include "softgpu/runtime/checkpoint/message.hpp"
#include "softgpu/runtime/checkpoint/own_process.hpp"

namespace softgpu::runtime {

class ControlServer {
 public:
  // Starts the thread. `folder` as ControlSocket's. Throws std::system_error.
  ControlServer(OwnProcess& process, const std::string& folder);
  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;

  // A connection for this process itself, which needs no folder. Throws CUDA_ERROR_OPERATING_SYSTEM.
  memory::Descriptor connect();
  // Nobody finds the process any more: it ends.
  void withdraw() { socket_.withdraw(); }
  // In a forked child, which has no such thread.
  void forget() { socket_.forget(); }

 private:
  using Clock = std::chrono::steady_clock;

  struct Connection {
    explicit Connection(memory::Descriptor accepted) : socket(std::move(accepted)) {}
    memory::Descriptor socket;
    Clock::time_point since = Clock::now(), last_sign = since;
    std::size_t received = 0;  // of the request
    ControlRequest request;
    bool locking = false;
    bool ended = false;
    bool is_complete() const { return received == sizeof request; }
  };

  void loop();
  void look(std::chrono::microseconds rest);
  void take_new();
  void add(memory::Descriptor socket);
  void read(Connection& connection);
  void give_signs();
  void handle(Connection& connection);
  void begin_lock(Connection& connection);
  void perform(Connection& connection);
  void step();
  void try_locks();
  bool anybody_locks() const;
  std::chrono::microseconds rest() const;
  static void send(Connection& connection, const ControlReply& reply);
  static bool answer(Connection& connection, const ControlReply& reply);

  OwnProcess& process_;
  ControlSocket socket_;
  memory::Descriptor wake_;
  int thread_id_ = 0;
  Clock::time_point lock_since_{};
  std::list<Connection> connections_;  // the thread's alone
  std::vector<pollfd> waiting_;        // likewise; here, so that a forked child knows whose it was
  std::mutex mutex_;
  std::vector<memory::Descriptor> new_;  // of connect()
};

}  // namespace softgpu::runtime
