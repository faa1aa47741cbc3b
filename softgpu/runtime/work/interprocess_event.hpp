// The part of an event that processes share (CU_EVENT_INTERPROCESS).
//
// Every recording, in whichever process, draws a ticket; the event is reached when the last ticket, and with it all
// earlier ones, is marked as reached. Each process that has the event open holds a lock on a byte of the file, which
// the system drops when the process dies: what a dead process recorded counts as reached, so that nobody waits for
// ever.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "softgpu/memory/address_space.hpp"
#include "softgpu/memory/shared_file.hpp"

namespace softgpu::runtime {

// Thread-safe, and safe between processes.
class InterprocessEvent {
 public:
  using Ticket = std::uint32_t;  // wraps around

  static std::shared_ptr<InterprocessEvent> create(memory::AddressSpace& space);
  // Takes the handle's file. Throws CUDA_ERROR_OUT_OF_MEMORY when too many processes have the event open.
  static std::shared_ptr<InterprocessEvent> open(memory::AddressSpace& space, const void* handle);
  ~InterprocessEvent();
  InterprocessEvent(const InterprocessEvent&) = delete;
  InterprocessEvent& operator=(const InterprocessEvent&) = delete;

  void write_handle(void* handle) const;

  Ticket record();  // from now on the event is not reached
  void mark_reached(Ticket ticket);

  Ticket last_recorded() const;
  bool reached(Ticket ticket) const;
  void wait(Ticket ticket) const;  // blocks the calling thread

 private:
  struct State;
  InterprocessEvent(memory::AddressSpace& space, std::shared_ptr<memory::SharedFile> file);
  void claim_participant();
  bool alive(unsigned participant) const;
  bool recorder_is_gone() const;

  memory::AddressSpace& space_;  // where its page is mapped
  const std::shared_ptr<memory::SharedFile> file_;
  std::byte* const page_;
  State& state_;
  unsigned participant_ = 0;  // the byte that this process has locked
};

}  // namespace softgpu::runtime
