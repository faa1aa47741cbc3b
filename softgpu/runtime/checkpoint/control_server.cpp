#include "softgpu/runtime/checkpoint/control_server.hpp"

#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <thread>
#include <utility>

#include "softgpu/exec/host_signals.hpp"
#include "softgpu/runtime/base/error.hpp"

namespace softgpu::runtime {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr std::size_t kMostConnections = 64;
constexpr microseconds kForever{-1};

ControlReply reply_of(CUresult code, const char* reason = "", int value = 0) {
  ControlReply reply{.is_last = true, .code = code, .value = value, .reason = {}};
  std::strncpy(reply.reason.data(), reason, reply.reason.size() - 1);
  return reply;
}

// What became of it.
template <typename Body>
ControlReply attempt(Body&& body) {
  try {
    body();
    return reply_of(CUDA_SUCCESS);
  } catch (const Failure& failure) {
    return reply_of(failure.code(), failure.what());
  } catch (const std::bad_alloc& error) {
    return reply_of(CUDA_ERROR_OUT_OF_MEMORY, error.what());
  } catch (const std::exception& error) {
    return reply_of(CUDA_ERROR_UNKNOWN, error.what());
  }
}

}  // namespace

ControlServer::ControlServer(OwnProcess& process, const std::string& folder)
    : process_(process), socket_(folder), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  exec::start_thread([this] { loop(); });
}

memory::Descriptor ControlServer::connect() {
  int ends[2] = {-1, -1};
  require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0, CUDA_ERROR_OPERATING_SYSTEM,
          "the process has too many open files");
  memory::Descriptor ours(ends[0]), theirs(ends[1]);
  {
    const std::scoped_lock lock(mutex_);
    new_.push_back(std::move(theirs));
  }
  const std::uint64_t one = 1;
  require(write(wake_.number(), &one, sizeof one) == sizeof one, CUDA_ERROR_OPERATING_SYSTEM,
          "the thread that controls the process can't be woken");
  return ours;
}

void ControlServer::loop() {
  thread_id_ = gettid();
  for (;;) try {
      step();
    } catch (const std::bad_alloc&) {
      std::this_thread::sleep_for(kSignEvery);  // the host may have memory again by then
    }
}

void ControlServer::step() {
  look(rest());
  for (Connection& connection : connections_) {
    if (!connection.is_complete() || connection.locking) continue;
    read(connection);  // whoever did not wait for its turn does not want it any more
    if (!connection.ended) handle(connection);
  }
  if (anybody_locks()) try_locks();
  std::erase_if(connections_, [](const Connection& connection) { return connection.ended; });
}

// How long the thread may sleep. A lock is looked at often in the beginning.
microseconds ControlServer::rest() const {
  constexpr microseconds kShort{50}, kLong{2000};
  if (!anybody_locks()) return connections_.empty() ? kForever : microseconds(kSignEvery);
  const auto waited = std::chrono::duration_cast<microseconds>(Clock::now() - lock_since_);
  return std::clamp(waited / 8, kShort, kLong);
}

// Sleeps until there is something to read, and reads it.
void ControlServer::look(microseconds rest) {
  waiting_ = {{wake_.number(), POLLIN, 0}, {socket_.descriptor().number(), POLLIN, 0}};
  for (const Connection& connection : connections_) waiting_.push_back({connection.socket.number(), POLLIN, 0});
  timespec limit{.tv_sec = rest.count() / 1'000'000, .tv_nsec = rest.count() % 1'000'000 * 1000};
  if (ppoll(waiting_.data(), waiting_.size(), rest < microseconds(0) ? nullptr : &limit, nullptr) < 0) return;
  auto at = waiting_.begin() + 2;
  for (Connection& connection : connections_)
    if ((at++)->revents != 0) read(connection);
  if (waiting_[0].revents != 0) take_new();
  if (waiting_[1].revents != 0) add(socket_.accept());
  give_signs();
  // Whoever connects and says nothing is in the way of others.
  for (Connection& connection : connections_)
    if (!connection.is_complete() && Clock::now() - connection.since > kPatience) connection.ended = true;
}

void ControlServer::take_new() {
  std::uint64_t count = 0;
  std::vector<memory::Descriptor> taken;
  const std::scoped_lock lock(mutex_);
  if (::read(wake_.number(), &count, sizeof count) == sizeof count) taken.swap(new_);
  for (memory::Descriptor& socket : taken) add(std::move(socket));
}

void ControlServer::add(memory::Descriptor socket) {
  if (socket && connections_.size() < kMostConnections) connections_.emplace_back(std::move(socket));
}

void ControlServer::read(Connection& connection) {
  char rest = 0;  // behind the request there is nothing but the end
  char* const to = reinterpret_cast<char*>(&connection.request) + connection.received;
  const std::size_t room = sizeof connection.request - connection.received;
  const ssize_t received =
      recv(connection.socket.number(), room != 0 ? to : &rest, room != 0 ? room : sizeof rest, MSG_DONTWAIT);
  if (received < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (received <= 0 || room == 0)
    connection.ended = true;
  else
    connection.received += static_cast<std::size_t>(received);
  if (!connection.ended && connection.is_complete() && is_question(connection.request.operation)) handle(connection);
}

void ControlServer::give_signs() {
  const Clock::time_point now = Clock::now();
  for (Connection& connection : connections_) {
    if (!connection.is_complete() || connection.ended || now - connection.last_sign < kSignEvery) continue;
    connection.last_sign = now;
    send(connection, {.is_last = false});
  }
}

void ControlServer::send(Connection& connection, const ControlReply& reply) {
  const ssize_t sent = ::send(connection.socket.number(), &reply, sizeof reply, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent != static_cast<ssize_t>(sizeof reply)) connection.ended = true;
}

// False: there is nobody to hear it.
bool ControlServer::answer(Connection& connection, const ControlReply& reply) {
  send(connection, reply);
  return !std::exchange(connection.ended, true);
}

void ControlServer::handle(Connection& connection) {
  const ControlRequest& request = connection.request;
  if (request.magic != ControlRequest::kMagic || request.operation > ControlOperation::unlock ||
      request.pair_count > ControlRequest::kMostPairs)
    answer(connection, reply_of(CUDA_ERROR_INVALID_VALUE, "not a request that this softgpu knows"));
  else if (request.operation == ControlOperation::state)
    answer(connection, reply_of(CUDA_SUCCESS, "", process_.state()));
  else if (request.operation == ControlOperation::restore_thread)
    answer(connection, reply_of(CUDA_SUCCESS, "", thread_id_));
  else if (request.operation == ControlOperation::lock)
    begin_lock(connection);
  else
    perform(connection);
}

void ControlServer::begin_lock(Connection& connection) {
  const Clock::time_point now = Clock::now();
  if (!anybody_locks()) lock_since_ = now;
  if (const ControlReply begun = attempt([&] { process_.begin_lock(); }); begun.code != CUDA_SUCCESS) {
    answer(connection, begun);
    return;
  }
  connection.locking = true;
  connection.since = now;
}

void ControlServer::perform(Connection& connection) {
  Clock::time_point looked = Clock::now();
  const auto progress = [this, &looked] {
    if (Clock::now() - looked < kSignEvery / 2) return;
    look(microseconds(0));
    looked = Clock::now();
  };
  const ControlRequest& request = connection.request;
  const ControlReply reply = attempt([&] {
    switch (request.operation) {
      case ControlOperation::checkpoint: return process_.checkpoint(progress);
      case ControlOperation::restore: return process_.restore({request.pairs.data(), request.pair_count}, progress);
      default: return process_.unlock();
    }
  });
  answer(connection, reply);
  if (request.operation == ControlOperation::unlock && reply.code == CUDA_SUCCESS) process_.resume();
}

bool ControlServer::anybody_locks() const {
  return std::any_of(connections_.begin(), connections_.end(), [](const Connection& one) { return one.locking; });
}

// The first who asked gets the lock, and the others come too late.
void ControlServer::try_locks() {
  const bool locked = process_.try_lock();
  bool given = false;
  for (Connection& connection : connections_) {
    if (!connection.locking) continue;
    const milliseconds timeout(connection.request.timeout_ms);
    if (connection.ended) {
      connection.locking = false;
    } else if (locked && !given) {
      given = answer(connection, reply_of(CUDA_SUCCESS));
      connection.locking = false;
    } else if (locked) {
      answer(connection, reply_of(CUDA_ERROR_ILLEGAL_STATE, "another process has locked it meanwhile"));
      connection.locking = false;
    } else if (timeout.count() != 0 && Clock::now() - connection.since >= timeout) {
      answer(connection, reply_of(CUDA_ERROR_NOT_READY, "calls or work of the process did not end in time"));
      connection.locking = false;
    }
  }
  if (locked ? !given : !anybody_locks()) process_.abandon_lock();
}

}  // namespace softgpu::runtime
