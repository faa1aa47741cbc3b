#include "softgpu/runtime/work/interprocess_event.hpp"

#include <fcntl.h>

#include <climits>
#include <new>

#include "softgpu/exec/futex.hpp"
#include "softgpu/runtime/base/error.hpp"
#include "softgpu/runtime/base/ipc_handle.hpp"

namespace softgpu::runtime {

// In the file, zero at first.
struct InterprocessEvent::State {
  std::atomic<std::uint64_t> last;     // who recorded last, and the ticket
  std::atomic<std::uint32_t> reached;  // the last ticket that is; a futex
};

namespace {

using memory::SharedFile;
using Ticket = InterprocessEvent::Ticket;

constexpr auto kEventPurpose = SharedFile::Purpose::event;
constexpr unsigned kParticipants = 4096;
constexpr std::chrono::milliseconds kLookForDeathEvery{50};

struct Nothing {};

std::uint64_t packed(unsigned participant, Ticket ticket) { return std::uint64_t{participant} << 32 | ticket; }
unsigned participant_of(std::uint64_t last) { return static_cast<unsigned>(last >> 32); }
Ticket ticket_of(std::uint64_t last) { return static_cast<Ticket>(last); }

bool at_least(Ticket ticket, Ticket other) { return static_cast<std::int32_t>(ticket - other) >= 0; }

struct flock byte_lock(unsigned byte) {
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = 1;
  return lock;
}

std::byte* map_page(memory::AddressSpace& space, const SharedFile& file) {
  std::byte* page = space.claim(memory::kPageBytes);
  try {
    file.map_at(page, 0, memory::kPageBytes, memory::Access::read_write);
    return page;
  } catch (...) {
    space.unclaim(page, memory::kPageBytes);
    throw;
  }
}

}  // namespace

InterprocessEvent::InterprocessEvent(memory::AddressSpace& space, std::shared_ptr<SharedFile> file)
    : space_(space),
      file_(std::move(file)),
      page_(map_page(space, *file_)),
      state_(*std::launder(reinterpret_cast<State*>(page_))) {
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free && sizeof(State) <= memory::kPageBytes);
}

InterprocessEvent::~InterprocessEvent() { space_.unclaim(page_, memory::kPageBytes); }

std::shared_ptr<InterprocessEvent> InterprocessEvent::create(memory::AddressSpace& space) {
  std::shared_ptr<InterprocessEvent> event(
      new InterprocessEvent(space, SharedFile::create(kEventPurpose, memory::kPageBytes, Nothing{})));
  event->claim_participant();
  return event;
}

std::shared_ptr<InterprocessEvent> InterprocessEvent::open(memory::AddressSpace& space, const void* handle) {
  auto file = open_ipc_handle(kEventPurpose, handle);
  require(file->bytes() == memory::kPageBytes, CUDA_ERROR_INVALID_VALUE, "not the file of an event");
  std::shared_ptr<InterprocessEvent> event(new InterprocessEvent(space, std::move(file)));
  event->claim_participant();
  return event;
}

void InterprocessEvent::write_handle(void* handle) const { write_ipc_handle(*file_, kEventPurpose, handle); }

void InterprocessEvent::claim_participant() {
  for (participant_ = 0; participant_ < kParticipants; ++participant_) {
    struct flock lock = byte_lock(participant_);
    if (fcntl(file_->descriptor().number(), F_OFD_SETLK, &lock) != 0) continue;
    // A process that died may have had this number; it must not seem alive again.
    if (const std::uint64_t last = state_.last.load(); participant_of(last) == participant_)
      mark_reached(ticket_of(last));
    return;
  }
  throw Failure(CUDA_ERROR_OUT_OF_MEMORY, "too many processes have the event open");
}

bool InterprocessEvent::alive(unsigned participant) const {
  if (participant == participant_) return true;
  struct flock lock = byte_lock(participant);
  return fcntl(file_->descriptor().number(), F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

Ticket InterprocessEvent::record() {
  std::uint64_t last = state_.last.load();
  while (!state_.last.compare_exchange_weak(last, packed(participant_, ticket_of(last) + 1))) {
  }
  return ticket_of(last) + 1;
}

void InterprocessEvent::mark_reached(Ticket ticket) {
  Ticket reached = state_.reached.load();
  while (!at_least(reached, ticket) && !state_.reached.compare_exchange_weak(reached, ticket)) {
  }
  exec::futex_wake(state_.reached, INT_MAX, exec::FutexScope::machine);
}

Ticket InterprocessEvent::last_recorded() const { return ticket_of(state_.last.load()); }

// A later recording that is reached ends the wait for an earlier one, so the last recorder is the one that counts.
bool InterprocessEvent::recorder_is_gone() const { return !alive(participant_of(state_.last.load())); }

bool InterprocessEvent::reached(Ticket ticket) const {
  return at_least(state_.reached.load(), ticket) || recorder_is_gone();
}

void InterprocessEvent::wait(Ticket ticket) const {
  for (;;) {
    const Ticket now = state_.reached.load();
    if (at_least(now, ticket) || recorder_is_gone()) return;
    exec::futex_wait(state_.reached, now, kLookForDeathEvery, exec::FutexScope::machine);
  }
}

}  // namespace softgpu::runtime
