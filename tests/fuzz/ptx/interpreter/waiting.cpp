#include "fuzz/ptx/interpreter/waiting.hpp"

#include <algorithm>
#include <bit>

#include "fuzz/ptx/interpreter/compute.hpp"

namespace ptx_fuzz {
namespace {

// Threads of a warp that meet at one operation, by lane; null where there is none.
struct Meeting {
  Thread* lanes[32] = {};
  std::uint32_t present = 0;
};

// The operands of a warp's operation end with the mask of its members.
std::uint32_t mask_of(const Thread& thread) { return static_cast<std::uint32_t>(thread.operands.back()); }

bool is_same_operation(const Thread& a, const Thread& b) {
  return a.at->op == b.at->op && a.at->variant == b.at->variant && a.at->type == b.at->type && mask_of(a) == mask_of(b);
}

bool waits_in_warp(const Thread& thread) {
  if (thread.state != Thread::State::waiting) return false;
  switch (thread.at->op) {
    case Op::warp_sync:
    case Op::shuffle:
    case Op::vote:
    case Op::match:
    case Op::redux: return true;
    default: return false;
  }
}

void shuffle(const Meeting& meeting) {
  std::uint64_t values[32] = {};
  bool inside[32] = {};
  for (unsigned lane = 0; lane < 32; ++lane) {
    const Thread* thread = meeting.lanes[lane];
    if (thread == nullptr) continue;
    const auto b = static_cast<unsigned>(thread->operands[1] & 31);
    const auto clamp = static_cast<unsigned>(thread->operands[2] & 31);
    const auto segment = static_cast<unsigned>(thread->operands[2] >> 8 & 31);
    const int highest = static_cast<int>((lane & segment) | (clamp & ~segment));
    const int lowest = static_cast<int>(lane & segment);
    int source = 0;
    switch (thread->at->variant) {
      case Variant::up:
        source = static_cast<int>(lane) - static_cast<int>(b);
        inside[lane] = source >= highest;
        break;
      case Variant::down:
        source = static_cast<int>(lane + b);
        inside[lane] = source <= highest;
        break;
      case Variant::bfly:
        source = static_cast<int>(lane ^ b);
        inside[lane] = source <= highest;
        break;
      default:
        source = lowest | static_cast<int>(b & ~segment);
        inside[lane] = source <= highest;
        break;
    }
    if (!inside[lane]) source = static_cast<int>(lane);
    if (meeting.lanes[source] == nullptr) throw Undefined("shuffles from a lane that does not take part");
    values[lane] = meeting.lanes[source]->operands[0];
  }
  for (unsigned lane = 0; lane < 32; ++lane)
    if (meeting.lanes[lane] != nullptr) meeting.lanes[lane]->resume(values[lane], inside[lane]);
}

void vote(const Meeting& meeting, Variant variant) {
  std::uint32_t votes = 0;
  for (unsigned lane = 0; lane < 32; ++lane)
    if (meeting.lanes[lane] != nullptr && meeting.lanes[lane]->operands[0] != 0) votes |= 1u << lane;
  std::uint64_t result = votes;
  if (variant == Variant::all) result = votes == meeting.present;
  if (variant == Variant::any) result = votes != 0;
  if (variant == Variant::uni) result = votes == 0 || votes == meeting.present;
  for (Thread* thread : meeting.lanes)
    if (thread != nullptr) thread->resume(result);
}

void match(const Meeting& meeting, Variant variant) {
  std::uint32_t equal[32] = {};
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned other = 0; other < 32; ++other)
      if (meeting.lanes[lane] != nullptr && meeting.lanes[other] != nullptr &&
          meeting.lanes[lane]->operands[0] == meeting.lanes[other]->operands[0])
        equal[lane] |= 1u << other;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (meeting.lanes[lane] == nullptr) continue;
    const bool all = equal[lane] == meeting.present;
    if (variant == Variant::any)
      meeting.lanes[lane]->resume(equal[lane]);
    else
      meeting.lanes[lane]->resume(all ? meeting.present : 0, all);
  }
}

void reduce(const Meeting& meeting, const Instruction& at) {
  std::uint64_t result = 0;
  bool first = true;
  for (const Thread* thread : meeting.lanes) {
    if (thread == nullptr) continue;
    result = first ? thread->operands[0] : compute_atomic(at.variant, at.type, result, thread->operands[0], 0);
    result = truncate(result, 32);
    first = false;
  }
  for (Thread* thread : meeting.lanes)
    if (thread != nullptr) thread->resume(result);
}

void complete(const Meeting& meeting, const Instruction& at) {
  switch (at.op) {
    case Op::shuffle: return shuffle(meeting);
    case Op::vote: return vote(meeting, at.variant);
    case Op::match: return match(meeting, at.variant);
    case Op::redux: return reduce(meeting, at);
    default:
      for (Thread* thread : meeting.lanes)
        if (thread != nullptr) thread->resume(0);
  }
}

}  // namespace

void settle_warp(std::vector<Thread>& block, unsigned warp) {
  const std::size_t begin = warp * 32, end = std::min(block.size(), begin + 32);
  for (std::size_t first = begin; first < end; ++first) {
    if (!waits_in_warp(block[first])) continue;
    const std::uint32_t mask = mask_of(block[first]);
    Meeting meeting;
    bool all_there = true;
    for (std::size_t i = begin; i < end; ++i) {
      Thread& thread = block[i];
      if ((mask >> thread.lane() & 1) == 0 || thread.state == Thread::State::ended) continue;
      if (!waits_in_warp(thread) || !is_same_operation(thread, block[first])) {
        all_there = false;
        break;
      }
      meeting.lanes[thread.lane()] = &thread;
      meeting.present |= 1u << thread.lane();
    }
    if (all_there) complete(meeting, *block[first].at);
  }
}

void Barriers::arrive(std::vector<Thread>& block, Thread& thread) {
  if (thread.operands[0] > 15) throw Undefined("there is no such barrier");
  Barrier& barrier = barriers_[thread.operands[0]];
  const Instruction& at = *thread.at;
  if (!barrier.arrivals.empty()) {
    const bool reduces = at.op == Op::barrier_reduce;
    const Instruction& other = *barrier.arrivals.front().at;
    if (barrier.count != thread.operands[1]) throw Undefined("threads give one barrier different counts");
    if (reduces != (other.op == Op::barrier_reduce) || (reduces && other.variant != at.variant))
      throw Undefined("threads do different things at one barrier");
  }
  barrier.count = thread.operands[1];
  barrier.arrivals.push_back({&thread, &at, thread.operands[2] != 0});
  if (at.op == Op::barrier_arrive) thread.resume(0);
  complete_if_full(block, barrier);
}

void Barriers::settle(std::vector<Thread>& block) {
  for (Barrier& barrier : barriers_)
    if (!barrier.arrivals.empty()) complete_if_full(block, barrier);
}

void Barriers::complete_if_full(std::vector<Thread>& block, Barrier& barrier) {
  std::uint64_t expected = barrier.count;
  if (expected == 0)
    expected = static_cast<std::uint64_t>(std::count_if(
        block.begin(), block.end(), [](const Thread& thread) { return thread.state != Thread::State::ended; }));
  if (barrier.arrivals.size() < expected) return;
  const std::vector<Arrival> arrivals = std::move(barrier.arrivals);
  barrier.arrivals.clear();

  // Whole warps arrive at aligned barriers, at one and the same instruction.
  for (const Arrival& arrival : arrivals) {
    if (!arrival.at->aligned) continue;
    unsigned together = 0, living = 0;
    for (const Arrival& other : arrivals)
      together += other.thread->warp() == arrival.thread->warp() && other.at == arrival.at;
    for (const Thread& thread : block)
      living += thread.warp() == arrival.thread->warp() && thread.state != Thread::State::ended;
    if (together < living) throw Undefined("a warp enters an aligned barrier in pieces");
  }
  std::uint64_t votes = 0;
  for (const Arrival& arrival : arrivals) votes += arrival.predicate;
  for (const Arrival& arrival : arrivals) {
    if (arrival.at->op == Op::barrier_arrive) continue;
    std::uint64_t result = votes;
    if (arrival.at->variant == Variant::bit_and) result = votes == arrivals.size();
    if (arrival.at->variant == Variant::bit_or) result = votes != 0;
    arrival.thread->resume(result);
  }
}

}  // namespace ptx_fuzz
